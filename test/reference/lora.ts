/** @file LoRA in double precision by its definition: the adapter is a change of the weight, W + scale B A. */
import { matmul, matmulTn, transpose, type Vector } from './matmul';

export interface Adapter {
  /** [rank, inputs] */
  a: Vector;
  /** [outputs, rank] */
  b: Vector;
  rank: number;
  /** alpha / rank */
  scale: number;
}

/** The merged weight [outputs, inputs]. */
export function merged(w: Vector, { a, b, rank, scale }: Adapter, outputs: number, inputs: number): Float64Array {
  const change = matmul(b, a, outputs, rank, inputs);
  return change.map((x, i) => w[i] + scale * x);
}

/** Gradients of the adapter from the merged weight's gradient dw [outputs, inputs]. */
export function adapterGradients(
  dw: Vector,
  { a, b, rank, scale }: Adapter,
  outputs: number,
  inputs: number,
): { da: Float64Array; db: Float64Array } {
  const da = matmulTn(b, dw, rank, outputs, inputs).map((x) => scale * x);
  const db = matmul(dw, transpose(a, rank, inputs), outputs, inputs, rank).map((x) => scale * x);
  return { da, db };
}

/**
 * B of stacked projections: what lies outside the diagonal blocks set to zero.
 * @param parts output rows of each projection; b is [sum of parts, parts.length * rank]
 */
export function diagonalBlocks(b: Vector, parts: readonly number[], rank: number): Float32Array {
  const columns = parts.length * rank;
  const partOf = parts.flatMap((rows, p) => new Array<number>(rows).fill(p));
  return Float32Array.from(b, (x, i) => (Math.floor((i % columns) / rank) === partOf[Math.floor(i / columns)] ? x : 0));
}
