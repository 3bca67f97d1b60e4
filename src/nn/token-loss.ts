/** @file What the decoder needs from a loss: per-token gradients and statistics. rl/kernels/policy-loss.ts implements it. */
import type { GpuBuffer } from '../gpu/buffers';
import type { Recorder } from '../gpu/recorder';

/** All f32 [n] except stats f32 [8]. */
export interface TokenLossBuffers {
  n: number;
  logProbs: GpuBuffer;
  entropy: GpuBuffer;
  weights: GpuBuffer;
  gradLogProb: GpuBuffer;
  gradEntropy: GpuBuffer;
  stats: GpuBuffer;
  accumulate?: boolean;
}

/** For ratios per sample instead of per token. */
export interface SampleBuffers {
  samples: number;
  /** u32 [samples + 1]: where each sample's tokens begin. */
  starts: GpuBuffer;
  /** f32 [n], scratch. */
  logRatio: GpuBuffer;
}

export interface PolicyTokenBuffers extends TokenLossBuffers {
  oldLogProbs: GpuBuffer;
  refLogProbs?: GpuBuffer;
  advantages: GpuBuffer;
  /** Only for `importance: 'sequence'`. */
  perSample?: SampleBuffers;
}

/** All f32 [n] except stats f32 [4]. */
export interface ValueLossBuffers {
  n: number;
  values: GpuBuffer;
  oldValues: GpuBuffer;
  returns: GpuBuffer;
  weights: GpuBuffer;
  gradValues: GpuBuffer;
  stats: GpuBuffer;
  accumulate?: boolean;
}

export interface PolicyTokenSettings {
  clipLow: number;
  clipHigh: number;
  dualClip: number;
  klCoef: number;
  entropyCoef: number;
  klEstimator?: 'k1' | 'k2' | 'k3';
  importance?: 'token' | 'sequence';
}

export interface TokenLoss {
  recordSft(rec: Recorder, buffers: TokenLossBuffers): void;
  record(rec: Recorder, buffers: PolicyTokenBuffers, settings: PolicyTokenSettings): void;
  /** Asked for only when a critic learns; call `prepareValue` and await the device once before. */
  recordValue(rec: Recorder, buffers: ValueLossBuffers, settings: { valueClip: number }): void;
  prepareValue(): void;
}

/** Meaning of `stats`, see shaders/policy-loss.wgsl. */
export const stat = {
  loss: 0,
  entropy: 1,
  kl: 2,
  clipped: 3,
  tokens: 4,
  logProbGap: 5,
  refKl: 6,
  clippedHigh: 7,
} as const;

/** Meaning of the critic's, see shaders/value-loss.wgsl. */
export const valueStat = { loss: 0, clipped: 1, tokens: 2, error: 3 } as const;
