/** @file Row gather, row scatter and the embedding's gradient: launcher of shaders/embedding.wgsl. */
import source from '../../shaders/embedding.wgsl?raw';
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';

export class Embedding {
  private readonly gatherKernel;
  private readonly scatterKernel;
  private readonly backwardKernel;
  constructor(gpu: Gpu) {
    this.gatherKernel = gpu.kernel(source, 'gather_rows');
    this.scatterKernel = gpu.kernel(source, 'scatter_rows');
    this.backwardKernel = gpu.kernel(source, 'embedding_backward');
  }

  /** y[t, d] = table[rows[i]]. */
  gather(rec: Recorder, table: GpuBuffer, rows: GpuBuffer, y: GpuBuffer, t: number, d: number): void {
    rec.dispatch(this.gatherKernel, [table, rows, y], [Math.ceil(d / 4 / 32), t], [t, d / 4]);
  }

  /** y[rows[i]] = x[i] for n distinct rows; clear y first. */
  scatter(rec: Recorder, x: GpuBuffer, rows: GpuBuffer, y: GpuBuffer, n: number, d: number): void {
    rec.dispatch(this.scatterKernel, [x, rows, y], [Math.ceil(d / 4 / 32), n], [n, d / 4]);
  }

  /** dtable[v, d] += sums of dy over each token's positions (`order`, `starts` from `sortByToken`). */
  backward(
    rec: Recorder,
    dy: GpuBuffer,
    order: GpuBuffer,
    starts: GpuBuffer,
    dtable: GpuBuffer,
    v: number,
    d: number,
  ): void {
    rec.dispatch(this.backwardKernel, [dy, order, starts, dtable], [Math.ceil(d / 4 / 32), v], [v, d / 4]);
  }
}

/** Positions ordered by token id, and where each id's positions start: order [t], starts [vocab + 1]. */
export function sortByToken(tokens: Uint32Array, vocab: number): { order: Uint32Array; starts: Uint32Array } {
  const starts = new Uint32Array(vocab + 1);
  for (const token of tokens) starts[token + 1]++;
  for (let v = 0; v < vocab; v++) starts[v + 1] += starts[v];
  const next = starts.slice(0, vocab);
  const order = new Uint32Array(tokens.length);
  for (let i = 0; i < tokens.length; i++) order[next[tokens[i]]++] = i;
  return { order, starts };
}
