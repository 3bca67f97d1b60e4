/** @file Matrix products in double precision, all row-major. */

export type Vector = ArrayLike<number>;

/** a[m, k] b[k, n]. */
export function matmul(a: Vector, b: Vector, m: number, k: number, n: number): Float64Array {
  const y = new Float64Array(m * n);
  for (let i = 0; i < m; i++) {
    for (let l = 0; l < k; l++) {
      const x = a[i * k + l];
      for (let j = 0; j < n; j++) y[i * n + j] += x * b[l * n + j];
    }
  }
  return y;
}

/** [n, m] of x[m, n]. */
export function transpose(x: Vector, m: number, n: number): Float64Array {
  const y = new Float64Array(m * n);
  for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) y[j * m + i] = x[i * n + j];
  return y;
}

/** transpose(a[k, m]) b[k, n]. */
export function matmulTn(a: Vector, b: Vector, m: number, k: number, n: number): Float64Array {
  return matmul(transpose(a, k, m), b, m, k, n);
}

/** A linear layer: x[t, inputs] transpose(w[outputs, inputs]). */
export function linear(x: Vector, w: Vector, t: number, inputs: number, outputs: number): Float64Array {
  return matmul(x, transpose(w, outputs, inputs), t, inputs, outputs);
}

/** Gradients of `linear` from dy[t, outputs]. */
export function linearBackward(
  x: Vector,
  w: Vector,
  dy: Vector,
  t: number,
  inputs: number,
  outputs: number,
): { dx: Float64Array; dw: Float64Array } {
  return { dx: matmul(dy, w, t, outputs, inputs), dw: matmulTn(dy, x, outputs, t, inputs) };
}
