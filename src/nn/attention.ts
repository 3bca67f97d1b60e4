/**
 * @file Causal grouped-query attention over ragged sequences: launcher of shaders/attention.wgsl and, where a short timing
 * on this very device says so (attention-tuning.ts), of shaders/attention-subgroup.wgsl and attention-decode-subgroup.wgsl.
 *
 * All variants add in the same order, so the choice changes the speed and not the result.
 */
import { DreamError } from '../data/errors';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Kernel } from '../gpu/kernels';
import type { Recorder } from '../gpu/recorder';
import { AttentionKernels, type SubgroupKernels } from './attention-kernels';
import type { AttentionTiles } from './attention-tiles';
import { type AttentionTuning, tuneAttention } from './attention-tuning';
import type { DecoderConfig } from './config';
import { cacheBytes, type Precision } from './precision';

export type AttentionVariant = 'plain' | 'subgroup';

export class Attention {
  /** Used where a call brings tiles; calls without them are plain. */
  variant: AttentionVariant = 'plain';
  /** Used for the cache where a call brings no tiles: single tokens. */
  decodeVariant: AttentionVariant = 'plain';
  /** vec4s in one row of qkv. */
  readonly qWidth4: number;
  /** Quadruples of numbers in one row of the KV cache (keys, then values). */
  readonly kvWidth4: number;
  private readonly kernels: AttentionKernels;
  private readonly scale: number;
  private readonly head4: number;
  private form: Precision = 'f32';

  constructor(
    private readonly gpu: Gpu,
    readonly config: DecoderConfig,
  ) {
    this.head4 = config.headDim / 4;
    this.qWidth4 = (config.heads + 2 * config.kvHeads) * this.head4;
    this.kvWidth4 = 2 * config.kvHeads * this.head4;
    this.scale = 1 / Math.sqrt(config.headDim);
    this.kernels = new AttentionKernels(gpu, config);
  }

  /** True once `tune` has compiled the subgroup kernels. */
  get hasSubgroupVariant(): boolean {
    return this.kernels.subgroup !== null;
  }

  /** What caches hold. */
  get precision(): Precision {
    return this.form;
  }

  /** Bytes of one token's row in a cache. */
  get cacheRowBytes(): number {
    return this.kvWidth4 * 4 * cacheBytes[this.form];
  }

  /** Caches made from now on hold this; after `tune`, before any cache is used. Await `gpu.ready()` then. */
  useCache(precision: Precision): void {
    if (precision === 'f16') this.kernels.askHalf();
    this.form = precision;
  }

  private params(kvWidth4: number, kOffset4: number, vOffset4: number): number[] {
    return [this.config.kvHeads, this.qWidth4, kvWidth4, kOffset4, vOffset4];
  }

  private groups(t: number): [number] {
    return [Math.ceil((t * this.config.kvHeads) / 32)];
  }

  /** The subgroup kernels if they are chosen and the caller brought tiles. */
  private tiled(
    tiles: AttentionTiles | undefined,
  ): { kernels: SubgroupKernels; tiles: AttentionTiles; groups: [number, number] } | null {
    const { subgroup } = this.kernels;
    if (!tiles || !subgroup || this.variant !== 'subgroup') return null;
    return { kernels: subgroup, tiles, groups: [tiles.count, this.config.kvHeads] };
  }

  /** Within one batch of whole sequences: keys and values are the batch's own rows of qkv. */
  forward(
    rec: Recorder,
    qkv: GpuBuffer,
    rows: GpuBuffer,
    o: GpuBuffer,
    lse: GpuBuffer,
    t: number,
    meanKeys: number,
    tiles?: AttentionTiles,
  ): void {
    const k = this.config.heads * this.head4;
    const params = this.params(this.qWidth4, k, k + this.kvWidth4 / 2);
    this.attend(rec, [qkv, qkv, rows, o, lse], 'f32', t, meanKeys, params, tiles);
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
    tiles?: AttentionTiles,
  ): void {
    const params = this.params(this.kvWidth4, 0, this.kvWidth4 / 2);
    const { subgroup } = this.kernels;
    if (tiles || !subgroup || this.decodeVariant !== 'subgroup') {
      this.attend(rec, [qkv, cache, rows, o, lse], this.form, t, meanKeys, params, tiles);
      return;
    }
    const kernel = present(subgroup.decode[this.form]);
    rec.work(this.operations(t, meanKeys));
    rec.dispatch(kernel, [qkv, cache, rows, o, lse], [t, this.config.kvHeads], params, [this.scale]);
  }

  private attend(
    rec: Recorder,
    [q, kv, rows, o, lse]: [GpuBuffer, GpuBuffer, GpuBuffer, GpuBuffer, GpuBuffer],
    form: Precision,
    t: number,
    meanKeys: number,
    params: number[],
    tiles: AttentionTiles | undefined,
  ): void {
    rec.work(this.operations(t, meanKeys));
    const fast = this.tiled(tiles);
    if (fast) {
      const kernel = present(fast.kernels.forward[form]);
      rec.dispatch(kernel, [q, kv, fast.tiles.buffer, o, lse], fast.groups, params, [this.scale]);
    } else {
      const kernel = present(this.kernels.plain.forward[form]);
      rec.dispatch(kernel, [q, kv, rows, o, lse], this.groups(t), [t, ...params], [this.scale]);
    }
  }

  private operations(t: number, meanKeys: number): number {
    return 4 * t * meanKeys * this.config.heads * this.config.headDim;
  }

  /** Keys and values of the newest tokens into the cache, in its precision. */
  store(rec: Recorder, qkv: GpuBuffer, rows: GpuBuffer, cache: GpuBuffer, t: number): void {
    const u32 = [t, this.qWidth4, this.kvWidth4, this.config.heads * this.head4];
    const kernel = present(this.kernels.store[this.form]);
    rec.dispatch(kernel, [qkv, rows, cache], [Math.ceil(this.kvWidth4 / 32), t], u32);
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
    tiles?: AttentionTiles,
  ): void {
    const k = this.config.heads * this.head4;
    const params = this.params(this.qWidth4, k, k + this.kvWidth4 / 2);
    const pairs = t * meanKeys * this.config.heads * this.config.headDim;
    const fast = this.tiled(tiles);
    if (fast) {
      const { kernels, groups } = fast;
      const { buffer } = fast.tiles;
      rec.work(6 * pairs);
      rec.dispatch(kernels.dq, [qkv, buffer, o, dO, lse, dqkv, delta], groups, params, [this.scale]);
      rec.work(8 * pairs);
      rec.dispatch(kernels.dkv, [qkv, buffer, ends, dO, lse, delta, dqkv], groups, params, [this.scale]);
      return;
    }
    const { plain } = this.kernels;
    rec.work(6 * pairs);
    rec.dispatch(plain.dq, [qkv, rows, o, dO, lse, dqkv, delta], this.groups(t), [t, ...params], [this.scale]);
    rec.work(8 * pairs);
    rec.dispatch(plain.dkv, [qkv, ends, dO, lse, delta, dqkv], this.groups(t), [t, ...params], [this.scale]);
  }

  /** Compiles the subgroup kernels where the device can, and keeps for each shape what is faster and gives the same bits. */
  async tune(): Promise<AttentionTuning> {
    await this.gpu.ready();
    this.variant = 'plain';
    this.decodeVariant = 'plain';
    if (!(await this.kernels.compileSubgroup())) return { variant: 'plain', decodeVariant: 'plain', milliseconds: {} };
    const result = await tuneAttention(this.gpu, this);
    this.variant = result.variant;
    this.decodeVariant = result.decodeVariant;
    return result;
  }
}

function present(kernel: Kernel | null): Kernel {
  if (kernel) return kernel;
  throw new DreamError(
    'kernel-not-ready',
    'Attention was asked to read a cache whose kernels were not compiled.',
    'Please report this defect.',
  );
}
