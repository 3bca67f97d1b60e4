/** @file Runs and numbers out to files, and runs back in. */
import { DreamError } from '../../data/errors';
import type { IterationMetrics, RunRecord } from '../../worker/protocol';
import { follow } from '../rollouts/selection';
import { showError, showNotice } from './messages';
import { machine } from './preflight';
import { readRunRecord } from './run-record';
import * as trainer from './trainer';
import { type RunView, shown, view, viewOfRecord, visibleMetrics } from './view';

function download(name: string, bytes: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken the file when the click's task is over.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function fileName(run: RunView, extension: string): string {
  const seed = run.config ? `-seed${run.config.seed}` : '';
  return `dreamgym-${run.config?.preset ?? 'run'}${seed}.${extension}`;
}

function recordOf(run: RunView): RunRecord | null {
  if (!run.config) return null;
  return {
    format: 'dreamgym-run',
    version: 1,
    runId: run.runId ?? '',
    created: run.created ?? '',
    adapter: run.adapter ?? '',
    config: run.config,
    metrics: run.metrics,
    evaluations: run.evaluations,
    rollouts: [...run.rollouts].map(([iteration, trajectories]) => ({ iteration, trajectories: [...trajectories] })),
    tasks: run.tasks,
    weightsHash: null,
  };
}

/** A live run comes whole from the worker; a recorded or imported one is written as it was read. */
export async function saveRun(): Promise<void> {
  const run = view.value;
  if (run.kind === 'live') {
    const bytes = await trainer.exportRun();
    const gzipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
    download(fileName(run, gzipped ? 'json.gz' : 'json'), bytes as Uint8Array<ArrayBuffer>, 'application/octet-stream');
    return;
  }
  const record = recordOf(run);
  if (record) download(fileName(run, 'json'), JSON.stringify(record), 'application/json');
}

/** Header and rows; `iteration` first. Only numbers of ours stand in it, so no cell can be a formula. */
export function metricsCsv(metrics: readonly IterationMetrics[]): string {
  const first = metrics[0];
  if (!first) return '';
  const names = (Object.keys(first) as (keyof IterationMetrics)[]).filter((name) => name !== 'evaluation');
  const evaluation = ['realSuccess', 'realSuccessLow', 'realSuccessHigh', 'realSuccessTasks'];
  const rows = metrics.map((m) => {
    const real = m.evaluation?.atRolloutTemperature;
    const own = names.map((name) => m[name] ?? '');
    return [...own, real?.rate ?? '', real?.low ?? '', real?.high ?? '', real?.episodes ?? ''].join(',');
  });
  return `${[[...names, ...evaluation].join(','), ...rows].join('\n')}\n`;
}

export function saveMetrics(): void {
  download(fileName(view.value, 'csv'), metricsCsv(visibleMetrics.value), 'text/csv');
}

const maxFileBytes = 512 * 1024 * 1024;

/** Reads a run file, whoever made it. Where the worker cannot run, the page reads the plain record itself. */
export async function openRun(file: File): Promise<void> {
  try {
    if (file.size > maxFileBytes)
      throw new DreamError(
        'corrupt-run',
        'This file is larger than any run.',
        'Choose a file that was saved with “Export run”.',
      );
    if (trainer.active.value)
      throw new DreamError('run-active', 'A run is going on.', 'Stop it first, then open the file; the run is kept.');
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (machine.value.state === 'blocked') view.value = viewOfRecord(await readRunRecord(bytes), 'imported');
    else await trainer.importRun(bytes);
    shown.value = Number.POSITIVE_INFINITY;
    follow();
    showNotice('info', `Opened ${file.name}.`);
  } catch (error) {
    // The trainer's own failures are on the page already.
    if (error instanceof DreamError) showError(error);
  }
}

/** Files dropped anywhere on the page. */
export function acceptDrops(): void {
  document.addEventListener('dragover', (event) => event.preventDefault());
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) void openRun(file);
  });
}
