/** @file The few statistics the program shows: a success rate is never printed without its interval. */

/** A proportion with its 95 % interval. */
export interface Interval {
  rate: number;
  low: number;
  high: number;
}

/** Normal quantile of a two-sided 95 % interval. */
const z95 = 1.959963984540054;

/**
 * Wilson's score interval (Wilson 1927): unlike rate +- 1.96 s.e. it stays inside [0, 1] and is honest near 0 and 1,
 * where a tiny agent starts. No trials: nothing is known, so [0, 1].
 */
export function wilson(successes: number, trials: number, z = z95): Interval {
  if (trials === 0) return { rate: 0, low: 0, high: 1 };
  const rate = successes / trials;
  const zz = (z * z) / trials;
  const centre = (rate + zz / 2) / (1 + zz);
  const half = (z * Math.sqrt((rate * (1 - rate)) / trials + zz / (4 * trials))) / (1 + zz);
  // At 0 and n successes the bound is exact in theory; rounding must not push it across.
  const low = successes === 0 ? 0 : Math.max(0, centre - half);
  const high = successes === trials ? 1 : Math.min(1, centre + half);
  return { rate, low, high };
}

/** Mean; 0 of nothing. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return values.length === 0 ? 0 : sum / values.length;
}

/** Biased (population) variance, the curriculum's V = mean (r - mean r)^2. */
export function populationVariance(values: ArrayLike<number>): number {
  const centre = mean(values);
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i] - centre) ** 2;
  return values.length === 0 ? 0 : sum / values.length;
}

/** Unbiased standard deviation; 0 for fewer than two values. */
export function standardDeviation(values: ArrayLike<number>): number {
  return values.length < 2 ? 0 : Math.sqrt((populationVariance(values) * values.length) / (values.length - 1));
}
