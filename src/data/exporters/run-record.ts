/**
 * @file A run as a zip that people and programs can open: run.json, metrics.csv, rollouts.jsonl, README.txt.
 *
 * run.json is the record without its rollouts; src/data/importers/run-record.ts puts the two together again. The same
 * record gives the same bytes in every time zone.
 */
import { strToU8, zipSync } from 'fflate';
import type { IterationMetrics, RunRecord } from '../../worker/protocol';
import { type Cell, csv } from './csv';

export const entryNames = {
  run: 'run.json',
  metrics: 'metrics.csv',
  rollouts: 'rollouts.jsonl',
  readme: 'README.txt',
} as const;

/** Zip stores local time without a zone: a fixed date, so that bytes do not depend on where they were written. */
export const zipDate = '1980-01-01T00:00:00';

export function writeRunRecord(record: RunRecord): Uint8Array {
  return zipSync(Object.fromEntries(recordFiles(record)), { level: 6, mtime: new Date(zipDate) });
}

/** The files of an exported run by name. */
export function recordFiles(record: RunRecord): [string, Uint8Array][] {
  const { rollouts, ...run } = record;
  const lines = rollouts.flatMap(({ iteration, trajectories }) =>
    trajectories.map((trajectory) => `${JSON.stringify({ iteration, ...trajectory })}\n`),
  );
  return [
    [entryNames.readme, strToU8(readme(record))],
    [entryNames.run, strToU8(`${JSON.stringify(run, null, 1)}\n`)],
    [entryNames.metrics, strToU8(metricsCsv(record))],
    [entryNames.rollouts, strToU8(lines.join(''))],
  ];
}

/** One row an iteration; `step` is the name trackio, W&B and pandas readers look for. */
export function metricsCsv(record: RunRecord): string {
  const rows = new Map<number, Record<string, Cell>>();
  const columns = new Set<string>(['step']);
  const fill = (step: number, cells: Record<string, Cell>) => {
    for (const name of Object.keys(cells)) columns.add(name);
    rows.set(step, { ...rows.get(step), step, ...cells });
  };
  for (const metrics of record.metrics) fill(metrics.iteration, numbersOf(metrics));
  for (const { iteration, atRolloutTemperature: hot, atLowTemperature: cool } of record.evaluations) {
    fill(iteration, {
      realSuccess: hot.rate,
      realSuccessLow: hot.low,
      realSuccessHigh: hot.high,
      realEpisodes: hot.episodes,
      realSuccessLowTemperature: cool.rate,
    });
  }
  const header = [...columns];
  const ordered = [...rows.values()].sort((a, b) => Number(a.step) - Number(b.step));
  return csv(
    header,
    ordered.map((row) => header.map((name) => row[name])),
  );
}

function numbersOf({ iteration: _i, evaluation: _e, ...numbers }: IterationMetrics): Record<string, Cell> {
  return numbers;
}

function readme({ runId, created, adapter, config, metrics, evaluations }: RunRecord): string {
  const first = evaluations.at(0)?.atRolloutTemperature;
  const last = evaluations.at(-1)?.atRolloutTemperature;
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const lines = [
    `DreamGym run ${oneLine(runId)}, begun ${oneLine(created)} on ${oneLine(adapter)}`,
    `${metrics.length} of ${config.iterations} iterations of ${config.preset}, seed ${config.seed}, rollouts from the ${config.rollouts === 'dream' ? 'dream' : 'real world'}.`,
    first && last
      ? `Success in the real world on held-out tasks: ${percent(first.rate)} before, ${percent(last.rate)} after (${last.episodes} episodes, 95 % interval ${percent(last.low)} to ${percent(last.high)}).`
      : 'Not yet examined in the real world.',
    '',
    'run.json        settings, metrics, evaluations, task pool, checksum of the weights',
    'metrics.csv     one row an iteration, column "step" first: trackio.import_csv, pandas.read_csv, any spreadsheet',
    'rollouts.jsonl  a few episodes of each iteration, one JSON object a line: task, turns, tokens, log-probabilities',
    '',
    'Open it again: drop this file on the page, or choose "Import run". Everything in it was made on one machine;',
    'rewards come from the world named above, "realSuccess" always from the real one.',
  ];
  return `${lines.join('\n')}\n`;
}

/** Names may come from an imported file. */
function oneLine(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 200);
}
