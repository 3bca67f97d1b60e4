/** @file Cosine top-k in plain code. */
import type { TopKKernel } from '../../src/dream/retrieval';

export const cpuTopK: TopKKernel = async ({ queries, rows, dimension, k, allowed }) => {
  const count = queries.length / dimension;
  const total = rows.length / dimension;
  const indices = new Int32Array(count * k).fill(-1);
  const scores = new Float32Array(count * k);
  for (let q = 0; q < count; q++) {
    const ranked = Array.from({ length: total }, (_, row) => row)
      .filter((row) => allowed[q * total + row] === 1)
      .map((row) => {
        let score = 0;
        for (let d = 0; d < dimension; d++) score += queries[q * dimension + d] * rows[row * dimension + d];
        return { row, score };
      })
      .sort((a, b) => b.score - a.score || a.row - b.row)
      .slice(0, k);
    ranked.forEach(({ row, score }, j) => {
      indices[q * k + j] = row;
      scores[q * k + j] = score;
    });
  }
  return { indices, scores };
};
