/**
 * @file Launcher of shaders/gae.wgsl: generalised advantage estimation with masked (observation) entries, and whitening.
 */
import source from '../../../shaders/gae.wgsl?raw';
import type { GpuBuffer } from '../../gpu/buffers';
import type { Gpu } from '../../gpu/device';
import type { Recorder } from '../../gpu/recorder';

export interface GaeBuffers {
  sequences: number;
  /** u32 [sequences + 1]. */
  starts: GpuBuffer;
  /** f32 [n]. */
  rewards: GpuBuffer;
  /** f32 [n]: the critic's V. */
  values: GpuBuffer;
  /** u32 [n]: 1 = the policy acted here, 2 = and what follows is not discounted. */
  mask: GpuBuffer;
  /** f32 [n]. */
  advantages: GpuBuffer;
  /** f32 [n]: targets of the critic, advantage + value, before whitening. */
  returns: GpuBuffer;
}

export interface WhitenBuffers {
  n: number;
  /** u32 [n]. */
  mask: GpuBuffer;
  /** f32 [n], replaced. */
  advantages: GpuBuffer;
  /** f32 [2], scratch: mean and scale. */
  moments: GpuBuffer;
}

export class Gae {
  private readonly estimate;
  private readonly moments;
  private readonly apply;

  constructor(gpu: Gpu) {
    this.estimate = gpu.kernel(source, 'gae');
    this.moments = gpu.kernel(source, 'whiten_moments');
    this.apply = gpu.kernel(source, 'whiten');
  }

  record(rec: Recorder, b: GaeBuffers, settings: { gamma: number; lambda: number }): void {
    rec.dispatch(
      this.estimate,
      [b.starts, b.rewards, b.values, b.mask, b.advantages, b.returns],
      [Math.ceil(b.sequences / 64)],
      [b.sequences, 0],
      [settings.gamma, settings.lambda],
    );
  }

  /** Mean 0, variance 1 over the unmasked entries; masked ones become 0. */
  recordWhiten(rec: Recorder, b: WhitenBuffers): void {
    const params = [0, b.n];
    rec.dispatch(this.moments, [b.mask, b.advantages, b.moments], [1], params);
    rec.dispatch(this.apply, [b.mask, b.moments, b.advantages], [Math.ceil(b.n / 64)], params);
  }
}
