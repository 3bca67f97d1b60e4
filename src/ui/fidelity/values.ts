/** @file The fidelity numbers as a reader meets them: a plain sentence each, how they moved, and where they should be. */
import { finiteHorizonBound } from '../../dream/fidelity/bound';
import type { FidelitySummary } from '../../dream/fidelity/summary';
import type { IterationMetrics } from '../../worker/protocol';
import { number, percent } from '../text/format';

export interface FidelityValue {
  id: string;
  label: string;
  /** One sentence: what it is, and which way is good. */
  help: string;
  /** As written; null was not measured. */
  text: string | null;
  /** Over the iterations, for the small curve; empty where it has none. */
  course: (number | null)[];
  /** Top of the small curve's axis, which begins at zero. */
  top: number;
}

type Measure = (m: IterationMetrics) => number | null | undefined;

interface Definition {
  id: string;
  label: string;
  help: string;
  of: Measure;
}

const shares: readonly Definition[] = [
  {
    id: 'precision',
    label: 'True successes',
    help: 'Of the successes it dreamed, how many also succeed when the same actions are played in the real world.',
    of: (m) => m.replayPrecision,
  },
  {
    id: 'reward-error',
    label: 'Reward error',
    help: 'How often its verdict on an episode is wrong, either way; 0% is a perfect judge.',
    of: (m) => m.rewardError,
  },
  {
    id: 'next-state',
    label: 'Answers that are right',
    help: 'Dreamed answers that are, word for word, what the real world says after the same actions.',
    of: (m) => m.nextStateAccuracy,
  },
  {
    id: 'next-word',
    label: 'Words that are right',
    help: 'The same, word by word: an answer with one wrong thing in it is nearly right.',
    of: (m) => m.nextWordAccuracy,
  },
  {
    id: 'admissibility',
    label: 'Things that can be there',
    help: 'Of the places, things and contents it shows, how many this room could have at all.',
    of: (m) => m.admissibility,
  },
  {
    id: 'fact-truth',
    label: 'Things that are there',
    help: 'Of the same, how many the real world shows at that moment.',
    of: (m) => m.factTruth,
  },
  {
    id: 'contradictions',
    label: 'Contradictions',
    help: 'Dreamed steps that contradict what was dreamed before them; fewer is better.',
    of: (m) => m.contradictionRate,
  },
  {
    id: 'lost',
    label: 'Lost episodes',
    help: 'Episodes given up because the dream wrote something that cannot be read.',
    of: (m) => m.lostShare,
  },
  {
    id: 'departed',
    label: 'Episodes that part ways',
    help: 'Dreamed episodes that differ anywhere from the real ones of the same actions.',
    of: (m) => m.departed,
  },
];

/** One row a number; rows that this run never measured are left out. */
export function fidelityValues(
  summary: FidelitySummary,
  metrics: readonly IterationMetrics[],
  maxSteps: number,
): FidelityValue[] {
  const dreamed = metrics.filter((m) => m.rewardError !== null);
  const rows = shares.map(({ id, label, help, of }): FidelityValue => {
    const course = dreamed.map((m) => of(m) ?? null);
    const last = course.at(-1) ?? null;
    return { id, label, help, course, top: 1, text: last === null ? null : percent(last) };
  });
  const bounds = dreamed.map((m) => finiteHorizonBound(m, maxSteps));
  rows.push({
    id: 'bound',
    label: 'Gap at most',
    help: 'How far dreamed and real success of one agent can lie apart, by the errors measured: reward error plus turns times state error. A rough guide, never a guarantee.',
    text: summary.bound === null ? null : `${percent(summary.bound)}${measuredGap(summary)}`,
    course: bounds,
    top: 1,
  });
  rows.push({
    id: 'rank',
    label: 'Ranks its checkpoints right',
    help: 'Does what looks better in the dream do better in the real world? 1 always, 0 no relation, −1 the reverse (Spearman, over the real-world checks).',
    text: summary.rankCorrelation === null ? null : number(Number(summary.rankCorrelation.toFixed(2))),
    course: [],
    top: 1,
  });
  return rows.filter(({ text, course }) => text !== null || course.some((value) => value !== null));
}

function measuredGap({ checkpoints }: FidelitySummary): string {
  const last = checkpoints.at(-1);
  return last ? ` (measured: ${percent(last.gap)})` : '';
}

/** Points of a curve in a box of `width` x `height`, one list for every run of measured values. */
export function sparkline(course: readonly (number | null)[], top: number, width: number, height: number): string[] {
  const step = course.length > 1 ? width / (course.length - 1) : 0;
  const pieces: string[][] = [];
  let open: string[] | null = null;
  course.forEach((value, i) => {
    if (value === null) {
      open = null;
      return;
    }
    if (!open) {
      open = [];
      pieces.push(open);
    }
    const y = height - (Math.min(top, Math.max(0, value)) / top) * height;
    open.push(`${(i * step).toFixed(1)},${y.toFixed(1)}`);
  });
  return pieces.map((points) => points.join(' '));
}
