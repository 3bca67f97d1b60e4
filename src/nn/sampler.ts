/** @file Drawing the next tokens on the GPU: launcher of shaders/sampler.wgsl. */
import source from '../../shaders/sampler.wgsl?raw';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';
import type { SamplingOptions } from './language-model';

/** Marks a draw of a row that had already finished. */
export const NOTHING_DRAWN = 0xffffffff;

export class Sampler {
  private readonly kernel;
  constructor(gpu: Gpu) {
    this.kernel = gpu.kernel(source, 'sample');
  }

  /** One draw for n rows; see the shader for the buffers. `step` selects the row of `drawn`. */
  record(
    rec: Recorder,
    buffers: { logits: GpuBuffer; rows: GpuBuffer; meta: GpuBuffer; current: GpuBuffer; drawn: GpuBuffer },
    n: number,
    vocab: number,
    step: number,
    options: SamplingOptions,
  ): void {
    const stops = [0, 1, 2, 3].map((i) => options.stopTokens[i] ?? options.stopTokens[0] ?? NOTHING_DRAWN);
    rec.dispatch(
      this.kernel,
      [buffers.logits, buffers.rows, buffers.meta, buffers.current, buffers.drawn],
      [Math.ceil(n / 32)],
      [n, vocab, step, options.seed >>> 0, options.topK ?? 0, ...stops],
      [options.temperature, options.topP ?? 1],
    );
  }
}
