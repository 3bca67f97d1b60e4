/** @file Derivatives from nothing but values: central differences in double precision. */
import { randomSource } from '../numbers';

/** df/dx[i] for each of `entries`. The error is about h^2 f''' / 6: 1e-8 for functions of size 1. */
export function slopes(
  f: (x: Float64Array) => number,
  x: ArrayLike<number>,
  entries: readonly number[] = Array.from(x, (_, i) => i),
  h = 1e-4,
): number[] {
  const point = Float64Array.from(x);
  return entries.map((i) => {
    const at = point[i];
    point[i] = at + h;
    const above = f(point);
    point[i] = at - h;
    const below = f(point);
    point[i] = at;
    return (above - below) / (2 * h);
  });
}

/** `count` different numbers below n. */
export function sampleEntries(seed: number, n: number, count: number): number[] {
  const uniform = randomSource(seed);
  const chosen = new Set<number>();
  while (chosen.size < Math.min(n, count)) chosen.add(Math.floor(uniform() * n));
  return [...chosen];
}

/** sum(a b): the scalar whose gradient by an operation's inputs is that operation's backward of `b`. */
export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += a[i] * b[i];
  return total;
}
