/**
 * @file Causal grouped-query attention over ragged sequences: launcher of shaders/attention.wgsl and, where a short timing
 * on this very device says so, of shaders/attention-subgroup.wgsl.
 *
 * Both variants add in the same order, so the choice changes the speed and not the result.
 */
import source from '../../shaders/attention.wgsl?raw';
import subgroupSource from '../../shaders/attention-subgroup.wgsl?raw';
import kvSource from '../../shaders/kv-cache.wgsl?raw';
import { DreamError } from '../data/errors';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Kernel } from '../gpu/kernels';
import type { Recorder } from '../gpu/recorder';
import { type AttentionTiles, TILE_TOKENS, tileTokens } from './attention-tiles';
import type { DecoderConfig } from './config';

export type AttentionVariant = 'plain' | 'subgroup';

interface Kernels {
  forward: Kernel;
  dq: Kernel;
  dkv: Kernel;
}

export class Attention {
  /** Used where a call brings tiles; calls without them are always plain. */
  variant: AttentionVariant = 'plain';
  private readonly plain: Kernels;
  private subgroup: Kernels | null = null;
  private readonly storeKernel: Kernel;
  private readonly scale: number;
  private readonly head4: number;
  private readonly constants: string;
  /** vec4s in one row of qkv. */
  readonly qWidth4: number;
  /** vec4s in one row of the KV cache (keys, then values). */
  readonly kvWidth4: number;

  constructor(
    private readonly gpu: Gpu,
    private readonly config: DecoderConfig,
  ) {
    this.head4 = config.headDim / 4;
    this.qWidth4 = (config.heads + 2 * config.kvHeads) * this.head4;
    this.kvWidth4 = 2 * config.kvHeads * this.head4;
    this.scale = 1 / Math.sqrt(config.headDim);
    this.constants = `const HEAD4 = ${this.head4}u;\nconst GROUP = ${config.heads / config.kvHeads}u;\n`;
    this.plain = this.kernels(this.constants + source);
    this.storeKernel = gpu.kernel(kvSource, 'kv_store');
  }

  /** True once `tune` has compiled the subgroup kernels. */
  get hasSubgroupVariant(): boolean {
    return this.subgroup !== null;
  }

  private kernels(text: string): Kernels {
    const { gpu } = this;
    return {
      forward: gpu.kernel(text, 'attention_forward'),
      dq: gpu.kernel(text, 'attention_backward_dq'),
      dkv: gpu.kernel(text, 'attention_backward_dkv'),
    };
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
  ): { kernels: Kernels; tiles: AttentionTiles; groups: [number, number] } | null {
    if (!tiles || !this.subgroup || this.variant !== 'subgroup') return null;
    return { kernels: this.subgroup, tiles, groups: [tiles.count, this.config.kvHeads] };
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
    this.attend(rec, qkv, qkv, rows, o, lse, t, meanKeys, this.params(this.qWidth4, k, k + this.kvWidth4 / 2), tiles);
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
    this.attend(rec, qkv, cache, rows, o, lse, t, meanKeys, this.params(this.kvWidth4, 0, this.kvWidth4 / 2), tiles);
  }

  private attend(
    rec: Recorder,
    q: GpuBuffer,
    kv: GpuBuffer,
    rows: GpuBuffer,
    o: GpuBuffer,
    lse: GpuBuffer,
    t: number,
    meanKeys: number,
    params: number[],
    tiles?: AttentionTiles,
  ): void {
    rec.work(4 * t * meanKeys * this.config.heads * this.config.headDim);
    const fast = this.tiled(tiles);
    if (fast) rec.dispatch(fast.kernels.forward, [q, kv, fast.tiles.buffer, o, lse], fast.groups, params, [this.scale]);
    else rec.dispatch(this.plain.forward, [q, kv, rows, o, lse], this.groups(t), [t, ...params], [this.scale]);
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
    rec.work(6 * pairs);
    rec.dispatch(this.plain.dq, [qkv, rows, o, dO, lse, dqkv, delta], this.groups(t), [t, ...params], [this.scale]);
    rec.work(8 * pairs);
    rec.dispatch(this.plain.dkv, [qkv, ends, dO, lse, delta, dqkv], this.groups(t), [t, ...params], [this.scale]);
  }

  /**
   * Compiles the subgroup kernels where the device has subgroups of 8 or more, compares both variants on a small ragged
   * batch and keeps the faster one that also gives the same numbers. Never fails for want of the fast path.
   */
  async tune(): Promise<{ variant: AttentionVariant; milliseconds: Record<string, number> }> {
    const { gpu } = this;
    await gpu.ready();
    this.variant = 'plain';
    const milliseconds: Record<string, number> = {};
    if (!(await this.compileSubgroup())) return { variant: this.variant, milliseconds };
    const lengths = [131, 3, 122];
    const t = 256;
    const { heads, headDim } = this.config;
    const width = this.qWidth4 * 4;
    const wave = (n: number): Float32Array => Float32Array.from({ length: n }, (_, i) => ((i * 37) % 101) / 50 - 1);
    const held: GpuBuffer[] = [];
    const hold = (buffer: GpuBuffer): GpuBuffer => {
      held.push(buffer);
      return buffer;
    };
    const places: number[] = []; // base, position per token
    const last: number[] = [];
    let base = 0;
    for (const length of lengths) {
      for (let i = 0; i < length; i++) {
        places.push(base, i);
        last.push(base + length);
      }
      base += length;
    }
    const cut = tileTokens(places);
    const tiles = { buffer: hold(gpu.upload(cut, 'tune tiles')), count: cut.length / 4 };
    const rows = hold(gpu.upload(Uint32Array.from(places), 'tune rows'));
    const ends = hold(gpu.upload(Uint32Array.from(last), 'tune ends'));
    const qkv = hold(gpu.upload(wave(t * width), 'tune qkv'));
    const dO = hold(gpu.upload(wave(t * heads * headDim), 'tune d o'));
    const o = hold(gpu.alloc(t * heads * headDim * 4, 'tune o'));
    const lse = hold(gpu.alloc(t * heads * 4, 'tune lse'));
    const delta = hold(gpu.alloc(t * heads * 4, 'tune delta'));
    const dqkv = hold(gpu.alloc(t * width * 4, 'tune dqkv'));
    const results: Record<string, Float32Array[]> = {};
    for (const variant of ['plain', 'subgroup'] as const) {
      this.variant = variant;
      let best = Number.POSITIVE_INFINITY;
      for (let round = 0; round < 3; round++) {
        const rec = gpu.record('tune');
        this.forward(rec, qkv, rows, o, lse, t, t / 2, tiles);
        this.backward(rec, qkv, rows, ends, o, dO, lse, delta, dqkv, t, t / 2, tiles);
        const start = performance.now();
        rec.submit();
        await gpu.finish();
        if (round > 0) best = Math.min(best, performance.now() - start);
      }
      milliseconds[variant] = best;
      results[variant] = [
        await gpu.readF32(o, t * heads * headDim),
        await gpu.readF32(lse, t * heads),
        await gpu.readF32(dqkv, t * width),
      ];
    }
    for (const buffer of held) buffer.release();
    // To the bit: timing decides, and it may decide otherwise tomorrow. The run must not depend on it.
    const equal = results.plain.every((values, i) => values.every((value, at) => value === results.subgroup[i][at]));
    this.variant = equal && milliseconds.subgroup < milliseconds.plain ? 'subgroup' : 'plain';
    return { variant: this.variant, milliseconds };
  }

  private async compileSubgroup(): Promise<boolean> {
    const { gpu } = this;
    if (!gpu.features.includes('subgroups') || gpu.subgroupMinSize < TILE_TOKENS) return false;
    try {
      const kernels = this.kernels(
        subgroupSource.replace('enable subgroups;\n', `enable subgroups;\n${this.constants}`),
      );
      await gpu.ready();
      this.subgroup = kernels;
      return true;
    } catch (error) {
      // A driver that cannot compile the fast path still trains on the plain one.
      if (error instanceof DreamError && error.code === 'kernel-compile') return false;
      throw error;
    }
  }
}
