/** @file Retrieval: the best rows of every chunk, ties to the lower row. */
import topkSource from '../../../shaders/topk.wgsl?raw';
import { type Check, numbers, sum, table } from './check';

export function topKCheck(): Check {
  const [queries, rows, dimension, k, chunkRows] = [4, 40, 12, 3, 16];
  const chunks = Math.ceil(rows / chunkRows);
  const query = numbers(31, queries * dimension);
  const bank = numbers(32, rows * dimension);
  bank.copyWithin(5 * dimension, 0, dimension); // rows 0 and 5 tie
  const inverseNorm = (v: Float32Array, n: number) =>
    table(n, (i) => 1 / Math.sqrt(sum(dimension, (d) => v[i * dimension + d] ** 2)));
  const queryNorm = inverseNorm(query, queries);
  const rowNorm = inverseNorm(bank, rows);
  const score = (q: number, row: number) =>
    sum(dimension, (d) => query[q * dimension + d] * bank[row * dimension + d]) * queryNorm[q] * rowNorm[row];
  // Within each chunk, best first: (score, row).
  const scores: number[] = [];
  const indices: number[] = [];
  for (let q = 0; q < queries; q++) {
    for (let chunk = 0; chunk < chunks; chunk++) {
      const ranked = Array.from(
        { length: Math.min(chunkRows, rows - chunk * chunkRows) },
        (_, i) => chunk * chunkRows + i,
      )
        .sort((a, b) => score(q, b) - score(q, a) || a - b)
        .slice(0, k);
      scores.push(...ranked.map((row) => score(q, row)));
      indices.push(...ranked);
    }
  }
  // (bits of the score, row): as integers, a score may differ in its last bits and a row not at all.
  const packed = new Uint32Array(queries * chunks * k * 2);
  const bits = new Uint32Array(Float32Array.from(scores).buffer);
  for (let i = 0; i < indices.length; i++) packed.set([bits[i], indices[i]], i * 2);
  return {
    name: 'top-k',
    source: topkSource,
    entry: 'topk_chunks',
    workgroups: [1, 1],
    u32: [queries, rows, dimension / 4, k, chunkRows, 0, 0, chunks, 0, 0],
    bindings: [
      query,
      bank,
      queryNorm,
      rowNorm,
      new Uint32Array(1),
      new Uint32Array(1),
      new Uint32Array(1),
      new Uint32Array(packed.length),
    ],
    expected: [{ binding: 8, values: packed }],
    tolerance: 1e-5,
  };
}
