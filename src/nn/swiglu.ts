/** @file SwiGLU: launcher of shaders/swiglu.wgsl. */
import source from '../../shaders/swiglu.wgsl?raw';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';

export class SwiGlu {
  private readonly forwardKernel;
  private readonly backwardKernel;
  constructor(gpu: Gpu) {
    this.forwardKernel = gpu.kernel(source, 'swiglu_forward');
    this.backwardKernel = gpu.kernel(source, 'swiglu_backward');
  }

  /** y[t, f] = silu(gate) * up of gu[t, 2f] = [gate | up]. */
  forward(rec: Recorder, gu: GpuBuffer, y: GpuBuffer, t: number, f: number): void {
    rec.dispatch(this.forwardKernel, [gu, y], [Math.ceil(f / 4 / 64), t], [t, f / 4]);
  }

  /** dgu[t, 2f] from dy[t, f]. */
  backward(rec: Recorder, gu: GpuBuffer, dy: GpuBuffer, dgu: GpuBuffer, t: number, f: number): void {
    rec.dispatch(this.backwardKernel, [gu, dy, dgu], [Math.ceil(f / 4 / 64), t], [t, f / 4]);
  }
}
