/** @file GAE of one sequence in double precision, from its definition as a sum, and whitening over a batch. */

/**
 * A_t = sum_k (gamma lambda)^k delta_{t+k} over the unmasked steps only (gamma is 1 after a step of mask 2); a masked step
 * has the next unmasked step's advantage. Written as the sum, not as the recursion, so that it shares no mistake with the kernel.
 */
export function gae(
  rewards: readonly number[],
  values: readonly number[],
  mask: readonly number[],
  gamma: number,
  lambda: number,
): { advantages: number[]; returns: number[] } {
  const acting = rewards.map((_, t) => t).filter((t) => mask[t] !== 0);
  const discount = (t: number) => (mask[t] === 2 ? 1 : gamma);
  const delta = acting.map((t, i) => {
    const nextValue = i + 1 < acting.length ? values[acting[i + 1]] : 0;
    return rewards[t] + discount(t) * nextValue - values[t];
  });
  const advantages = rewards.map((_, t) => {
    const from = acting.findIndex((s) => s >= t);
    if (from < 0) return 0;
    let weight = 1;
    return delta.slice(from).reduce((sum, d, k) => {
      const term = weight * d;
      weight *= discount(acting[from + k]) * lambda;
      return sum + term;
    }, 0);
  });
  return { advantages, returns: advantages.map((a, t) => a + values[t]) };
}

/** Mean 0 and unbiased variance 1 over the unmasked entries; masked ones are 0. */
export function whiten(advantages: readonly number[], mask: readonly number[]): number[] {
  const active = advantages.filter((_, t) => mask[t] !== 0);
  if (active.length === 0) return advantages.map(() => 0);
  const mean = active.reduce((a, b) => a + b, 0) / active.length;
  const variance = active.reduce((sum, a) => sum + (a - mean) ** 2, 0) / Math.max(1, active.length - 1);
  return advantages.map((a, t) => (mask[t] ? (a - mean) / Math.sqrt(variance + 1e-8) : 0));
}
