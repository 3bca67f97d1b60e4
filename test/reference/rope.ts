/** @file Rotary position embedding in double precision, half-split as in Llama. */
import type { Vector } from './matmul';

/** Turns the first `heads` heads of x[t, width] by their token's position; direction -1 turns back. */
export function rope(
  x: Vector,
  positions: Vector,
  { heads, headDim, width, theta }: { heads: number; headDim: number; width: number; theta: number },
  direction: 1 | -1 = 1,
): Float64Array {
  const y = Float64Array.from(x);
  const half = headDim / 2;
  for (let row = 0; row < positions.length; row++) {
    for (let head = 0; head < heads; head++) {
      for (let i = 0; i < half; i++) {
        const angle = direction * positions[row] * theta ** ((-2 * i) / headDim);
        const first = row * width + head * headDim + i;
        const second = first + half;
        y[first] = x[first] * Math.cos(angle) - x[second] * Math.sin(angle);
        y[second] = x[first] * Math.sin(angle) + x[second] * Math.cos(angle);
      }
    }
  }
  return y;
}
