/** @file Rows of a table: gather, scatter and the table's gradient, in double precision. */
import type { Vector } from './matmul';

/** y[i] = table[rows[i]], rows of width d. */
export function gather(table: Vector, rows: Vector, d: number): Float64Array {
  return Float64Array.from({ length: rows.length * d }, (_, at) => table[rows[Math.floor(at / d)] * d + (at % d)]);
}

/** y[rows[i]] = x[i] in a matrix of t rows, zero elsewhere. */
export function scatter(x: Vector, rows: Vector, t: number, d: number): Float64Array {
  const y = new Float64Array(t * d);
  for (let i = 0; i < rows.length; i++) for (let j = 0; j < d; j++) y[rows[i] * d + j] = x[i * d + j];
  return y;
}

/** dtable[vocab, d]: for every token the sum of dy over its positions. */
export function embeddingBackward(dy: Vector, tokens: Vector, vocab: number, d: number): Float64Array {
  const table = new Float64Array(vocab * d);
  for (let i = 0; i < tokens.length; i++) for (let j = 0; j < d; j++) table[tokens[i] * d + j] += dy[i * d + j];
  return table;
}
