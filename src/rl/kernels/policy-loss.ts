/**
 * @file Launcher of shaders/policy-loss.wgsl: the clipped policy loss and the SFT loss, as gradients and statistics.
 *
 * The loss itself is never stored per token: the backward pass needs only its gradients, the person only its sums.
 */
import source from '../../../shaders/policy-loss.wgsl?raw';
import type { GpuBuffer } from '../../gpu/buffers';
import type { Gpu } from '../../gpu/device';
import type { Recorder } from '../../gpu/recorder';

export interface PolicyLossSettings {
  clipLow: number;
  clipHigh: number;
  /** Caps the loss where the advantage is negative (verl's c = 3); 0 = off. */
  dualClip: number;
  /** Weight of k3 against the reference; 0 = `refLogProbs` is not needed. */
  klCoef: number;
  entropyCoef: number;
}

/** All f32 [n]; `stats` is f32 [8], see `readLossStats`. */
export interface SftLossBuffers {
  n: number;
  logProbs: GpuBuffer;
  /** Mask x aggregation; 0 = no loss, and the token's other numbers are ignored. */
  weights: GpuBuffer;
  entropy: GpuBuffer;
  /** dL / d log-prob. */
  gradLogProb: GpuBuffer;
  /** dL / d entropy. */
  gradEntropy: GpuBuffer;
  stats: GpuBuffer;
  /** true: add to `stats` (a later micro-batch of the same step); otherwise they are replaced. */
  accumulate?: boolean;
}

export interface PolicyLossBuffers extends SftLossBuffers {
  oldLogProbs: GpuBuffer;
  refLogProbs?: GpuBuffer;
  advantages: GpuBuffer;
}

export class PolicyLoss {
  private readonly policyLoss;
  private readonly policyStats;
  private readonly sftLoss;
  private readonly sftStats;

  constructor(gpu: Gpu) {
    this.policyLoss = gpu.kernel(source, 'policy_loss');
    this.policyStats = gpu.kernel(source, 'policy_stats');
    this.sftLoss = gpu.kernel(source, 'sft_loss');
    this.sftStats = gpu.kernel(source, 'sft_stats');
  }

  record(rec: Recorder, b: PolicyLossBuffers, settings: PolicyLossSettings): void {
    const u32 = [b.n, b.accumulate ? 1 : 0];
    // Without a reference its coefficient is 0 whatever was asked for, and any buffer may stand in its place.
    const klCoef = b.refLogProbs ? settings.klCoef : 0;
    const f32 = [settings.clipLow, settings.clipHigh, settings.dualClip, klCoef, settings.entropyCoef];
    const inputs = [b.logProbs, b.oldLogProbs, b.refLogProbs ?? b.oldLogProbs, b.advantages, b.weights];
    rec.dispatch(this.policyLoss, [...inputs, b.gradLogProb, b.gradEntropy], [Math.ceil(b.n / 64)], u32, f32);
    rec.dispatch(this.policyStats, [...inputs, b.entropy, b.stats], [1], u32, f32);
  }

  recordSft(rec: Recorder, b: SftLossBuffers): void {
    const u32 = [b.n, b.accumulate ? 1 : 0];
    rec.dispatch(this.sftLoss, [b.weights, b.gradLogProb, b.gradEntropy], [Math.ceil(b.n / 64)], u32);
    rec.dispatch(this.sftStats, [b.logProbs, b.weights, b.entropy, b.stats], [1], u32);
  }
}

/** What `stats` says: the loss is a weighted sum, the others are means over the tokens with weight. */
export interface LossStats {
  loss: number;
  tokens: number;
  entropy: number;
  /** k3 against the log-probabilities at sampling time. */
  kl: number;
  /** k3 against the reference; 0 without one. */
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
