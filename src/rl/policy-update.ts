/**
 * @file One policy-gradient update from an iteration's rollouts, whatever the algorithm:
 *
 *   who is praised (credit.ts)  x  how far one may go (the clipped loss kernel)  x  what counts how much (aggregation.ts)
 *
 * This file only schedules: advantages, losses and gradients are kernels. Names of algorithms stand in algorithms.ts and
 * nowhere else.
 */
import { DreamError } from '../data/errors';
import type { LanguageModel, Loss, TrainSequence, TrainStats } from '../nn/language-model';
import type { AdvantageKernels } from './advantage-kernels';
import { lossWeights } from './aggregation';
import type { LearnerSettings } from './algorithms';
import { type Credit, estimateCredit, joined, offsets, split } from './credit';
import { DivergenceGuard } from './divergence';
import { type GroupReport, learnable } from './groups';
import { nextKlCoef } from './kl-control';
import { miniBatchesOf, rlOptimizer, scheduledRate } from './optimizer';
import type { Rollout } from './rollout';

/** Log-probabilities under the frozen reference policy, asked for only when klCoef > 0. */
export type ReferenceScorer = (sequences: readonly (readonly number[])[]) => Promise<Float32Array[]>;

/** What an update leaves to the next one. A run keeps it among its metrics. */
export interface LearnerState {
  /** Moves only where klTarget is set. */
  klCoef: number;
  /** Steps that were skipped since the last one that was not. */
  skippedInARow: number;
}

export interface UpdateReport extends GroupReport {
  /** Optimiser steps; 0 when there was nothing to learn from. */
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
  /** Mean KL estimate of the rollouts against the reference; null where none was asked. */
  referenceKl: number | null;
  /** The critic's: weighted loss, and how much of the returns it explained before the update; null without a critic. */
  valueLoss: number | null;
  explainedVariance: number | null;
  /** Episodes that the step limit cut off and that therefore bore no loss. */
  maskedEpisodes: number;
  state: LearnerState;
}

export interface UpdateInput {
  policy: Pick<LanguageModel, 'trainStep' | 'values' | 'score'>;
  rollouts: readonly Rollout[];
  settings: LearnerSettings;
  /** Divisor of sequence-sum-norm: the most tokens a sample may hold. */
  horizon: number;
  /** 0-based; drives the learning rate. */
  iteration: number;
  /** Iterations of the whole run; without it the rate does not fall. */
  iterations?: number;
  kernels: AdvantageKernels;
  /** Seeded order of the episodes before they are cut into mini-batches; another one for each epoch. */
  shuffle: <T>(items: readonly T[], epoch: number) => T[];
  /** Required when klCoef > 0. */
  reference?: ReferenceScorer;
  /** What the last update left; absent in a run's first. */
  state?: LearnerState;
  /** Called between mini-batches; the place to pause or report. */
  onMiniBatch?: (done: number, total: number) => Promise<void> | void;
}

/** Everything that one rollout brings into the loss. Arrays have the length of its tokens. */
interface Sample {
  rollout: Rollout;
  advantages: Float32Array;
  oldLogProbs: Float32Array;
  refLogProbs?: Float32Array;
  oldValues?: Float32Array;
  returns?: Float32Array;
}

/** Writes `advantage` into each learned trajectory. Throws DreamError `training-diverged`, `no-critic`. */
export async function policyUpdate(input: UpdateInput): Promise<UpdateReport> {
  const { policy, settings } = input;
  const { finished, varied, report } = learnable(input.rollouts, settings.discount);
  const compared = settings.advantage === 'group' || settings.advantage === 'leave-one-out';
  const kept = compared ? varied : finished;
  const muted = kept.map(({ trajectory }) => settings.maskTruncated && trajectory.truncated);

  const klCoef = input.state?.klCoef ?? settings.klCoef;
  const { samples, referenceKl, credit } = await prepare(input, kept, muted, klCoef);
  const learned = settings.klCoef > 0 || settings.entropyCoef > 0 ? samples : withSignal(samples, settings);

  const loss: Loss = {
    kind: 'policy',
    clipLow: settings.clipLow,
    clipHigh: settings.clipHigh,
    klCoef: settings.klPlacement === 'loss' ? klCoef : 0,
    entropyCoef: settings.entropyCoef,
    dualClip: settings.dualClip,
    klEstimator: settings.klEstimator,
    importance: settings.importanceLevel,
    ...(settings.advantage === 'gae' ? { critic: criticSettings(settings) } : {}),
  };
  const learningRate = scheduledRate(settings.learningRate, input.iteration, input.iterations);
  const optimizer = { ...rlOptimizer, learningRate };

  const guard = new DivergenceGuard(input.state?.skippedInARow);
  const stats: TrainStats[] = [];
  const batches = Array.from({ length: settings.epochs }, (_, epoch) =>
    miniBatchesOf(input.shuffle(learned, epoch), settings.miniBatches),
  ).flat();
  for (const [i, batch] of batches.entries()) {
    const step = await policy.trainStep(trainSequences(batch, settings, input.horizon), loss, optimizer);
    guard.note(step);
    stats.push(step);
    await input.onMiniBatch?.(i + 1, batches.length);
  }

  // A skipped step has no finite numbers to average.
  const applied = stats.filter((s) => s.applied);
  const average = (pick: (s: TrainStats) => number) =>
    applied.length === 0 ? 0 : applied.reduce((sum, s) => sum + pick(s), 0) / applied.length;
  return {
    ...report,
    steps: stats.length,
    skipped: guard.skipped,
    episodes: learned.length,
    tokens: settings.epochs * learned.reduce((sum, { rollout }) => sum + rollout.stream.tokens.length, 0),
    loss: average((s) => s.loss),
    gradNorm: average((s) => s.gradNorm),
    entropy: average((s) => s.entropy),
    kl: average((s) => s.kl),
    clipFraction: average((s) => s.clipFraction),
    logProbGap: stats[0]?.applied ? stats[0].logProbGap : 0,
    referenceKl,
    valueLoss: credit?.value ? average((s) => s.value?.loss ?? 0) : null,
    explainedVariance: credit?.value?.explainedVariance ?? null,
    maskedEpisodes: muted.filter(Boolean).length,
    state: {
      klCoef: referenceKl === null ? klCoef : nextKlCoef(klCoef, referenceKl, settings, kept.length),
      skippedInARow: guard.inARow,
    },
  };
}

/** Its rate neither rises nor falls: a critic that starts late is one whose first advantages are only returns. */
function criticSettings({ valueClip, valueCoef, criticLearningRate }: LearnerSettings) {
  return { valueClip, trunkCoef: valueCoef, learningRate: criticLearningRate };
}

/** Reference, critic, sampler correction and advantages of the kept rollouts; those that are muted bear no loss. */
async function prepare(input: UpdateInput, kept: readonly Rollout[], muted: readonly boolean[], klCoef: number) {
  const { settings, kernels, policy } = input;
  if (kept.length === 0) return { samples: [], referenceKl: null, credit: null };
  const tokens = kept.map((rollout) => rollout.stream.tokens);
  const starts = offsets(tokens.map((t) => t.length));
  const sampler: Float32Array[] = kept.map(({ stream }) => Float32Array.from(stream.logProbs));
  const mask = Uint32Array.from(
    kept.flatMap(({ stream }) => stream.turns.map((turn, t) => (turn >= 0 && t > 0 ? 1 : 0))),
  );

  let old: Float32Array[] = sampler;
  let factors: Float32Array[] | null = null;
  if (settings.importanceCorrection !== 'off') {
    old = await policy.score(tokens);
    const both = { starts, mask, trainer: joined(old), sampler: joined(sampler) };
    const factor = await kernels.correction(both, settings.importanceCorrection, settings.importanceCap);
    factors = split(factor, starts);
  }

  const reference = settings.klCoef > 0 && input.reference ? await input.reference(tokens) : null;
  let prices: Float32Array[] | undefined;
  let referenceKl: number | null = null;
  if (reference && (settings.klPlacement === 'reward' || settings.klTarget > 0)) {
    const kl = await kernels.kl(joined(old), joined(reference), mask, settings.klEstimator);
    const acting = mask.reduce((a, b) => a + b, 0);
    referenceKl = acting === 0 ? 0 : kl.reduce((a, b) => a + b, 0) / acting;
    if (settings.klPlacement === 'reward') {
      const price = kl.map((x) => klCoef * x);
      prices = split(price, starts);
    }
  }

  const values = settings.advantage === 'gae' ? await criticValues(policy, tokens) : undefined;
  const credit: Credit = await estimateCredit({ rollouts: kept, settings, kernels, prices, values, muted });
  const samples = kept.map((rollout, i): Sample => {
    const advantages = credit.advantages[i];
    rollout.trajectory.advantage = meanAdvantage(rollout, advantages);
    // min and clip are homogeneous in the advantage, so a factor on it is a factor on the loss.
    const factor = factors?.[i];
    return {
      rollout,
      advantages: factor ? advantages.map((a, t) => a * factor[t]) : advantages,
      oldLogProbs: old[i],
      ...(reference && settings.klPlacement === 'loss' ? { refLogProbs: reference[i] } : {}),
      ...(credit.value ? { oldValues: credit.value.old[i], returns: credit.value.returns[i] } : {}),
    };
  });
  return { samples: samples.filter((_, i) => !muted[i]), referenceKl, credit };
}

async function criticValues(policy: UpdateInput['policy'], tokens: readonly (readonly number[])[]) {
  if (policy.values) return policy.values(tokens);
  throw new DreamError(
    'no-critic',
    'This model cannot have a critic, which PPO needs.',
    'Choose an algorithm without one, such as grpo or rloo.',
  );
}

/**
 * Samples that can move the policy. GiGPO keeps a group whose episodes were all alike as long as its turns were not; where
 * nothing at all was better or worse than expected no step is taken, for Adam would move on its memory alone.
 */
function withSignal(samples: readonly Sample[], { advantage }: LearnerSettings): Sample[] {
  if (advantage === 'gae') return [...samples];
  const speaks = (sample: Sample): boolean => sample.advantages.some((a) => a !== 0);
  if (advantage === 'anchor-groups') {
    const groups = new Set(samples.filter(speaks).map(({ rollout }) => rollout.trajectory.group));
    return samples.filter(({ rollout }) => groups.has(rollout.trajectory.group));
  }
  return samples.some(speaks) ? [...samples] : [];
}

function meanAdvantage({ stream }: Rollout, advantages: Float32Array): number {
  const own = advantages.filter((_, t) => stream.turns[t] >= 0);
  if (own.length === 0) return 0;
  // Of an episode praised as a whole, exactly that praise.
  if (own.every((a) => a === own[0])) return own[0];
  return own.reduce((a, b) => a + b, 0) / own.length;
}

/** Training sequences of one mini-batch: observations masked, log-probabilities as the sampler reported them. */
function trainSequences(
  batch: readonly Sample[],
  settings: Pick<LearnerSettings, 'aggregation' | 'sampleUnit' | 'importanceLevel' | 'valueLevel'>,
  horizon: number,
): TrainSequence[] {
  const streams = batch.map(({ rollout }) => rollout.stream);
  const weights = lossWeights(streams, settings.aggregation, settings.sampleUnit, horizon);
  return batch.map(({ rollout: { stream }, advantages, oldLogProbs, refLogProbs, oldValues, returns }, i) => ({
    tokens: stream.tokens,
    weights: weights[i],
    oldLogProbs,
    advantages,
    ...(settings.importanceLevel === 'sequence' && settings.sampleUnit === 'step' ? { samples: stream.turns } : {}),
    ...(refLogProbs ? { refLogProbs } : {}),
    ...(oldValues ? { oldValues, returns } : {}),
    ...(oldValues && settings.valueLevel === 'turn' ? { valueWeights: turnWeights(stream.turns, weights[i]) } : {}),
  }));
}

/** A turn's whole weight on its first token, the only one whose value is asked. */
function turnWeights(turns: readonly number[], weights: Float32Array): Float32Array {
  const result = new Float32Array(weights.length);
  let first = -1;
  weights.forEach((weight, t) => {
    if (weight === 0) return;
    if (first < 0 || turns[t] !== turns[first]) first = t;
    result[first] += weight;
  });
  return result;
}
