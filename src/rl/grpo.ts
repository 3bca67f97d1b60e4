/**
 * @file Group Relative Policy Optimisation over whole episodes (Shao et al. 2024; details as in dreamgym.md, section 5).
 *
 * Rollouts of one task are each other's baseline: A = (r - mean of the group) / std. A group whose rewards are all equal
 * says nothing and is dropped. This file only schedules: advantages and the clipped loss with its gradient are kernels.
 */
import type { LanguageModel, OptimizerSettings, TrainSequence, TrainStats } from '../nn/language-model';
import { type Aggregation, lossWeights, type SampleUnit } from './aggregation';
import type { Rollout } from './rollout';

export type Normalization = 'group-std' | 'group-mean' | 'batch-std';

/** (returns [n], group id of each [n], mode) -> advantages [n]. On the GPU in the program, plain code in tests. */
export type AdvantageKernel = (
  returns: Float32Array,
  groupIds: Int32Array,
  mode: Normalization,
) => Promise<Float32Array>;

/** Log-probabilities under the frozen reference policy, asked for only when klCoef > 0. */
export type ReferenceScorer = (sequences: readonly (readonly number[])[]) => Promise<Float32Array[]>;

export interface GrpoSettings {
  normalization: Normalization;
  aggregation: Aggregation;
  sampleUnit: SampleUnit;
  miniBatches: number;
  clipLow: number;
  clipHigh: number;
  klCoef: number;
  entropyCoef: number;
  /** Caps the loss of unlikely tokens with negative advantage (verl's c); 3 by default. */
  dualClip: number;
  /** Peak rate; see `scheduledRate`. */
  learningRate: number;
  /** Of the rewards, per turn; absent = 1. */
  discount?: number;
  /** Divisor of sequence-sum-norm: the most tokens a sample may hold. */
  horizon: number;
}

/** Everything but the learning rate; the recipe's values. No weight decay: a short RL phase should not shrink the model. */
export const rlOptimizer: Omit<OptimizerSettings, 'learningRate'> = {
  beta1: 0.9,
  beta2: 0.95,
  eps: 1e-8,
  weightDecay: 0,
  maxGradNorm: 1,
};

/**
 * The rate of an iteration (from 0). It rises over the first three, because Adam's second moments are noise in the first
 * steps, and falls linearly over the last third of a run: gradients of a hundred episodes are noisy, and the smaller last
 * steps average that noise out of what is kept (at a constant rate, success went up and down by five points at the end).
 */
export function scheduledRate(learningRate: number, iteration: number, iterations = Number.POSITIVE_INFINITY): number {
  const rise = (iteration + 1) / 3;
  const fall = (iterations - iteration) / (iterations / 3);
  return learningRate * Math.min(1, rise, iterations === Number.POSITIVE_INFINITY ? 1 : fall);
}

/**
 * Discounted return of a trajectory, sum over turns t (from 0) of discount^t reward_t. Below 1 it tells a quick success from
 * a slow one: in a world with a step limit, slowness is what failures are made of.
 */
export function discountedReturn({ turns, lost }: Rollout['trajectory'], discount: number): number {
  return lost ? 0 : turns.reduceRight((rest, turn) => turn.reward + discount * rest, 0);
}

export interface GroupReport {
  groups: number;
  zeroVarianceGroups: number;
  /** Mean over groups of the population standard deviation of their returns. */
  groupStd: number;
  /** Success rate of each group that has at least one finished episode. */
  successRate: Map<number, number>;
}

export interface GrpoReport extends GroupReport {
  /** Optimiser steps taken; 0 when every group was dropped. */
  steps: number;
  /** Steps whose loss or gradient was not finite; the weights did not move. */
  skipped: number;
  episodes: number;
  tokens: number;
  loss: number;
  gradNorm: number;
  entropy: number;
  kl: number;
  clipFraction: number;
  /** Of the first mini-batch, before any update: what sampler and trainer disagree on. */
  logProbGap: number;
}

/** Groups of the episodes that may be learned from, in order of first appearance. Lost episodes never count. */
export function learnable(rollouts: readonly Rollout[], discount = 1): { kept: Rollout[]; report: GroupReport } {
  const groups = new Map<number, Rollout[]>();
  for (const rollout of rollouts) {
    const { lost, group } = rollout.trajectory;
    if (lost) continue;
    const members = groups.get(group);
    if (members) members.push(rollout);
    else groups.set(group, [rollout]);
  }

  const successRate = new Map<number, number>();
  let zeroVarianceGroups = 0;
  let stdSum = 0;
  const kept: Rollout[] = [];
  for (const [group, members] of groups) {
    const returns = members.map((m) => discountedReturn(m.trajectory, discount));
    const centre = returns.reduce((a, b) => a + b, 0) / returns.length;
    stdSum += Math.sqrt(returns.reduce((sum, r) => sum + (r - centre) ** 2, 0) / returns.length);
    successRate.set(group, members.filter((m) => m.trajectory.success).length / members.length);
    if (returns.every((r) => r === returns[0])) zeroVarianceGroups++;
    else kept.push(...members);
  }
  const groupStd = groups.size === 0 ? 0 : stdSum / groups.size;
  return { kept, report: { groups: groups.size, zeroVarianceGroups, groupStd, successRate } };
}

/** Training sequences of one mini-batch: observations masked, log-probabilities as the sampler reported them. */
export function trainSequences(
  batch: readonly Rollout[],
  settings: Pick<GrpoSettings, 'aggregation' | 'sampleUnit' | 'horizon'>,
  reference?: readonly Float32Array[],
): TrainSequence[] {
  const streams = batch.map((rollout) => rollout.stream);
  const weights = lossWeights(streams, settings.aggregation, settings.sampleUnit, settings.horizon);
  return batch.map(({ stream, trajectory }, i) => {
    const advantage = trajectory.advantage ?? 0;
    return {
      tokens: stream.tokens,
      weights: weights[i],
      oldLogProbs: Float32Array.from(stream.logProbs),
      advantages: Float32Array.from(stream.turns, (turn) => (turn < 0 ? 0 : advantage)),
      ...(reference ? { refLogProbs: reference[i] } : {}),
    };
  });
}

/** Splits into `parts` nearly equal, non-empty slices; fewer when there are not enough items. */
export function miniBatchesOf<T>(items: readonly T[], parts: number): T[][] {
  const count = Math.min(parts, items.length);
  return Array.from({ length: count }, (_, i) =>
    items.slice(Math.floor((i * items.length) / count), Math.floor(((i + 1) * items.length) / count)),
  );
}

export interface GrpoInput {
  policy: Pick<LanguageModel, 'trainStep'>;
  rollouts: readonly Rollout[];
  settings: GrpoSettings;
  /** 0-based; drives the learning rate. */
  iteration: number;
  /** Iterations of the whole run; without it the rate does not fall. */
  iterations?: number;
  advantages: AdvantageKernel;
  /** Seeded order of the episodes before they are cut into mini-batches. */
  shuffle: <T>(items: readonly T[]) => T[];
  /** Required when klCoef > 0. */
  reference?: ReferenceScorer;
  /** Called between mini-batches; the place to pause or report. */
  onMiniBatch?: (done: number, total: number) => Promise<void> | void;
}

/** One epoch over the rollouts. Writes `advantage` into each learned trajectory. */
export async function grpoUpdate(input: GrpoInput): Promise<GrpoReport> {
  const { policy, settings } = input;
  const { kept, report } = learnable(input.rollouts, settings.discount);

  if (kept.length > 0) {
    const returns = Float32Array.from(kept, ({ trajectory }) => discountedReturn(trajectory, settings.discount ?? 1));
    // Dense ids: a kernel sizes its group table by the largest one.
    const dense = new Map([...new Set(kept.map((r) => r.trajectory.group))].map((group, i) => [group, i]));
    const groupIds = Int32Array.from(kept, (rollout) => dense.get(rollout.trajectory.group)!);
    const advantages = await input.advantages(returns, groupIds, settings.normalization);
    kept.forEach((rollout, i) => {
      rollout.trajectory.advantage = advantages[i];
    });
  }

  const batches = miniBatchesOf(input.shuffle(kept), settings.miniBatches);
  // All at once: a reference may have to swap weights in and out.
  const scored =
    settings.klCoef > 0 && input.reference ? await input.reference(batches.flat().map((r) => r.stream.tokens)) : null;
  const loss = {
    kind: 'policy' as const,
    clipLow: settings.clipLow,
    clipHigh: settings.clipHigh,
    klCoef: settings.klCoef,
    entropyCoef: settings.entropyCoef,
    dualClip: settings.dualClip,
  };
  const optimizer = {
    ...rlOptimizer,
    learningRate: scheduledRate(settings.learningRate, input.iteration, input.iterations),
  };

  const stats: TrainStats[] = [];
  let done = 0;
  for (const [i, batch] of batches.entries()) {
    const references = scored?.slice(done, done + batch.length);
    stats.push(await policy.trainStep(trainSequences(batch, settings, references), loss, optimizer));
    done += batch.length;
    await input.onMiniBatch?.(i + 1, batches.length);
  }

  // A skipped step has no finite numbers to average.
  const applied = stats.filter((s) => s.applied);
  const average = (pick: (s: TrainStats) => number) =>
    applied.length === 0 ? 0 : applied.reduce((sum, s) => sum + pick(s), 0) / applied.length;
  return {
    ...report,
    steps: stats.length,
    skipped: stats.length - applied.length,
    episodes: kept.length,
    tokens: kept.reduce((sum, rollout) => sum + rollout.stream.tokens.length, 0),
    loss: average((s) => s.loss),
    gradNorm: average((s) => s.gradNorm),
    entropy: average((s) => s.entropy),
    kl: average((s) => s.kl),
    clipFraction: average((s) => s.clipFraction),
    logProbGap: stats[0]?.applied ? stats[0].logProbGap : 0,
  };
}
