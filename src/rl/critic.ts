/** @file How much of the returns a critic explains: 1 = all, 0 = as much as a constant, below = less than that. */

/** 1 - Var(returns - values) / Var(returns); null where the returns do not vary. */
export function explainedVariance(values: ArrayLike<number>, returns: ArrayLike<number>): number | null {
  const n = returns.length;
  const variance = (of: (i: number) => number): number => {
    let mean = 0;
    for (let i = 0; i < n; i++) mean += of(i) / n;
    let sum = 0;
    for (let i = 0; i < n; i++) sum += (of(i) - mean) ** 2;
    return sum / n;
  };
  const total = variance((i) => returns[i]);
  if (n === 0 || total < 1e-12) return null;
  return 1 - variance((i) => returns[i] - values[i]) / total;
}
