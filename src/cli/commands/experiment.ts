/** @file `dream experiment FILE.json`: methods x seeds on one warm start, resumable, as one table. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DreamError } from '../../data/errors';
import type { RunControl } from '../../dream/control';
import {
  type ExperimentDefinition,
  type PlannedRun,
  parseExperiment,
  plannedRuns,
  quickened,
} from '../../dream/experiment/definition';
import { resultsMarkdown } from '../../dream/experiment/markdown';
import { band, type Row, resultsCsv, tabulate } from '../../dream/experiment/results';
import { type ExperimentParts, runOne } from '../../dream/experiment/run';
import { type Transfer, transferOf } from '../../dream/experiment/transfer';
import { openGpu } from '../../gpu/device';
import { assertDevicePasses, runSelfTest } from '../../gpu/self-test';
import { openExperimentParts } from '../../worker/experiments/engine';
import type { CommandIo } from '../command';
import { ExperimentFolder } from '../experiment-folder';
import { readFromDisk } from '../model-files';
import { nodeGpu } from '../node-gpu';
import { describeOptions, type OptionSpecs, parseOptions, UsageError } from '../options';
import { duration } from '../progress';

const options = {
  quick: { type: 'boolean', help: "the file's quick version: fewer seeds, a share of the updates" },
  rows: { type: 'string', value: 'A,B', help: 'only rows whose names contain one of these' },
  seeds: { type: 'string', value: '1,2', help: 'only these seeds' },
  run: { type: 'string', value: 'DIR', help: 'where runs are kept (default .cache/experiments/NAME)' },
  fresh: { type: 'boolean', help: 'run rows anew whose definition has changed' },
  minutes: { type: 'number', help: 'begin no further run after so many minutes', min: 0 },
  list: { type: 'boolean', help: 'show what is done and what is left; run nothing' },
  out: { type: 'string', value: 'FILE', help: 'write the result as JSON (and beside it as .csv and .md)' },
} as const satisfies OptionSpecs;

export const help = `Usage: dream experiment FILE.json [options]

Runs every row of the file with every seed and tabulates real success on the same held-out tasks for all.
Ctrl-C stops at a safe point; the same command goes on from there. Several processes may share a grid.

${describeOptions(options)}
  --json             {"name","rows":[{"name","seeds":[{"seed","realSuccess",...}],"mean","low","high","difference"}],
                     "finished","left","seconds"}; where rows train on some families of tasks also "transfer":
                     [{"name","trainedOn","families","seen","unseen","difference"}]`;

export async function run(args: string[], io: CommandIo): Promise<number> {
  const [file, ...rest] = args;
  if (file === undefined || file.startsWith('--'))
    throw new UsageError('bad-option', 'No experiment was named.', 'Type: dream experiment FILE.json');
  const values = parseOptions(rest, options);
  const given = parseExperiment(await readDefinition(io.resolve(file), file), file);
  const experiment = values.quick ? quickened(given) : given;
  const runs = chosen(plannedRuns(experiment), values);
  const folder = new ExperimentFolder(
    values.run === undefined ? join(io.root, '.cache', 'experiments', experiment.name) : io.resolve(values.run),
  );
  const start = performance.now();
  if (!values.list) await runAll(io, experiment, runs, folder, values, start);

  const results = await folder.results(runs);
  const rows = tabulate(experiment.rows, results, experiment.baseline);
  for (const line of table(rows)) io.print(line);
  const transfer = transferOf(experiment, results);
  for (const line of transferTable(transfer)) io.print(line);
  const left = runs.length - results.length;
  if (left > 0) io.print(`${left} of ${runs.length} runs are left; the same command goes on.`);
  const result = {
    name: experiment.name,
    evaluation: experiment.evaluation,
    baseline: experiment.baseline ?? null,
    rows: rows.map((row) => ({ ...row, curve: band(row.seeds) })),
    ...(transfer.length > 0 ? { transfer } : {}),
    finished: results.length,
    left,
    seconds: (performance.now() - start) / 1000,
  };
  if (values.out !== undefined) {
    const path = io.resolve(values.out);
    await mkdir(dirname(path), { recursive: true });
    const command = `dream experiment ${file}${values.quick ? ' --quick' : ''}`;
    await writeFile(path, `${JSON.stringify({ command, ...result }, null, 1)}\n`);
    await writeFile(path.replace(/(\.json)?$/, '.csv'), resultsCsv(results));
    await writeFile(path.replace(/(\.json)?$/, '.md'), resultsMarkdown(rows, experiment.baseline));
  }
  io.result(result);
  return io.signal.aborted ? 130 : 0;
}

async function readDefinition(path: string, name: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new DreamError('file-read', `${name} could not be read.`, 'Name a file that exists.', { cause });
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new DreamError('bad-experiment', `${name} is not JSON: ${(cause as Error).message}.`, 'Correct the file.', {
      cause,
    });
  }
}

function chosen(runs: readonly PlannedRun[], { rows, seeds }: { rows?: string; seeds?: string }): PlannedRun[] {
  const words = rows?.split(',').map((word) => word.trim().toLowerCase());
  const numbers = seeds?.split(',').map(Number);
  const found = runs.filter(
    ({ row, seed }) =>
      (!words || words.some((word) => row.toLowerCase().includes(word))) && (!numbers || numbers.includes(seed)),
  );
  if (found.length > 0) return found;
  throw new UsageError('bad-value', 'No run of the experiment has such a row and seed.', '--list shows them.');
}

async function runAll(
  io: CommandIo,
  experiment: ExperimentDefinition,
  runs: readonly PlannedRun[],
  folder: ExperimentFolder,
  { fresh, minutes }: { fresh: boolean; minutes?: number },
  start: number,
): Promise<void> {
  let parts: ExperimentParts | undefined;
  let control: RunControl | null = null;
  io.signal.addEventListener('abort', () => control?.stop(), { once: true });
  for (const run of runs) {
    if (io.signal.aborted) return;
    if (minutes !== undefined && performance.now() - start > minutes * 60_000) return;
    if (fresh) await discardIfChanged(folder, run);
    if (await folder.result(run)) continue;
    const keeper = await folder.claim(run);
    if (!keeper) continue; // another process is at it
    const bar = io.progress(run.id);
    try {
      parts ??= await openParts(io.root);
      const result = await runOne(parts, experiment, run, keeper, {
        onProgress: (stage, stages, fraction, detail) =>
          bar.update((stage + fraction) / (stages + 1), `${Math.min(stage + 1, stages)}/${stages} ${detail}`),
        onControl(next) {
          control = next;
          if (io.signal.aborted) next?.stop();
        },
        check: () => io.signal.throwIfAborted(),
      });
      if (result) {
        await folder.keep(run, result);
        const percent = (100 * result.realSuccess).toFixed(1);
        io.note(
          `${run.id}: ${percent} % real success, ${result.realTransitions} real transitions, ${duration(result.seconds)}`,
        );
      }
    } catch (error) {
      if (!io.signal.aborted) throw error;
    } finally {
      bar.clear();
      await keeper.release();
    }
  }
}

async function discardIfChanged(folder: ExperimentFolder, run: PlannedRun): Promise<void> {
  try {
    const keeper = await folder.claim(run);
    await keeper?.release();
    await folder.result(run);
  } catch (error) {
    if (!(error instanceof DreamError) || error.code !== 'experiment-changed') throw error;
    await folder.discard(run);
  }
}

async function openParts(root: string): Promise<ExperimentParts> {
  const gpu = await openGpu(await nodeGpu());
  assertDevicePasses(await runSelfTest(gpu));
  return openExperimentParts(gpu, readFromDisk(root));
}

function table(rows: readonly Row[]): string[] {
  const width = Math.max(4, ...rows.map((row) => row.name.length));
  const percent = (x: number) => (100 * x).toFixed(1).padStart(5);
  const span = (low: number | null, high: number | null) =>
    low === null || high === null ? ''.padEnd(16) : `[${percent(low)}, ${percent(high)}]`.padEnd(16);
  return rows.map(({ name, mean, low, high, seeds, difference }) => {
    const against = difference ? `  ${percent(difference.mean)} ${span(difference.low, difference.high)}` : '';
    return `${name.padEnd(width)}  ${percent(mean)} ${span(low, high)} n=${seeds.length}${against}`;
  });
}

/** Success on the families that a row trained on, on the others, and there against the baseline. */
function transferTable(rows: readonly Transfer[]): string[] {
  if (rows.length === 0) return [];
  const width = Math.max(4, ...rows.map((row) => row.name.length));
  const percent = (x: number | null) => (x === null ? '–'.padStart(5) : (100 * x).toFixed(1).padStart(5));
  return [
    `${''.padEnd(width)}  seen  others  (against the baseline there)`,
    ...rows.map(({ name, seen, unseen, difference: d }) => {
      const against = d ? `  ${percent(d.mean)} [${percent(d.low)}, ${percent(d.high)}] of ${d.tasks} tasks` : '';
      return `${name.padEnd(width)} ${percent(seen)}   ${percent(unseen)}${against}`;
    }),
  ];
}
