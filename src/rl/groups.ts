/**
 * @file Groups of rollouts of one task: what they returned, and which of them can teach.
 *
 * Where rollouts are compared with their group, one whose rewards are all equal says nothing and is dropped.
 */
import type { Rollout } from './rollout';

/**
 * Discounted return of a trajectory, sum over turns t (from 0) of discount^t reward_t. Below 1 it tells a quick success from
 * a slow one: in a world with a step limit, slowness is what failures are made of.
 */
export function discountedReturn({ turns, lost }: Rollout['trajectory'], discount: number): number {
  return lost ? 0 : turns.reduceRight((rest, turn) => turn.reward + discount * rest, 0);
}

export interface GroupReport {
  groups: number;
  zeroVarianceGroups: number;
  /** Mean over groups of the population standard deviation of their returns. */
  groupStd: number;
  /** Success rate of each group that has at least one finished episode. */
  successRate: Map<number, number>;
}

export interface Learnable {
  /** Episodes that may be learned from, in order of their groups' first appearance. Lost episodes never count. */
  finished: Rollout[];
  /** Those of groups whose returns differ. */
  varied: Rollout[];
  report: GroupReport;
}

export function learnable(rollouts: readonly Rollout[], discount = 1): Learnable {
  const groups = new Map<number, Rollout[]>();
  for (const rollout of rollouts) {
    const { lost, group } = rollout.trajectory;
    if (lost) continue;
    const members = groups.get(group);
    if (members) members.push(rollout);
    else groups.set(group, [rollout]);
  }

  const successRate = new Map<number, number>();
  let zeroVarianceGroups = 0;
  let stdSum = 0;
  const varied: Rollout[] = [];
  for (const [group, members] of groups) {
    const returns = members.map((m) => discountedReturn(m.trajectory, discount));
    const centre = returns.reduce((a, b) => a + b, 0) / returns.length;
    stdSum += Math.sqrt(returns.reduce((sum, r) => sum + (r - centre) ** 2, 0) / returns.length);
    successRate.set(group, members.filter((m) => m.trajectory.success).length / members.length);
    if (returns.every((r) => r === returns[0])) zeroVarianceGroups++;
    else varied.push(...members);
  }
  const groupStd = groups.size === 0 ? 0 : stdSum / groups.size;
  const report = { groups: groups.size, zeroVarianceGroups, groupStd, successRate };
  return { finished: [...groups.values()].flat(), varied, report };
}

/** Group ids without gaps: a kernel sizes its table by the largest one. */
export function denseIds(keys: readonly (number | string)[]): Int32Array {
  const dense = new Map([...new Set(keys)].map((key, i) => [key, i]));
  return Int32Array.from(keys, (key) => dense.get(key)!);
}
