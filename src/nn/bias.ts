/** @file A vector added to every row (Qwen2's q, k, v bias): launcher of shaders/bias.wgsl. */
import source from '../../shaders/bias.wgsl?raw';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';

export class Bias {
  private readonly kernel;

  constructor(gpu: Gpu) {
    this.kernel = gpu.kernel(source, 'add_bias');
  }

  /** y[t, d] += bias[d]; d a multiple of 4. */
  record(rec: Recorder, bias: GpuBuffer, y: GpuBuffer, t: number, d: number): void {
    rec.dispatch(this.kernel, [bias, y], [Math.ceil(d / 4 / 32), t], [t, d / 4]);
  }
}
