/** @file A vector added to every row. */
import type { Vector } from './matmul';

export function addBias(bias: Vector, y: Vector): Float64Array {
  return Float64Array.from(y, (v, i) => v + bias[i % bias.length]);
}
