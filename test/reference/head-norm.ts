/** @file RMSNorm of each query and key head in double precision, by the plain RMSNorm. */
import type { Vector } from './matmul';
import { rmsNorm, rmsNormBackward } from './rmsnorm';

export interface HeadNormShape {
  queryHeads: number;
  /** Query and key heads; the rest of a row are values. */
  heads: number;
  headDim: number;
  width: number;
  eps: number;
}

function perHead(
  x: Vector,
  weight: Vector,
  { queryHeads, heads, headDim, width }: HeadNormShape,
  change: (head: Float64Array, weight: Float64Array, at: number) => Float64Array,
): Float64Array {
  const y = Float64Array.from(x);
  const weights = Float64Array.from(weight);
  for (let row = 0; row < x.length / width; row++) {
    for (let head = 0; head < heads; head++) {
      const at = row * width + head * headDim;
      const w = head < queryHeads ? weights.subarray(0, headDim) : weights.subarray(headDim);
      y.set(change(y.slice(at, at + headDim), w, at), at);
    }
  }
  return y;
}

/** @param weight [2, headDim]: queries', keys' */
export function headNorm(raw: Vector, weight: Vector, shape: HeadNormShape): Float64Array {
  return perHead(raw, weight, shape, (head, w) => rmsNorm(head, w, 1, shape.headDim, shape.eps).y);
}

/** Gradient of raw from that of the normed rows. */
export function headNormBackward(raw: Vector, weight: Vector, dy: Vector, shape: HeadNormShape): Float64Array {
  const x = Float64Array.from(raw);
  return perHead(dy, weight, shape, (head, w, at) => {
    return rmsNormBackward(x.slice(at, at + shape.headDim), w, head, 1, shape.headDim, shape.eps).dx;
  });
}
