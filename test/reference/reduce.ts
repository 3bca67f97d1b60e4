/** @file Sums in double precision. */
import type { Vector } from './matmul';

/** Column sums of x[rows, n]. */
export function sumRows(x: Vector, rows: number, n: number): Float64Array {
  return Float64Array.from({ length: n }, (_, i) => {
    let total = 0;
    for (let row = 0; row < rows; row++) total += x[row * n + i];
    return total;
  });
}

export function sumSquares(x: Vector): number {
  return Array.from(x).reduce((total, value) => total + value * value, 0);
}
