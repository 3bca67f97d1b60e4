/** @file Rotary position embedding: launcher of shaders/rope.wgsl. */
import source from '../../shaders/rope.wgsl?raw';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';

export class Rope {
  private readonly kernel;
  constructor(
    gpu: Gpu,
    private readonly theta: number,
  ) {
    this.kernel = gpu.kernel(source, 'rope');
  }

  /**
   * Rotates the first `heads` heads (queries, then keys) of qkv[t, width] in place.
   * @param direction +1 forward, -1 for gradients
   */
  record(
    rec: Recorder,
    rows: GpuBuffer,
    qkv: GpuBuffer,
    t: number,
    heads: number,
    headDim: number,
    width: number,
    direction: 1 | -1,
  ): void {
    const half = headDim / 2;
    const u32 = [t, heads, half, width];
    rec.dispatch(this.kernel, [rows, qkv], [Math.ceil((heads * half) / 64), t], u32, [this.theta, direction]);
  }
}
