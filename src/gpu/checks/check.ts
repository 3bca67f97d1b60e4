/** @file One check of the start-up self-test: one dispatch of one real shader on small fixed data, and what must come out. */

export type Numbers = Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Int32Array<ArrayBuffer>;

export interface Check {
  name: string;
  source: string;
  entry: string;
  workgroups: readonly [number, number?, number?];
  u32: readonly number[];
  f32?: readonly number[];
  /** Initial contents of bindings 1, 2, ... */
  bindings: readonly Numbers[];
  /** What each written binding must hold afterwards. */
  expected: readonly { binding: number; values: ArrayLike<number> }[];
  /** Largest |got - expected| / max(1, |expected|) that passes; 0 = exact. */
  tolerance: number;
}

/** PCG hash (Jarzynski & Olano 2020) in plain code. */
export function pcg(x: number): number {
  const state = (Math.imul(x, 747796405) + 2891336453) >>> 0;
  const word = Math.imul((state >>> ((state >>> 28) + 4)) ^ state, 277803737) >>> 0;
  return ((word >>> 22) ^ word) >>> 0;
}

/** Fixed numbers in [-scale, scale), different for every seed. */
export function numbers(seed: number, n: number, scale = 1): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: n }, (_, i) => scale * (pcg(pcg(seed) ^ i) / 2 ** 31 - 1));
}

/** An array from a rule. */
export function table(n: number, value: (i: number) => number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: n }, (_, i) => value(i));
}

/** Sum of f(0) .. f(n - 1). */
export function sum(n: number, f: (i: number) => number): number {
  let total = 0;
  for (let i = 0; i < n; i++) total += f(i);
  return total;
}
