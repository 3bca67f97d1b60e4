/**
 * @file Launcher of shaders/returns.wgsl: discounted returns over ragged sequences of steps or tokens.
 */
import source from '../../../shaders/returns.wgsl?raw';
import type { GpuBuffer } from '../../gpu/buffers';
import type { Gpu } from '../../gpu/device';
import type { Recorder } from '../../gpu/recorder';

export interface ReturnsBuffers {
  sequences: number;
  /** u32 [sequences + 1]. */
  starts: GpuBuffer;
  /** f32 [n]. */
  rewards: GpuBuffer;
  /**
   * u32 [n]: 1 = the policy acted here, 2 = and what follows is not discounted; 0 carries the
   * running return unchanged.
   */
  mask: GpuBuffer;
  /** f32 [n]. */
  returns: GpuBuffer;
}

export class Returns {
  private readonly kernel;

  constructor(gpu: Gpu) {
    this.kernel = gpu.kernel(source, 'discounted_returns');
  }

  record(rec: Recorder, b: ReturnsBuffers, gamma: number): void {
    rec.dispatch(
      this.kernel,
      [b.starts, b.rewards, b.mask, b.returns],
      [Math.ceil(b.sequences / 64)],
      [b.sequences],
      [gamma],
    );
  }
}
