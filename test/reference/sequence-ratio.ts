/** @file Mean log-ratio of each sample (GSPO) in double precision, for each of its tokens. */

export function sequenceRatio(
  starts: readonly number[],
  logProbs: readonly number[],
  old: readonly number[],
  weights: readonly number[],
): number[] {
  const result = logProbs.map(() => 0);
  for (let j = 0; j + 1 < starts.length; j++) {
    const tokens = logProbs.map((_, t) => t).filter((t) => t >= starts[j] && t < starts[j + 1] && weights[t] !== 0);
    const mean = tokens.reduce((sum, t) => sum + logProbs[t] - old[t], 0) / tokens.length;
    for (const t of tokens) result[t] = mean;
  }
  return result;
}
