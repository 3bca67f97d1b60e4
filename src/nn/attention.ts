/** @file Causal grouped-query attention over ragged sequences: launcher of shaders/attention.wgsl. */
import kvSource from '../../shaders/kv-cache.wgsl?raw';
import source from '../../shaders/attention.wgsl?raw';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';
import type { DecoderConfig } from './config';

export class Attention {
  private readonly forwardKernel;
  private readonly dqKernel;
  private readonly dkvKernel;
  private readonly storeKernel;
  private readonly scale: number;
  private readonly head4: number;
  /** vec4s in one row of qkv. */
  readonly qWidth4: number;
  /** vec4s in one row of the KV cache (keys, then values). */
  readonly kvWidth4: number;

  constructor(
    gpu: Gpu,
    private readonly config: DecoderConfig,
  ) {
    this.head4 = config.headDim / 4;
    this.qWidth4 = (config.heads + 2 * config.kvHeads) * this.head4;
    this.kvWidth4 = 2 * config.kvHeads * this.head4;
    this.scale = 1 / Math.sqrt(config.headDim);
    const constants = `const HEAD4 = ${this.head4}u;\nconst GROUP = ${config.heads / config.kvHeads}u;\n`;
    this.forwardKernel = gpu.kernel(constants + source, 'attention_forward');
    this.dqKernel = gpu.kernel(constants + source, 'attention_backward_dq');
    this.dkvKernel = gpu.kernel(constants + source, 'attention_backward_dkv');
    this.storeKernel = gpu.kernel(kvSource, 'kv_store');
  }

  private params(t: number, kvWidth4: number, kOffset4: number, vOffset4: number): number[] {
    return [t, this.config.kvHeads, this.qWidth4, kvWidth4, kOffset4, vOffset4];
  }

  private groups(t: number): [number] {
    return [Math.ceil((t * this.config.kvHeads) / 32)];
  }

  /** Within one batch of whole sequences: keys and values are the batch's own rows of qkv. */
  forward(rec: Recorder, qkv: GpuBuffer, rows: GpuBuffer, o: GpuBuffer, lse: GpuBuffer, t: number, meanKeys: number): void {
    const k = this.config.heads * this.head4;
    rec.work(4 * t * meanKeys * this.config.heads * this.config.headDim);
    const u32 = this.params(t, this.qWidth4, k, k + this.kvWidth4 / 2);
    rec.dispatch(this.forwardKernel, [qkv, qkv, rows, o, lse], this.groups(t), u32, [this.scale]);
  }

  /** Against the KV cache, which must already hold these tokens' keys and values (`store`). */
  forwardCached(
    rec: Recorder,
    qkv: GpuBuffer,
    cache: GpuBuffer,
    rows: GpuBuffer,
    o: GpuBuffer,
    lse: GpuBuffer,
    t: number,
    meanKeys: number,
  ): void {
    rec.work(4 * t * meanKeys * this.config.heads * this.config.headDim);
    const u32 = this.params(t, this.kvWidth4, 0, this.kvWidth4 / 2);
    rec.dispatch(this.forwardKernel, [qkv, cache, rows, o, lse], this.groups(t), u32, [this.scale]);
  }

  store(rec: Recorder, qkv: GpuBuffer, rows: GpuBuffer, cache: GpuBuffer, t: number): void {
    const u32 = [t, this.qWidth4, this.kvWidth4, this.config.heads * this.head4];
    rec.dispatch(this.storeKernel, [qkv, rows, cache], [Math.ceil(this.kvWidth4 / 32), t], u32);
  }

  /** dqkv[t, width] from d_o[t, heads * headDim]; `delta`[t, heads] is scratch. */
  backward(
    rec: Recorder,
    qkv: GpuBuffer,
    rows: GpuBuffer,
    ends: GpuBuffer,
    o: GpuBuffer,
    dO: GpuBuffer,
    lse: GpuBuffer,
    delta: GpuBuffer,
    dqkv: GpuBuffer,
    t: number,
    meanKeys: number,
  ): void {
    const k = this.config.heads * this.head4;
    const u32 = this.params(t, this.qWidth4, k, k + this.kvWidth4 / 2);
    rec.work(10 * t * meanKeys * this.config.heads * this.config.headDim);
    rec.dispatch(this.dqKernel, [qkv, rows, o, dO, lse, dqkv, delta], this.groups(t), u32, [this.scale]);
    rec.dispatch(this.dkvKernel, [qkv, ends, dO, lse, delta, dqkv], this.groups(t), u32, [this.scale]);
  }
}
