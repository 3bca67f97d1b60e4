/**
 * @file When the dream is no longer to be believed: alarms on a run's own numbers, in plain words.
 *
 * Each looks for one way in which dreams were seen to fail (recipe.md, "Reward hacking is real and measurable"). All need
 * evidence: a dozen episodes say nothing, and an alarm that cries at noise is switched off by its reader.
 */
import { mean } from '../../data/statistics';
import type { IterationMetrics } from '../../worker/protocol';

export type FidelityFlagKind =
  /** Nearly every valid step is called a success. */
  | 'always-success'
  /** Most dreamed successes are none in the real world. */
  | 'false-successes'
  /** Dreamed success rises while the share of true ones falls: the agent learns to fool the dream. */
  | 'reward-outruns-truth'
  /** The dream shows places and things that the room does not have. */
  | 'foreign-observations'
  /** Many episodes could not be finished because the model could not be read. */
  | 'many-lost'
  /** Dreamed steps contradict their own story. */
  | 'self-contradiction'
  /** The dream misses successes that the world grants. */
  | 'missed-successes';

export interface FidelityFlag {
  kind: FidelityFlagKind;
  /** `alarm`: what is learned now is probably wrong. `warning`: worth a look. */
  level: 'warning' | 'alarm';
  /** The iteration whose numbers raised it. */
  iteration: number;
  message: string;
  advice: string;
}

/** What an alarm looks at; all of it stands in `IterationMetrics`. */
export type FlaggedMetrics = Pick<
  IterationMetrics,
  | 'iteration'
  | 'trainReward'
  | 'replayPrecision'
  | 'replayTrue'
  | 'replayFalse'
  | 'replaySuccess'
  | 'admissibility'
  | 'lostShare'
  | 'contradictionRate'
  | 'successClaims'
  | 'realSuccessesPerStep'
>;

/** Dreamed successes below which their truth says nothing. */
const fewestSuccesses = 10;
/** The embedded model shows 0.99 to 1 with its checks on, 0.92 in the first iterations without them (bench/results). */
const honestAdmissibility = 0.95;
/** Iterations at either end of a trend. */
const trendSpan = 2;

type Rule = (last: FlaggedMetrics, all: readonly FlaggedMetrics[]) => Omit<FidelityFlag, 'iteration'> | null;

const percent = (share: number) => `${Math.round(100 * share)} %`;

const rules: readonly Rule[] = [
  ({ successClaims, realSuccessesPerStep }) => {
    if (successClaims == null || successClaims < 0.5) return null;
    const real = realSuccessesPerStep ?? null;
    // An easy world may really succeed at every second step.
    if (real === null ? successClaims < 0.9 : real > 0.6 * successClaims) return null;
    const truth = real === null ? '' : `; in the real world ${percent(real)} are`;
    return {
      kind: 'always-success',
      level: 'alarm',
      message: `The dream calls ${percent(successClaims)} of all valid steps a success${truth}.`,
      advice: 'Switch the goal check on, or dream with another experience model: this one does not judge.',
    };
  },
  ({ replayPrecision, replayTrue, replayFalse }) => {
    const successes = replayTrue + replayFalse;
    if (replayPrecision === null || successes < fewestSuccesses || replayPrecision >= 0.5) return null;
    return {
      kind: 'false-successes',
      level: 'alarm',
      message: `Only ${replayTrue} of ${successes} dreamed successes also succeed in the real world.`,
      advice: 'Stop here and use an earlier checkpoint, or refresh the experience model on real transitions.',
    };
  },
  (_, all) => {
    if (all.length < 2 * trendSpan) return null;
    const begin = all.slice(0, trendSpan);
    const end = all.slice(-trendSpan);
    const before = pooledPrecision(begin);
    const now = pooledPrecision(end);
    if (before === null || now === null) return null;
    const rise = mean(end.map((m) => m.trainReward)) - mean(begin.map((m) => m.trainReward));
    if (rise < 0.05 || before - now < 0.15) return null;
    return {
      kind: 'reward-outruns-truth',
      level: 'alarm',
      message: `Dreamed success rose by ${Math.round(100 * rise)} points while the share of true successes fell from ${percent(before)} to ${percent(now)}: the agent is learning to fool the dream.`,
      advice:
        'Stop here and use an earlier checkpoint; then switch on the checks or the refresh, or train more gently.',
    };
  },
  ({ admissibility }) => {
    if (admissibility == null || admissibility >= honestAdmissibility) return null;
    return {
      kind: 'foreign-observations',
      level: admissibility < 0.75 ? 'alarm' : 'warning',
      message: `${percent(1 - admissibility)} of what the dream shows (places, things, contents) cannot be in this room.`,
      advice: 'Raise the number of memories a question gets, and lower the dream’s temperature.',
    };
  },
  ({ lostShare }) => {
    if (lostShare == null || lostShare < 0.1) return null;
    return {
      kind: 'many-lost',
      level: lostShare >= 0.3 ? 'alarm' : 'warning',
      message: `${percent(lostShare)} of the episodes were lost because the experience model could not be read.`,
      advice: 'Lower the dream’s temperature, or choose a model that keeps to the form.',
    };
  },
  ({ contradictionRate }) => {
    if (contradictionRate == null || contradictionRate < 0.15) return null;
    return {
      kind: 'self-contradiction',
      level: contradictionRate >= 0.4 ? 'alarm' : 'warning',
      message: `${percent(contradictionRate)} of the dreamed steps contradict what was dreamed before them.`,
      advice: 'Switch the step check on, and let the dream remember the episode.',
    };
  },
  ({ replaySuccess, trainReward }) => {
    if (replaySuccess == null || replaySuccess - trainReward < 0.15) return null;
    return {
      kind: 'missed-successes',
      level: 'warning',
      message: `The dream denies successes: ${percent(replaySuccess)} of its episodes succeed in the real world, it rewards ${percent(trainReward)}.`,
      advice: 'Switch the goal check on: it also grants what the dreamed text shows.',
    };
  },
];

/** The flags that stand after the last of `metrics`; alarms first. */
export function fidelityFlags(metrics: readonly FlaggedMetrics[]): FidelityFlag[] {
  const dreamed = metrics.filter(isDreamed);
  const last = dreamed.at(-1);
  // A run that practises in the real world by now has nothing to be warned of.
  if (!last || last !== metrics.at(-1)) return [];
  const found = rules.flatMap((rule) => rule(last, dreamed) ?? []);
  return found
    .map((flag) => ({ ...flag, iteration: last.iteration }))
    .sort((a, b) => Number(b.level === 'alarm') - Number(a.level === 'alarm'));
}

/** Flags that the last iteration raised and the one before did not: worth saying once. */
export function newFlags(metrics: readonly FlaggedMetrics[]): FidelityFlag[] {
  const before = new Set(fidelityFlags(metrics.slice(0, -1)).map(({ kind }) => kind));
  return fidelityFlags(metrics).filter(({ kind }) => !before.has(kind));
}

/** Real iterations measure none of this; `replaySuccess` is absent in runs of before it was measured. */
function isDreamed(m: FlaggedMetrics): boolean {
  return (
    m.replayPrecision !== null || m.replaySuccess != null || m.successClaims != null || m.contradictionRate != null
  );
}

function pooledPrecision(metrics: readonly FlaggedMetrics[]): number | null {
  const right = metrics.reduce((sum, m) => sum + m.replayTrue, 0);
  const all = right + metrics.reduce((sum, m) => sum + m.replayFalse, 0);
  return all < fewestSuccesses ? null : right / all;
}
