/** @file SwiGLU in double precision: silu(gate) * up, from rows [gate | up]. */
import type { Vector } from './matmul';

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

/** y[t, f] of gu[t, 2f]. */
export function swiglu(gu: Vector, t: number, f: number): Float64Array {
  const y = new Float64Array(t * f);
  for (let row = 0; row < t; row++) {
    for (let i = 0; i < f; i++) {
      const gate = gu[row * 2 * f + i];
      y[row * f + i] = gate * sigmoid(gate) * gu[row * 2 * f + f + i];
    }
  }
  return y;
}

/** dgu[t, 2f] from dy[t, f]. */
export function swigluBackward(gu: Vector, dy: Vector, t: number, f: number): Float64Array {
  const dgu = new Float64Array(t * 2 * f);
  for (let row = 0; row < t; row++) {
    for (let i = 0; i < f; i++) {
      const at = row * 2 * f + i;
      const gate = gu[at];
      const s = sigmoid(gate);
      const d = dy[row * f + i];
      dgu[at] = d * gu[at + f] * (s + gate * s * (1 - s));
      dgu[at + f] = d * gate * s;
    }
  }
  return dgu;
}
