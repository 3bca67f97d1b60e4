/** @file Drawing the next tokens on the GPU: launcher of shaders/sampler.wgsl and shaders/sampler-wide.wgsl. */
import source from '../../shaders/sampler.wgsl?raw';
import wideSource from '../../shaders/sampler-wide.wgsl?raw';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Kernel } from '../gpu/kernels';
import type { Recorder } from '../gpu/recorder';
import type { SamplingOptions } from './language-model';

/** Marks a draw of a row that had already finished. */
export const NOTHING_DRAWN = 0xffffffff;

const FREE = 'fn allowed(row: u32, i: u32) -> bool { return true; }\n';
const MASKED = `
@group(0) @binding(6) var<storage, read> mask: array<u32>;
fn allowed(row: u32, i: u32) -> bool { return ((mask[row * ((params.v + 31u) / 32u) + i / 32u] >> (i % 32u)) & 1u) == 1u; }
`;

export interface SamplerBuffers {
  logits: GpuBuffer;
  rows: GpuBuffer;
  meta: GpuBuffer;
  current: GpuBuffer;
  drawn: GpuBuffer;
  /** [n, ceil(vocab / 32)]; without it every token may be drawn. */
  mask?: GpuBuffer;
}

export class Sampler {
  private readonly narrow: { free: Kernel; masked: Kernel };
  private readonly wide: { free: Kernel; masked: Kernel };

  /** @param wideFrom vocabularies of this size and more are shared by a workgroup's lanes */
  constructor(
    gpu: Gpu,
    private readonly wideFrom = 4096,
  ) {
    const both = (text: string, entry: string) => ({
      free: gpu.kernel(FREE + text, entry),
      masked: gpu.kernel(MASKED + text, entry),
    });
    this.narrow = both(source, 'sample');
    this.wide = both(wideSource, 'sample_wide');
  }

  /** One draw for n rows; see the shader for the buffers. `step` selects the row of `drawn`. */
  record(
    rec: Recorder,
    { logits, rows, meta, current, drawn, mask }: SamplerBuffers,
    n: number,
    vocab: number,
    step: number,
    options: SamplingOptions,
  ): void {
    const stops = [0, 1, 2, 3].map((i) => options.stopTokens[i] ?? options.stopTokens[0] ?? NOTHING_DRAWN);
    const isWide = vocab >= this.wideFrom;
    const { free, masked } = isWide ? this.wide : this.narrow;
    rec.dispatch(
      mask ? masked : free,
      [logits, rows, meta, current, drawn, ...(mask ? [mask] : [])],
      [isWide ? n : Math.ceil(n / 32)],
      [n, vocab, step, options.seed >>> 0, options.topK ?? 0, ...stops],
      [options.temperature, options.topP ?? 1, options.minP ?? 0],
    );
  }
}

/** A row of the mask: bit i set where token i may be drawn. All of them for null. */
export function maskRow(allowed: readonly number[] | null, vocab: number): Uint32Array {
  const words = new Uint32Array(Math.ceil(vocab / 32));
  if (allowed === null) return words.fill(0xffffffff);
  for (const token of allowed) words[token >>> 5] |= 1 << (token & 31);
  return words;
}
