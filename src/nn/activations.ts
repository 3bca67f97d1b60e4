/** @file What the forward pass leaves for the backward pass, for a batch of t tokens. */
import { type GpuBuffer, pooledBytes } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { DecoderConfig } from './config';

/** One layer's intermediate results; with checkpointing one set is shared by all layers and recomputed. */
export interface LayerActivations {
  scale1: GpuBuffer; // [t] 1 / rms before attention
  normed1: GpuBuffer; // [t, width]
  qkv: GpuBuffer; // [t, (heads + 2 kvHeads) * headDim], rotated
  o: GpuBuffer; // [t, heads * headDim]
  lse: GpuBuffer; // [t, heads]
  middle: GpuBuffer; // [t, width] residual stream after attention
  scale2: GpuBuffer; // [t]
  normed2: GpuBuffer; // [t, width]
  gateUp: GpuBuffer; // [t, 2 ffn]
  act: GpuBuffer; // [t, ffn]
  /** Before the head norms (Qwen3 only): [t, (heads + 2 kvHeads) * headDim]. */
  rawQkv?: GpuBuffer;
  /** 1 / rms of each query and key head (Qwen3 only): [t, heads + kvHeads]. */
  headScale?: GpuBuffer;
}

function layerWidths(c: DecoderConfig): Partial<Record<keyof LayerActivations, number>> {
  const normed = c.qkNorm ? { rawQkv: (c.heads + 2 * c.kvHeads) * c.headDim, headScale: c.heads + c.kvHeads } : {};
  return {
    ...normed,
    scale1: 1,
    normed1: c.width,
    qkv: (c.heads + 2 * c.kvHeads) * c.headDim,
    o: c.heads * c.headDim,
    lse: c.heads,
    middle: c.width,
    scale2: 1,
    normed2: c.width,
    gateUp: 2 * c.ffn,
    act: c.ffn,
  };
}

/** Bytes per token of one layer's activations. */
export function layerBytesPerToken(config: DecoderConfig): number {
  return 4 * Object.values(layerWidths(config)).reduce((a, b) => a + b, 0);
}

/**
 * - `all`: every layer's own, for small models.
 * - `inputs`: each layer's input and one set for all; the backward pass computes a layer again before it needs it.
 * - `none`: generation; the residual stream runs in place.
 */
export type Keep = 'all' | 'inputs' | 'none';

/** Bytes the pool holds for a batch of t tokens. */
export function activationBytes(config: DecoderConfig, t: number, keep: Keep): number {
  const residuals = keep === 'none' ? 1 : config.layers + 1;
  const sets = keep === 'all' ? config.layers : 1;
  const row = (width: number) => pooledBytes(t * width * 4);
  const set = Object.values(layerWidths(config)).reduce((sum, width) => sum + row(width), 0);
  return sets * set + (residuals + 1) * row(config.width) + row(1);
}

export class Activations {
  /** [layers + 1] residual stream: x[l] enters layer l. One buffer only where nothing is kept. */
  readonly x: GpuBuffer[];
  readonly layers: LayerActivations[];
  readonly final: GpuBuffer;
  readonly finalScale: GpuBuffer;
  /** True when layers share one set and the backward pass must recompute. */
  readonly recompute: boolean;
  private readonly all: GpuBuffer[] = [];

  constructor(gpu: Gpu, config: DecoderConfig, t: number, keep: Keep) {
    this.recompute = keep === 'inputs';
    const alloc = (width: number, label: string): GpuBuffer => {
      const buffer = gpu.alloc(t * width * 4, label);
      this.all.push(buffer);
      return buffer;
    };
    const set = (): LayerActivations =>
      Object.fromEntries(
        Object.entries(layerWidths(config)).map(([name, width]) => [name, alloc(width, name)]),
      ) as unknown as LayerActivations;
    const residuals = keep === 'none' ? 1 : config.layers + 1;
    this.x = Array.from({ length: residuals }, () => alloc(config.width, 'residual'));
    if (keep !== 'all') {
      const shared = set();
      this.layers = Array.from({ length: config.layers }, () => shared);
    } else {
      this.layers = Array.from({ length: config.layers }, set);
    }
    this.final = alloc(config.width, 'final norm');
    this.finalScale = alloc(1, 'final scale');
  }

  release(): void {
    for (const buffer of this.all) buffer.release();
  }
}
