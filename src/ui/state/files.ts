/** @file Runs and numbers out to files, and runs back in. */
import { DreamError } from '../../data/errors';
import { metricsCsv, writeRunRecord } from '../../data/exporters/run-record';
import { readRunRecord } from '../../data/importers/run-record';
import { checkConfig } from '../../dream/presets';
import type { RunRecord } from '../../worker/protocol';
import { follow } from '../rollouts/selection';
import { showError, showNotice } from './messages';
import { machine } from './preflight';
import * as trainer from './trainer';
import { type RunView, shown, view, viewOfRecord } from './view';

/** Hands the browser a file to keep. */
export function save(name: string, bytes: BlobPart, type: string): void {
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
  const record = recordOf(run);
  if (!record) return;
  const bytes = run.kind === 'live' ? await trainer.exportRun() : writeRunRecord(record);
  save(fileName(run, 'zip'), bytes as Uint8Array<ArrayBuffer>, 'application/zip');
}

export function saveMetrics(): void {
  const record = recordOf(view.value);
  if (record) save(fileName(view.value, 'csv'), metricsCsv(record), 'text/csv');
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
    if (machine.value.state === 'blocked')
      view.value = viewOfRecord((await readRunRecord(bytes, checkConfig)).record, 'imported');
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
