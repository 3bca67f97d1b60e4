/**
 * @file The finite-horizon bound: how far dreamed and real success of one policy can lie apart (dreamgym.md, 1.7).
 *
 * With a reward in [0, 1] that comes once, at the end, of an episode of at most H steps:
 *
 *     |J - J^| <= eps_R + H eps_P
 *
 * Until dream and world first differ the policy sees the same text in both, so the two returns can differ only if
 * something differed before: by the reward alone (eps_R an episode) or by a next state (at most eps_P in each of H steps).
 * Both are measured as means over the policy's own dreamed episodes, not as the suprema of the theorem: a diagnostic, not
 * a guarantee. The paper's discounted form is vacuous at any real error (g = 0.95: 40 eps_R + 1520 eps_P).
 */

/** At most 1: no two success rates lie further apart. null where nothing was measured. */
export function finiteHorizonBound(
  { epsilonReward, epsilonState }: { epsilonReward?: number | null; epsilonState?: number | null },
  horizon: number,
): number | null {
  if (epsilonReward == null || epsilonState == null) return null;
  return Math.min(1, epsilonReward + horizon * epsilonState);
}
