/**
 * @file Dynamic sampling (DAPO, Yu et al. 2025): a group that wholly won or wholly lost teaches nothing, so as many fresh
 * groups are played in its stead, for a bounded number of rounds.
 *
 * Nothing played is thrown away: silent groups still fill the replay buffer and tell the curriculum how hard their task is;
 * the update drops them by itself.
 */
import { learnable } from './groups';
import type { Rollout } from './rollout';

/** How many groups with differing returns are still missing. */
export function missingGroups(rollouts: readonly Rollout[], wanted: number, discount: number): number {
  const { varied } = learnable(rollouts, discount);
  const informative = new Set(varied.map((rollout) => rollout.trajectory.group)).size;
  return Math.max(0, wanted - informative);
}
