/** @file RMSNorm of each query and key head (Qwen3): launcher of shaders/head-norm.wgsl. */
import source from '../../shaders/head-norm.wgsl?raw';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';
import type { DecoderConfig } from './config';

export class HeadNorm {
  private readonly forwardKernel;
  private readonly backwardKernel;

  constructor(
    gpu: Gpu,
    private readonly config: DecoderConfig,
  ) {
    this.forwardKernel = gpu.kernel(source, 'head_norm_forward');
    this.backwardKernel = gpu.kernel(source, 'head_norm_backward');
  }

  /** Query and key heads of qkv[t, width] from those of raw; keeps 1 / rms in scale[t, heads + kvHeads]. */
  forward(rec: Recorder, raw: GpuBuffer, weight: GpuBuffer, qkv: GpuBuffer, scale: GpuBuffer, t: number): void {
    this.run(rec, this.forwardKernel, [raw, weight, qkv, scale], t);
  }

  /** dqkv[t, width] becomes the gradient of raw. */
  backward(rec: Recorder, raw: GpuBuffer, weight: GpuBuffer, dqkv: GpuBuffer, scale: GpuBuffer, t: number): void {
    this.run(rec, this.backwardKernel, [raw, weight, dqkv, scale], t);
  }

  private run(rec: Recorder, kernel: HeadNorm['forwardKernel'], bindings: GpuBuffer[], t: number): void {
    const { heads, kvHeads, headDim, normEps } = this.config;
    const turned = heads + kvHeads;
    const u32 = [t, heads, turned, headDim, (turned + kvHeads) * headDim];
    rec.dispatch(kernel, bindings, [Math.ceil((t * turned) / 64)], u32, [normEps]);
  }
}
