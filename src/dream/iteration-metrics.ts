/** @file What one iteration reports: numbers for the charts, and the few rollouts worth looking at. */
import { mean } from '../data/statistics';
import type { Trajectory } from '../data/trajectory';
import type { LearnerState, UpdateReport } from '../rl/policy-update';
import type { IterationMetrics, RunConfig } from '../worker/protocol';
import type { DreamCounts } from './dream-options';
import type { FidelityReport } from './fidelity';
import type { RolloutReport } from './rollouts';

export interface IterationFacts {
  iteration: number;
  rollouts: RolloutReport;
  /** null when the rollouts were real. */
  dream: DreamCounts | null;
  learned: UpdateReport;
  trainSeconds: number;
  fidelity: FidelityReport;
  syntheticShare: number;
  /** Groups that were played beyond those asked for. */
  redrawnGroups: number;
  bufferSize: number;
  totals: Pick<
    IterationMetrics,
    | 'tasksGenerated'
    | 'realTransitions'
    | 'dreamedTransitions'
    | 'measurementSteps'
    | 'refreshTransitions'
    | 'refreshLoss'
  >;
  gpuBytes: number;
  seconds: number;
}

const perSecond = (count: number, seconds: number) => (seconds > 0 ? count / seconds : 0);

export function iterationMetrics(facts: IterationFacts): IterationMetrics {
  const { rollouts, dream, learned, fidelity } = facts;
  const trajectories = rollouts.rollouts.map((rollout) => rollout.trajectory);
  const finished = trajectories.filter((t) => !t.lost);
  const turns = finished.flatMap((t) => t.turns);
  const rates = [...learned.successRate.values()];
  return {
    iteration: facts.iteration,
    trainReward: mean(finished.map((t) => (t.success ? 1 : 0))),
    replayPrecision: fidelity.replayPrecision,
    replayTrue: fidelity.replayTrue,
    replayFalse: fidelity.replayFalse,
    rewardError: fidelity.rewardError,
    nextStateAccuracy: fidelity.nextStateAccuracy,
    ...fidelityMetrics(facts, trajectories),
    loss: learned.loss,
    entropy: learned.entropy,
    kl: learned.kl,
    clipFraction: learned.clipFraction,
    gradNorm: learned.gradNorm,
    logProbGap: learned.logProbGap,
    groupStd: learned.groupStd,
    zeroVarianceGroups: learned.zeroVarianceGroups,
    validActionRate: mean(turns.map((turn) => (turn.valid ? 1 : 0))),
    meanTurns: mean(finished.map((t) => t.turns.length)),
    malformed: dream?.malformed ?? 0,
    malformedActions: rollouts.malformedActions,
    lostEpisodes: trajectories.length - finished.length,
    rejectedSuccesses: dream?.rejectedSuccesses ?? 0,
    contradictionRate: dream && dream.questions > 0 ? dream.contradictions / dream.questions : null,
    syntheticShare: facts.syntheticShare,
    taskDifficulty: mean(rates.map((p) => p * (1 - p))),
    bufferSize: facts.bufferSize,
    ...learnerMetrics(facts),
    ...facts.totals,
    generateTokensPerSecond: perSecond(rollouts.generatedTokens + (dream?.generatedTokens ?? 0), rollouts.seconds),
    trainTokensPerSecond: perSecond(learned.tokens, facts.trainSeconds),
    gpuBytes: facts.gpuBytes,
    seconds: facts.seconds,
  };
}

/** What the audit of a dreamed iteration found besides; nothing for a real one. */
function fidelityMetrics(
  { dream, fidelity }: IterationFacts,
  trajectories: readonly Trajectory[],
): Partial<IterationMetrics> {
  if (!dream) return {};
  const finished = trajectories.filter((t) => !t.lost);
  // Claims of lost episodes are as good as any, but their steps are not kept to count them among.
  const valid = finished.reduce((sum, t) => sum + t.turns.filter((turn) => turn.valid).length, 0);
  const won = finished.filter((t) => t.success).length;
  const claims = won - dream.grantedSuccesses + dream.rejectedSuccesses;
  return {
    nextWordAccuracy: fidelity.nextWordAccuracy,
    replaySuccess: fidelity.replaySuccess,
    admissibility: fidelity.admissibility,
    factTruth: fidelity.factTruth,
    epsilonReward: fidelity.epsilonReward,
    epsilonState: fidelity.epsilonState,
    departed: fidelity.departed,
    successClaims: valid === 0 ? null : Math.min(1, Math.max(0, claims) / valid),
    realSuccessesPerStep: fidelity.realSuccessesPerStep,
    lostShare: trajectories.length === 0 ? null : 1 - finished.length / trajectories.length,
  };
}

/** Numbers of methods that not every run uses: absent where there is nothing to say. */
function learnerMetrics({ learned, redrawnGroups }: IterationFacts): Partial<IterationMetrics> {
  const { referenceKl, valueLoss, explainedVariance, skipped, maskedEpisodes, state } = learned;
  return {
    ...(referenceKl === null ? {} : { referenceKl, klCoef: state.klCoef }),
    ...(valueLoss === null ? {} : { valueLoss, explainedVariance }),
    ...(redrawnGroups > 0 ? { redrawnGroups } : {}),
    ...(maskedEpisodes > 0 ? { maskedEpisodes } : {}),
    ...(skipped > 0 ? { skippedUpdates: skipped, skippedInARow: state.skippedInARow } : {}),
  };
}

/** Absent until the first refresh; the loss stands in the iteration of its refresh alone. */
export function refreshMetrics(
  before: IterationMetrics | undefined,
  refreshed: { transitions: number; loss: number } | null,
): Pick<IterationMetrics, 'refreshTransitions' | 'refreshLoss'> {
  const total = (before?.refreshTransitions ?? 0) + (refreshed?.transitions ?? 0);
  if (total === 0 && !refreshed) return {};
  return { refreshTransitions: total, refreshLoss: refreshed?.loss ?? null };
}

/** What the iteration before left to the learner: all of it stands in its metrics, so a resumed run goes on from there. */
export function learnerState(last: IterationMetrics | undefined, config: Pick<RunConfig, 'klCoef'>): LearnerState {
  return { klCoef: last?.klCoef ?? config.klCoef, skippedInARow: last?.skippedInARow ?? 0 };
}

/**
 * Up to `limit` trajectories for the viewer, two a group: a success beside a failure of the same task where there is one,
 * because the difference is what the policy learns from.
 */
export function rolloutsForViewer(trajectories: readonly Trajectory[], limit = 8): Trajectory[] {
  const groups = new Map<number, Trajectory[]>();
  for (const t of trajectories) groups.set(t.group, [...(groups.get(t.group) ?? []), t]);
  const pairs = [...groups.values()].map((members) => {
    const won = members.find((t) => t.success);
    const failed = members.find((t) => !t.success);
    return won && failed ? [won, failed] : members.slice(0, 2);
  });
  const mixed = (pair: Trajectory[]) => pair.some((t) => t.success) && pair.some((t) => !t.success);
  return [...pairs.filter(mixed), ...pairs.filter((pair) => !mixed(pair))].flat().slice(0, limit).map(forDisplay);
}

/** A copy with log-probabilities of four decimals: what an eye can see, in a third of the bytes. */
function forDisplay(trajectory: Trajectory): Trajectory {
  const turns = trajectory.turns.map((turn) => ({
    ...turn,
    actionLogProbs: turn.actionLogProbs.map((logProb) => Math.round(logProb * 1e4) / 1e4),
  }));
  return { ...trajectory, turns };
}
