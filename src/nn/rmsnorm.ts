/** @file RMSNorm, forward and backward: launcher of shaders/rmsnorm.wgsl. */
import source from '../../shaders/rmsnorm.wgsl?raw';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';
import type { Reduce } from './reduce';

export class RmsNorm {
  private readonly forwardKernel;
  private readonly backwardKernel;
  private readonly weightKernel;

  constructor(
    private readonly gpu: Gpu,
    private readonly reduce: Reduce,
    private readonly eps: number,
  ) {
    this.forwardKernel = gpu.kernel(source, 'rmsnorm_forward');
    this.backwardKernel = gpu.kernel(source, 'rmsnorm_backward');
    this.weightKernel = gpu.kernel(source, 'rmsnorm_backward_weight');
  }

  /** y[t, d] = norm(x[t, d]) * weight[d]; keeps 1 / rms per row in scale[t]. */
  forward(rec: Recorder, x: GpuBuffer, weight: GpuBuffer, y: GpuBuffer, scale: GpuBuffer, t: number, d: number): void {
    rec.dispatch(this.forwardKernel, [x, weight, y, scale], [Math.ceil(t / 64)], [t, d / 4], [this.eps]);
  }

  /** dx[t, d] += gradient; dweight[d] += gradient when given. */
  backward(
    rec: Recorder,
    x: GpuBuffer,
    weight: GpuBuffer,
    dy: GpuBuffer,
    scale: GpuBuffer,
    dx: GpuBuffer,
    dweight: GpuBuffer | null,
    t: number,
    d: number,
  ): void {
    rec.dispatch(this.backwardKernel, [x, weight, dy, scale, dx], [Math.ceil(t / 64)], [t, d / 4], [this.eps]);
    if (!dweight) return;
    const blocks = Math.ceil(t / 64);
    const partial = this.gpu.alloc(blocks * d * 4, 'rmsnorm partial');
    rec.dispatch(this.weightKernel, [x, dy, scale, partial], [Math.ceil(d / 4 / 32), blocks], [t, d / 4], [this.eps]);
    this.reduce.sumRows(rec, partial, dweight, blocks, d);
    partial.release();
  }
}
