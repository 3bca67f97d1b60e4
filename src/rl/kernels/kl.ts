/**
 * @file Launcher of shaders/kl.wgsl: per-token estimates of KL(policy || reference) with their gradients.
 */
import source from '../../../shaders/kl.wgsl?raw';
import type { GpuBuffer } from '../../gpu/buffers';
import type { Gpu } from '../../gpu/device';
import type { Recorder } from '../../gpu/recorder';

/** k1 is unbiased and noisy, k2 biased with the right gradient in expectation, k3 unbiased and never negative. */
export type KlEstimator = 'k1' | 'k2' | 'k3';

/** The codes of `kind` in the shaders. */
export const klKinds: Record<KlEstimator, number> = { k1: 1, k2: 2, k3: 3 };

/** All f32 [n]. */
export interface KlBuffers {
  n: number;
  logProbs: GpuBuffer;
  refLogProbs: GpuBuffer;
  /** Factors of `kl` and `gradLogProb`; 0 = masked. */
  weights: GpuBuffer;
  kl: GpuBuffer;
  gradLogProb: GpuBuffer;
}

export class Kl {
  private readonly kernel;

  constructor(gpu: Gpu) {
    this.kernel = gpu.kernel(source, 'kl_estimate');
  }

  record(rec: Recorder, b: KlBuffers, estimator: KlEstimator): void {
    rec.dispatch(
      this.kernel,
      [b.logProbs, b.refLogProbs, b.weights, b.kl, b.gradLogProb],
      [Math.ceil(b.n / 64)],
      [b.n, klKinds[estimator]],
    );
  }
}
