/**
 * @file Launcher of shaders/policy-loss.wgsl (the clipped policy loss and the SFT loss, as gradients and statistics), of
 * sequence-ratio.wgsl before it where a ratio belongs to a whole sample, and of value-loss.wgsl beside it.
 *
 * The loss itself is never stored per token: the backward pass needs only its gradients, the person only its sums.
 */
import source from '../../../shaders/policy-loss.wgsl?raw';
import ratioSource from '../../../shaders/sequence-ratio.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import type { Recorder } from '../../gpu/recorder';
import type { PolicyTokenBuffers, TokenLoss, TokenLossBuffers, ValueLossBuffers } from '../../nn/token-loss';
import { type KlEstimator, klKinds } from './kl';
import { ValueLoss } from './value-loss';

/** A ratio per token (PPO), or the mean log-ratio of its whole sample for each of its tokens (GSPO). */
export type ImportanceLevel = 'token' | 'sequence';

export interface PolicyLossSettings {
  clipLow: number;
  clipHigh: number;
  /** Caps the loss where the advantage is negative (verl's c = 3); 0 = off. */
  dualClip: number;
  /** Weight of the KL estimate against the reference; 0 = `refLogProbs` is not needed. */
  klCoef: number;
  entropyCoef: number;
  /** k3 by default. */
  klEstimator?: KlEstimator;
  /** 'token' by default; 'sequence' needs `perSample`. */
  importance?: ImportanceLevel;
}

/** All f32 [n]; `stats` is f32 [8], see `readLossStats`. */
export type SftLossBuffers = TokenLossBuffers;
export type PolicyLossBuffers = PolicyTokenBuffers;

export class PolicyLoss implements TokenLoss {
  private readonly policyLoss;
  private readonly policyStats;
  private readonly sftLoss;
  private readonly sftStats;
  private readonly ratio;
  private value: ValueLoss | null = null;

  constructor(private readonly gpu: Gpu) {
    this.policyLoss = gpu.kernel(source, 'policy_loss');
    this.policyStats = gpu.kernel(source, 'policy_stats');
    this.sftLoss = gpu.kernel(source, 'sft_loss');
    this.sftStats = gpu.kernel(source, 'sft_stats');
    this.ratio = gpu.kernel(ratioSource, 'sequence_ratio');
  }

  record(rec: Recorder, b: PolicyLossBuffers, settings: PolicyLossSettings): void {
    // Without a reference its coefficient is 0 whatever was asked for, and any buffer may stand in its place.
    const klCoef = b.refLogProbs ? settings.klCoef : 0;
    const perSample = settings.importance === 'sequence' ? b.perSample : undefined;
    const u32 = [b.n, b.accumulate ? 1 : 0, klKinds[settings.klEstimator ?? 'k3'], perSample ? 1 : 0];
    const f32 = [settings.clipLow, settings.clipHigh, settings.dualClip, klCoef, settings.entropyCoef];
    if (perSample) {
      const { samples, starts, logRatio } = perSample;
      const tokens = [b.logProbs, b.oldLogProbs, b.weights];
      rec.dispatch(this.ratio, [starts, ...tokens, logRatio], [Math.ceil(samples / 64)], [samples]);
    }
    const inputs = [b.logProbs, b.oldLogProbs, b.refLogProbs ?? b.oldLogProbs, b.advantages, b.weights];
    const ratio = perSample?.logRatio ?? b.oldLogProbs;
    rec.dispatch(this.policyLoss, [...inputs, b.gradLogProb, b.gradEntropy, ratio], [Math.ceil(b.n / 64)], u32, f32);
    rec.dispatch(this.policyStats, [...inputs, b.entropy, b.stats, ratio], [1], u32, f32);
  }

  recordSft(rec: Recorder, b: SftLossBuffers): void {
    const u32 = [b.n, b.accumulate ? 1 : 0];
    rec.dispatch(this.sftLoss, [b.weights, b.gradLogProb, b.gradEntropy], [Math.ceil(b.n / 64)], u32);
    rec.dispatch(this.sftStats, [b.logProbs, b.weights, b.entropy, b.stats], [1], u32);
  }

  /** Most runs have no critic: its kernels are compiled when one learns. */
  prepareValue(): void {
    this.value ??= new ValueLoss(this.gpu);
  }

  recordValue(rec: Recorder, b: ValueLossBuffers, settings: { valueClip: number }): void {
    this.prepareValue();
    this.value!.record(rec, b, settings.valueClip);
  }
}

/** What `stats` says: the loss is a weighted sum, the others are means over the tokens with weight. */
export interface LossStats {
  loss: number;
  tokens: number;
  entropy: number;
  /** k3 against the log-probabilities at sampling time. */
  kl: number;
  /** The KL estimate against the reference; 0 without one. */
  refKl: number;
  clipFraction: number;
  /** The part of clipFraction whose ratio was too large. */
  clipFractionHigh: number;
  /** Mean |log-prob now - log-prob at sampling|. */
  logProbGap: number;
}

export function readLossStats(stats: ArrayLike<number>): LossStats {
  const tokens = stats[4];
  const mean = (i: number) => (tokens === 0 ? 0 : stats[i] / tokens);
  return {
    loss: stats[0],
    tokens,
    entropy: mean(1),
    kl: mean(2),
    refKl: mean(6),
    clipFraction: mean(3),
    clipFractionHigh: mean(7),
    logProbGap: mean(5),
  };
}
