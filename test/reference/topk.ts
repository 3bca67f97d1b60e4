/** @file Cosine top-k in double precision by sorting everything. */
import { anyKey, type TopKRequest, type TopKResult } from '../../src/rl/kernels/topk';

/** Cosine similarity of vector a of `x` and vector b of `y`; 0 when either is zero. */
export function cosine(x: Float32Array, a: number, y: Float32Array, b: number, dimension: number): number {
  let dot = 0;
  let xx = 0;
  let yy = 0;
  for (let i = 0; i < dimension; i++) {
    const u = x[a * dimension + i];
    const v = y[b * dimension + i];
    dot += u * v;
    xx += u * u;
    yy += v * v;
  }
  return xx === 0 || yy === 0 ? 0 : dot / Math.sqrt(xx * yy);
}

/** Best first, smaller row first among equals; -1 and 0 where there is none. */
export function topK({ queries, rows, dimension, k, allowed, rowKeys, queryKeys }: TopKRequest): TopKResult {
  const queryCount = queries.length / dimension;
  const rowCount = rows.length / dimension;
  const indices = new Int32Array(queryCount * k).fill(-1);
  const scores = new Float32Array(queryCount * k);
  for (let q = 0; q < queryCount; q++) {
    const ranked = Array.from({ length: rowCount }, (_, row) => row)
      .filter((row) => allowed?.[q * rowCount + row] !== 0)
      .filter((row) => !rowKeys || !queryKeys || queryKeys[q] === anyKey || queryKeys[q] === rowKeys[row])
      .map((row) => ({ row, score: cosine(queries, q, rows, row, dimension) }))
      .sort((a, b) => b.score - a.score || a.row - b.row)
      .slice(0, k);
    ranked.forEach(({ row, score }, j) => {
      indices[q * k + j] = row;
      scores[q * k + j] = score;
    });
  }
  return { indices, scores };
}
