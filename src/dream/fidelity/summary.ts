/** @file A run's fidelity in one place: what the panel shows and experiments keep (`RunResult.fidelity`). */
import type { Evaluation, IterationMetrics, Rate, RunConfig } from '../../worker/protocol';
import { finiteHorizonBound } from './bound';
import { rankCorrelation } from './correlation';
import { type FidelityFlag, fidelityFlags } from './flags';

export type { FidelityFlag };

/** A checkpoint with what the dream and the real world say of it. */
export interface Checkpoint {
  iteration: number;
  /** Success of this policy in its dream, on training tasks. */
  dreamed: number;
  /** Success of this policy in the real world, on held-out tasks, at the same temperature. */
  real: number;
  /** |dreamed - real|, and what the bound allows. The tasks differ, so a gap may exceed it without a contradiction. */
  gap: number;
  bound: number | null;
}

export interface FidelitySummary {
  /** The last iteration that dreamed; the values below are its own. */
  iteration: number;
  dreamedSuccess: number;
  replayPrecision: number | null;
  replaySuccess: number | null;
  rewardError: number | null;
  nextStateAccuracy: number | null;
  nextWordAccuracy: number | null;
  admissibility: number | null;
  factTruth: number | null;
  contradictionRate: number | null;
  lostShare: number | null;
  epsilonReward: number | null;
  epsilonState: number | null;
  /** eps_R + H eps_P, at most 1. */
  bound: number | null;
  /** Share of episodes that departed from the real ones: what the bound estimates, measured directly. */
  departed: number | null;
  /** |dreamed - replayed success|: the same actions in both worlds. */
  replayGap: number | null;
  checkpoints: Checkpoint[];
  /** Spearman's, dreamed against real success over the checkpoints; null for fewer than three or without variation. */
  rankCorrelation: number | null;
  /** Flags that stand at the end, and how many iterations had an alarm. */
  flags: FidelityFlag[];
  alarmedIterations: number;
  /** The first iteration with an alarm. */
  firstAlarm: number | null;
}

type RealCheck = Pick<Evaluation, 'iteration' | 'imagined'> & { atRolloutTemperature: Pick<Rate, 'rate'> };

/** What a summary needs of a run; a `RunRecord` has it. */
export interface MeasuredRun {
  metrics: readonly IterationMetrics[];
  evaluations: readonly RealCheck[];
  config: Pick<RunConfig, 'maxSteps'>;
}

/** null for a run that never dreamed. */
export function fidelityOf({ metrics, evaluations, config }: MeasuredRun): FidelitySummary | null {
  const dreamed = metrics.filter((m) => m.rewardError !== null);
  const last = dreamed.at(-1);
  if (!last) return null;
  const checkpoints = checkpointsOf(dreamed, evaluations, config.maxSteps);
  const history = dreamed.map((_, i) => fidelityFlags(dreamed.slice(0, i + 1)));
  const alarmed = history.flatMap((flags, i) =>
    flags.some(({ level }) => level === 'alarm') ? [dreamed[i].iteration] : [],
  );
  return {
    iteration: last.iteration,
    dreamedSuccess: last.trainReward,
    replayPrecision: last.replayPrecision,
    replaySuccess: last.replaySuccess ?? null,
    rewardError: last.rewardError,
    nextStateAccuracy: last.nextStateAccuracy,
    nextWordAccuracy: last.nextWordAccuracy ?? null,
    admissibility: last.admissibility ?? null,
    factTruth: last.factTruth ?? null,
    contradictionRate: last.contradictionRate ?? null,
    lostShare: last.lostShare ?? null,
    epsilonReward: last.epsilonReward ?? null,
    epsilonState: last.epsilonState ?? null,
    bound: finiteHorizonBound(last, config.maxSteps),
    departed: last.departed ?? null,
    replayGap: last.replaySuccess == null ? null : Math.abs(last.trainReward - last.replaySuccess),
    checkpoints,
    rankCorrelation: rankCorrelation(checkpoints.map(({ dreamed, real }) => [dreamed, real] as const)),
    flags: history.at(-1) ?? [],
    alarmedIterations: alarmed.length,
    firstAlarm: alarmed[0] ?? null,
  };
}

/**
 * An evaluation after i iterations examines the policy that dreams in iteration i + 1. At the end of the dream there is no
 * such iteration: the last one, an update earlier, stands in.
 */
function checkpointsOf(
  dreamed: readonly IterationMetrics[],
  evaluations: readonly RealCheck[],
  maxSteps: number,
): Checkpoint[] {
  const byIteration = new Map(dreamed.map((m) => [m.iteration, m]));
  return evaluations.flatMap(({ iteration, imagined, atRolloutTemperature }) => {
    const dream = byIteration.get(iteration + 1) ?? byIteration.get(iteration);
    if (!dream || imagined) return [];
    const real = atRolloutTemperature.rate;
    const gap = Math.abs(dream.trainReward - real);
    return [{ iteration, dreamed: dream.trainReward, real, gap, bound: finiteHorizonBound(dream, maxSteps) }];
  });
}

/** The numbers of a summary alone, flat: for tables and result files. */
export function fidelityNumbers(summary: FidelitySummary): Record<string, number | null> {
  const { iteration: _, checkpoints, flags, ...numbers } = summary;
  return { ...numbers, gap: checkpoints.at(-1)?.gap ?? null, flags: flags.length };
}
