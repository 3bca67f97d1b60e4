/**
 * @file What an experiment found: rows with means and intervals, paired comparisons, curves with bands.
 *
 * Two kinds of uncertainty are kept apart. The interval of a row's mean is Student's over seeds: would other seeds say the
 * same? The interval of a difference is taken over tasks, which all rows share: averaging over a task's seeds first and
 * differencing task by task removes what makes some tasks hard for everyone, most of the variance.
 */
import { mean, standardDeviation } from '../../data/statistics';

/** What is kept of a run (one row, one seed). */
export interface RunResult {
  row: string;
  seed: number;
  /** Real success on the held-out tasks at the experiment's temperature, and at the rollouts' own. */
  realSuccess: number;
  atRolloutTemperature: number;
  /** One character per held-out task at the experiment's temperature: `1` success, `0` failure. */
  outcomes: string;
  /** The same by the tasks' family; absent in results of before it was kept. */
  byFamily?: Record<string, string>;
  /** Transitions that the policy was trained on. */
  realTransitions: number;
  dreamedTransitions: number;
  /** Real steps that only measured. */
  measurementSteps: number;
  /** Mean |dreamed - real return| of the last iteration with dreams; null where nothing was dreamed. */
  rewardError: number | null;
  fidelity: Record<string, number | null> | null;
  /** Real success over the iterations, where the experiment asked for it. */
  curve: { iteration: number; realSuccess: number; atRolloutTemperature: number }[];
  updates: number;
  /** What the stages counted besides: losses, sizes of data sets, fidelity of a retrained experience model. */
  facts: Record<string, number>;
  seconds: number;
  weightsHash: string;
  adapter: string;
  date: string;
}

export interface Row {
  name: string;
  paper?: string;
  seeds: RunResult[];
  mean: number;
  /** 95 % interval of the mean over seeds (Student), within 0 and 1; null for one seed, which says nothing about others. */
  low: number | null;
  high: number | null;
  /** Against the baseline row, on the same tasks; null without a baseline or before it has a result. */
  difference: { mean: number; low: number; high: number; tasks: number } | null;
}

/** 97.5 % quantile of Student's t for 1, 2, ... degrees of freedom; beyond the table it is the normal's within 2 %. */
const student = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];
const t975 = (freedom: number) => student[freedom - 1] ?? 2;

/** Mean of `values` with its 95 % interval; the interval is null for fewer than two. */
export function meanInterval(values: readonly number[]): { mean: number; low: number | null; high: number | null } {
  const centre = mean(values);
  if (values.length < 2) return { mean: centre, low: null, high: null };
  const half = (t975(values.length - 1) * standardDeviation(values)) / Math.sqrt(values.length);
  return { mean: centre, low: centre - half, high: centre + half };
}

/** The same for rates: an interval ends where rates do, whatever Student says of three seeds. */
function rateInterval(rates: readonly number[]): ReturnType<typeof meanInterval> {
  const { mean: centre, low, high } = meanInterval(rates);
  return { mean: centre, low: low === null ? null : Math.max(0, low), high: high === null ? null : Math.min(1, high) };
}

/** Mean over the seeds of a row that have the number; null where none has. */
export function seedMean({ seeds }: Row, pick: (run: RunResult) => number | null | undefined): number | null {
  const values = seeds.map(pick).filter((value) => typeof value === 'number');
  return values.length === 0 ? null : mean(values);
}

/**
 * Mean difference a - b of success with its 95 % interval over tasks. Each task counts once, with its mean over the seeds
 * that it was tried with. Throws nothing; tasks beyond the shorter list are left out.
 */
export function pairedDifference(
  a: readonly string[],
  b: readonly string[],
): { mean: number; low: number; high: number; tasks: number } | null {
  const tasks = Math.min(...a.map((o) => o.length), ...b.map((o) => o.length));
  if (a.length === 0 || b.length === 0 || tasks === 0) return null;
  const rate = (outcomes: readonly string[], task: number) => mean(outcomes.map((o) => (o[task] === '1' ? 1 : 0)));
  const differences = Array.from({ length: tasks }, (_, task) => rate(a, task) - rate(b, task));
  const centre = mean(differences);
  const half = tasks < 2 ? 1 : (t975(tasks - 1) * standardDeviation(differences)) / Math.sqrt(tasks);
  return { mean: centre, low: centre - half, high: centre + half, tasks };
}

/** Rows in the order of `names`; rows without a result yet are left out. */
export function tabulate(
  names: readonly { name: string; paper?: string }[],
  results: readonly RunResult[],
  baseline?: string,
): Row[] {
  const of = (name: string) => results.filter((r) => r.row === name).sort((a, b) => a.seed - b.seed);
  const base = baseline === undefined ? [] : of(baseline);
  return names
    .map(({ name, paper }): Row => {
      const seeds = of(name);
      return {
        name,
        ...(paper === undefined ? {} : { paper }),
        seeds,
        ...rateInterval(seeds.map((r) => r.realSuccess)),
        difference: name === baseline ? null : pairOf(seeds, base),
      };
    })
    .filter((row) => row.seeds.length > 0);
}

/** Only seeds that both rows have: a half-finished grid must not compare one seed's luck with another's. */
function pairOf(row: readonly RunResult[], base: readonly RunResult[]): Row['difference'] {
  const shared = row.filter((r) => base.some((b) => b.seed === r.seed));
  const twins = base.filter((b) => shared.some((r) => r.seed === b.seed));
  return pairedDifference(
    shared.map((r) => r.outcomes),
    twins.map((r) => r.outcomes),
  );
}

/** A row's learning curve over seeds; iterations that not every seed reached are left out. */
export function band(
  seeds: readonly RunResult[],
): { iteration: number; mean: number; low: number | null; high: number | null }[] {
  const first = seeds[0]?.curve ?? [];
  return first
    .map(({ iteration }) => ({ iteration, points: seeds.map((r) => r.curve.find((p) => p.iteration === iteration)) }))
    .filter(({ points }) => points.every((point) => point !== undefined))
    .map(({ iteration, points }) => ({ iteration, ...rateInterval(points.map((point) => point!.realSuccess)) }));
}

/** One line a run, for a spreadsheet. Names are quoted and never begin with a sign that a spreadsheet would compute. */
export function resultsCsv(results: readonly RunResult[]): string {
  const columns = [
    'seed',
    'realSuccess',
    'atRolloutTemperature',
    'realTransitions',
    'dreamedTransitions',
    'rewardError',
    'updates',
    'seconds',
    'weightsHash',
  ] as const;
  const quoted = (text: string) => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  const lines = results.map((r) => [quoted(r.row), ...columns.map((c) => r[c] ?? '')].join(','));
  return `${[['row', ...columns].join(','), ...lines].join('\n')}\n`;
}
