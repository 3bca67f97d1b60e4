/**
 * @file Launcher of shaders/topk.wgsl: cosine similarity and top-k over a bank of vectors, in blocks that fit a binding.
 */
import source from '../../../shaders/topk.wgsl?raw';
import { DreamError } from '../../data/errors';
import type { GpuBuffer } from '../../gpu/buffers';
import type { Gpu } from '../../gpu/device';
import type { Recorder } from '../../gpu/recorder';

/** The kernel keeps its winners in registers. */
export const maxTopK = 16;

/** A query with this key takes rows of any key. */
export const anyKey = 0xffff_ffff;

/** Rows per thread: short enough that a few thousand rows already fill a GPU. */
const chunkRows = 64;

/** Work of one submission: well under 100 ms on a slow adapter. */
const defaultBlockBytes = 16 * 2 ** 20;

export interface TopKBlock {
  /** Rows of this block. */
  n: number;
  /** f32 [n, dimension]; need not be normalised. */
  rows: GpuBuffer;
  /** f32 [n], scratch: 1 / norm. */
  rowNorms: GpuBuffer;
  /** One byte per row, rows padded to words: u32 [queries, ceil(n / 4)]. Absent: all may answer. */
  allowed?: GpuBuffer;
  /** u32 [n], together with `queryKeys`. */
  rowKeys?: GpuBuffer;
}

export interface TopKBuffers {
  queryCount: number;
  /** A multiple of 4; pad with zeros. */
  dimension: number;
  k: number;
  /** f32 [queries, dimension]. */
  queries: GpuBuffer;
  /** f32 [queries], scratch: 1 / norm. */
  queryNorms: GpuBuffer;
  /** u32 [queries]: only rows of this key answer; `anyKey` = no filter. */
  queryKeys?: GpuBuffer;
  /** (u32, u32) [queries, chunks, k], scratch; see `topKChunks`. */
  best: GpuBuffer;
  /** i32 [queries, k]: best first, -1 = none. */
  indices: GpuBuffer;
  /** f32 [queries, k]; 0 where there is none. */
  scores: GpuBuffer;
}

/** Chunks of a bank that is cut into blocks of the given sizes. */
export function topKChunks(blockSizes: readonly number[]): number {
  return blockSizes.reduce((sum, n) => sum + Math.ceil(n / chunkRows), 0);
}

export class TopK {
  private readonly norms;
  private readonly chunks;
  private readonly merge;

  constructor(gpu: Gpu) {
    this.norms = gpu.kernel(source, 'inverse_norms');
    this.chunks = gpu.kernel(source, 'topk_chunks');
    this.merge = gpu.kernel(source, 'topk_merge');
  }

  /** Submits after every block, so that a large bank never becomes one long submission. */
  record(rec: Recorder, b: TopKBuffers, blocks: readonly TopKBlock[]): void {
    if (b.k < 1 || b.k > maxTopK) {
      throw new DreamError(
        'top-k-range',
        `Retrieval of ${b.k} memories was asked for; 1 to ${maxTopK} are possible.`,
        'Choose a smaller number of memories per step.',
      );
    }
    const allChunks = topKChunks(blocks.map((block) => block.n));
    const params = (n: number, firstRow: number, firstChunk: number, allowed: boolean, keys: boolean) => [
      b.queryCount,
      n,
      b.dimension / 4,
      b.k,
      chunkRows,
      firstRow,
      firstChunk,
      allChunks,
      allowed ? 1 : 0,
      keys ? 1 : 0,
    ];
    const recordNorms = (vectors: GpuBuffer, norms: GpuBuffer, n: number) => {
      const groups = Math.ceil(n / 64);
      const x = Math.min(groups, 32_768);
      rec.dispatch(
        this.norms,
        [vectors, norms],
        [x, Math.ceil(groups / Math.max(1, x))],
        params(n, 0, 0, false, false),
      );
    };
    recordNorms(b.queries, b.queryNorms, b.queryCount);
    let firstRow = 0;
    let firstChunk = 0;
    for (const block of blocks) {
      const chunks = Math.ceil(block.n / chunkRows);
      recordNorms(block.rows, block.rowNorms, block.n);
      const keys = block.rowKeys !== undefined && b.queryKeys !== undefined;
      rec.dispatch(
        this.chunks,
        [
          b.queries,
          block.rows,
          b.queryNorms,
          block.rowNorms,
          // Filters that are off still need a buffer in their place.
          block.allowed ?? block.rows,
          keys ? block.rowKeys! : block.rows,
          keys ? b.queryKeys! : block.rows,
          b.best,
        ],
        [Math.ceil(b.queryCount / 8), Math.ceil(chunks / 8)],
        params(block.n, firstRow, firstChunk, block.allowed !== undefined, keys),
      );
      rec.submit();
      firstRow += block.n;
      firstChunk += chunks;
    }
    rec.dispatch(
      this.merge,
      [b.best, b.indices, b.scores],
      [Math.ceil(b.queryCount / 64)],
      params(0, 0, 0, false, false),
    );
  }
}

/** The request of dream/retrieval.ts, in this layer's words. */
export interface TopKRequest {
  /** [queries, dimension]. */
  queries: Float32Array;
  /** [rows, dimension]. */
  rows: Float32Array;
  dimension: number;
  k: number;
  /** [queries, rows]: 0 where the row may not answer the query. */
  allowed?: Uint8Array;
  /** Keys [rows] and [queries]: a row answers only queries of its key or of `anyKey`. */
  rowKeys?: Uint32Array;
  queryKeys?: Uint32Array;
}

export interface TopKResult {
  /** [queries, k], best first; -1 where fewer than k rows were allowed. */
  indices: Int32Array;
  /** [queries, k]. */
  scores: Float32Array;
}

/** Retrieval on this device: fits the `TopKKernel` of dream/retrieval.ts. Equal scores go to the smaller row index. */
export function gpuTopK(gpu: Gpu, blockBytes = defaultBlockBytes): (request: TopKRequest) => Promise<TopKResult> {
  const kernels = new TopK(gpu);
  return async (request) => {
    const { k } = request;
    const queryCount = request.dimension === 0 ? 0 : request.queries.length / request.dimension;
    const rowCount = request.dimension === 0 ? 0 : request.rows.length / request.dimension;
    if (queryCount === 0 || rowCount === 0 || k === 0) {
      return { indices: new Int32Array(queryCount * k).fill(-1), scores: new Float32Array(queryCount * k) };
    }
    const dimension = Math.ceil(request.dimension / 4) * 4;
    const queries = padded(request.queries, request.dimension, dimension);
    const rows = padded(request.rows, request.dimension, dimension);
    const blockRows = Math.max(
      1,
      Math.floor(Math.min(blockBytes, gpu.limits.maxStorageBufferBindingSize) / (4 * dimension)),
    );
    const starts = Array.from({ length: Math.ceil(rowCount / blockRows) }, (_, i) => i * blockRows);
    const sizes = starts.map((start) => Math.min(blockRows, rowCount - start));
    const owned: GpuBuffer[] = [];
    const own = (buffer: GpuBuffer) => {
      owned.push(buffer);
      return buffer;
    };
    try {
      const blocks = starts.map((start, i): TopKBlock => {
        const n = sizes[i];
        return {
          n,
          rows: own(gpu.upload(rows.subarray(start * dimension, (start + n) * dimension), 'memory rows')),
          rowNorms: own(gpu.alloc(n * 4, 'memory norms')),
          allowed:
            request.allowed &&
            own(gpu.upload(packAllowed(request.allowed, queryCount, rowCount, start, n), 'allowed memories')),
          rowKeys: request.rowKeys && own(gpu.upload(request.rowKeys.subarray(start, start + n), 'memory keys')),
        };
      });
      const buffers: TopKBuffers = {
        queryCount,
        dimension,
        k,
        queries: own(gpu.upload(queries, 'queries')),
        queryNorms: own(gpu.alloc(queryCount * 4, 'query norms')),
        queryKeys: request.queryKeys && own(gpu.upload(request.queryKeys, 'query keys')),
        best: own(gpu.alloc(queryCount * topKChunks(sizes) * k * 8, 'best memories')),
        indices: own(gpu.alloc(queryCount * k * 4, 'memory indices')),
        scores: own(gpu.alloc(queryCount * k * 4, 'memory scores')),
      };
      await gpu.ready();
      const rec = gpu.record('top-k');
      kernels.record(rec, buffers, blocks);
      rec.submit();
      const indices = new Int32Array(await gpu.read(buffers.indices, queryCount * k * 4));
      return { indices, scores: await gpu.readF32(buffers.scores, queryCount * k) };
    } finally {
      for (const buffer of owned) buffer.release();
    }
  };
}

/** Rows of `from` numbers as rows of `to`, filled up with zeros. */
function padded(vectors: Float32Array, from: number, to: number): Float32Array {
  if (from === to) return vectors;
  const count = vectors.length / from;
  const result = new Float32Array(count * to);
  for (let i = 0; i < count; i++) result.set(vectors.subarray(i * from, (i + 1) * from), i * to);
  return result;
}

/** Bytes [queries, n] of one block, each query's row padded to whole words. */
function packAllowed(allowed: Uint8Array, queries: number, rowCount: number, start: number, n: number): Uint32Array {
  const stride = Math.ceil(n / 4) * 4;
  const bytes = new Uint8Array(queries * stride);
  for (let q = 0; q < queries; q++) {
    bytes.set(allowed.subarray(q * rowCount + start, q * rowCount + start + n), q * stride);
  }
  return new Uint32Array(bytes.buffer);
}
