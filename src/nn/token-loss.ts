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

export interface TokenLoss {
  recordSft(rec: Recorder, buffers: TokenLossBuffers): void;
  record(
    rec: Recorder,
    buffers: TokenLossBuffers & { oldLogProbs: GpuBuffer; refLogProbs?: GpuBuffer; advantages: GpuBuffer },
    settings: { clipLow: number; clipHigh: number; dualClip: number; klCoef: number; entropyCoef: number },
  ): void;
}

/** Meaning of `stats`, see shaders/policy-loss.wgsl. */
export const stat = { loss: 0, entropy: 1, kl: 2, clipped: 3, tokens: 4, logProbGap: 5 } as const;
