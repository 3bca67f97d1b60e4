/**
 * @file The arithmetic of credit, as the learner asks for it: kernels on the GPU in the program (kernels/advantages.ts),
 * plain code in tests.
 */
import type { KlEstimator } from './kernels/kl';

/** How the return of a rollout is compared within its group. */
export type GroupBaseline = 'group-std' | 'group-mean' | 'batch-std' | 'leave-one-out';

/** What is done where the trainer's log-probability of a sampled token is not the sampler's. */
export type CorrectionMode = 'token-truncate' | 'token-mask' | 'sequence-truncate' | 'sequence-mask';

/** Entries (tokens or turns) of several sequences, end to end. */
export interface Entries {
  /** u32 [sequences + 1]: sequence s is starts[s] .. starts[s + 1]. */
  starts: Uint32Array;
  /** u32 [n]: 0 = an observation, 1 = the policy acted, 2 = and time stood still: what follows is not discounted. */
  mask: Uint32Array;
}

export interface AdvantageKernels {
  /** (returns [n], group id of each [n]) -> advantages [n]. A group of one, or of equal returns, gets 0. */
  group(returns: Float32Array, groupIds: Int32Array, baseline: GroupBaseline): Promise<Float32Array>;
  /** Discounted sums of what follows: [n]. */
  returns(entries: Entries & { rewards: Float32Array }, gamma: number): Promise<Float32Array>;
  /** Generalised advantages and the critic's targets, both [n]. */
  gae(
    entries: Entries & { rewards: Float32Array; values: Float32Array },
    gamma: number,
    lambda: number,
  ): Promise<{ advantages: Float32Array; returns: Float32Array }>;
  /** Mean 0 and variance 1 over the entries with a mask, 0 elsewhere: [n]. */
  whiten(values: Float32Array, mask: Uint32Array): Promise<Float32Array>;
  /** Per-token estimate of KL(policy || reference), 0 where the mask is: [n]. */
  kl(
    logProbs: Float32Array,
    refLogProbs: Float32Array,
    mask: Uint32Array,
    estimator: KlEstimator,
  ): Promise<Float32Array>;
  /** Bounded exp(trainer - sampler), 0 where the mask is: [n]. */
  correction(
    entries: Entries & { trainer: Float32Array; sampler: Float32Array },
    mode: CorrectionMode,
    cap: number,
  ): Promise<Float32Array>;
}
