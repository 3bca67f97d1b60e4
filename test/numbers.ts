/** @file Seeded random numbers and comparisons for kernel tests. */
import { expect } from 'vitest';

/** Mulberry32: uniform in [0, 1), the same on every machine. */
export function randomSource(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Standard normal numbers (Box-Muller), rounded to f32: the reference must see what the kernel sees. */
export function normals(seed: number, n: number, scale = 1): Float32Array {
  const uniform = randomSource(seed);
  return Float32Array.from({ length: n }, () => {
    const radius = Math.sqrt(-2 * Math.log(1 - uniform()));
    return scale * radius * Math.cos(2 * Math.PI * uniform());
  });
}

/** Largest |actual - expected| / max(|expected|, floor). NaN anywhere counts as infinite. */
export function relativeError(actual: ArrayLike<number>, expected: ArrayLike<number>, floor: number): number {
  expect(actual.length).toBe(expected.length);
  let worst = 0;
  for (let i = 0; i < actual.length; i++) {
    const error = Math.abs(actual[i] - expected[i]) / Math.max(Math.abs(expected[i]), floor);
    worst = Math.max(worst, Number.isNaN(error) ? Infinity : error);
  }
  return worst;
}

/** Within 1e-5 of the reference. `floor` is the size below which a number counts as zero: rounding of a sum's terms. */
export function expectClose(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  floor = 1e-2,
  tolerance = 1e-5,
): void {
  expect(relativeError(actual, expected, floor)).toBeLessThanOrEqual(tolerance);
}
