/** @file RMSNorm in double precision, forward and backward. */
import type { Vector } from './matmul';

/** y[t, d] = x / rms(x) * weight, and scale[t] = 1 / rms. */
export function rmsNorm(
  x: Vector,
  weight: Vector,
  t: number,
  d: number,
  eps: number,
): { y: Float64Array; scale: Float64Array } {
  const y = new Float64Array(t * d);
  const scale = new Float64Array(t);
  for (let row = 0; row < t; row++) {
    let squares = 0;
    for (let i = 0; i < d; i++) squares += x[row * d + i] ** 2;
    scale[row] = 1 / Math.sqrt(squares / d + eps);
    for (let i = 0; i < d; i++) y[row * d + i] = x[row * d + i] * scale[row] * weight[i];
  }
  return { y, scale };
}

/** dx_i = r w_i dy_i - x_i r^3 / d sum_j(w_j dy_j x_j); dweight_i = sum over rows of dy_i x_i r. */
export function rmsNormBackward(
  x: Vector,
  weight: Vector,
  dy: Vector,
  t: number,
  d: number,
  eps: number,
): { dx: Float64Array; dweight: Float64Array } {
  const { scale } = rmsNorm(x, weight, t, d, eps);
  const dx = new Float64Array(t * d);
  const dweight = new Float64Array(d);
  for (let row = 0; row < t; row++) {
    const r = scale[row];
    let dot = 0;
    for (let i = 0; i < d; i++) dot += weight[i] * dy[row * d + i] * x[row * d + i];
    for (let i = 0; i < d; i++) {
      const at = row * d + i;
      dx[at] = r * weight[i] * dy[at] - (x[at] * r ** 3 * dot) / d;
      dweight[i] += dy[at] * x[at] * r;
    }
  }
  return { dx, dweight };
}
