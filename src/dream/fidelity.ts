/**
 * @file How far the dream can be believed: every dreamed episode's actions are replayed in the real world.
 *
 * The paper never audits its rewards; here each iteration does, and the run stops when the dream has begun to pay for
 * things that do not work (recipe.md: 21 true / 11 false successes at first, 13 / 52 ten iterations later). Replays
 * measure only: nothing of them reaches the learner, and their steps are not counted as training transitions.
 */
import type { Trajectory } from '../data/trajectory';
import type { EnvironmentBatch } from '../envs/environment';
import type { IterationMetrics } from '../worker/protocol';

export interface FidelityReport {
  /** Dreamed successes that are real successes too, and those that are not. */
  replayTrue: number;
  replayFalse: number;
  /** replayTrue / all dreamed successes; null when there was none. */
  replayPrecision: number | null;
  /** Mean |dreamed return - real return| over all dreamed episodes; null when there was none. */
  rewardError: number | null;
  /** Share of dreamed next observations that equal the real ones after the same actions. */
  nextStateAccuracy: number | null;
  /** Real steps taken to find out. */
  realSteps: number;
}

/** Replays dreamed trajectories and writes `replay` into each. Lost and real ones are left alone. */
export async function measureFidelity(
  trajectories: readonly Trajectory[],
  realWorld: EnvironmentBatch,
): Promise<FidelityReport> {
  const dreamed = trajectories.filter((t) => t.source === 'imagined' && !t.lost);
  const report: FidelityReport = {
    replayTrue: 0,
    replayFalse: 0,
    replayPrecision: null,
    rewardError: null,
    nextStateAccuracy: null,
    realSteps: 0,
  };
  if (dreamed.length === 0) return report;

  await realWorld.reset(
    dreamed.map((t) => t.task),
    0,
  );
  const realReturn = dreamed.map(() => 0);
  const realDone = dreamed.map(() => false);
  const firstMismatch = dreamed.map(() => -1);
  let compared = 0;
  let equal = 0;
  const longest = Math.max(...dreamed.map((t) => t.turns.length));
  for (let k = 0; k < longest; k++) {
    // A malformed turn was never sent to the dream, so it is not sent here either.
    const actions = dreamed.map((t, i) => (realDone[i] ? null : t.turns[k]?.action || null));
    const results = await realWorld.step(actions);
    results.forEach((result, i) => {
      const turn = dreamed[i].turns[k];
      if (!turn) return;
      // The real episode is over but the dream went on.
      if (!result && realDone[i] && firstMismatch[i] < 0) firstMismatch[i] = k;
      if (!result) return;
      report.realSteps++;
      compared++;
      const same = result.observation === turn.observation;
      if (same) equal++;
      if ((!same || result.reward !== turn.reward) && firstMismatch[i] < 0) firstMismatch[i] = k;
      realReturn[i] += result.reward;
      realDone[i] = result.done;
    });
  }

  let error = 0;
  dreamed.forEach((trajectory, i) => {
    const success = realReturn[i] > 0;
    trajectory.replay = { success, firstMismatch: firstMismatch[i] };
    error += Math.abs(trajectory.return - realReturn[i]);
    if (!trajectory.success) return;
    if (success) report.replayTrue++;
    else report.replayFalse++;
  });
  const successes = report.replayTrue + report.replayFalse;
  report.replayPrecision = successes === 0 ? null : report.replayTrue / successes;
  report.rewardError = error / dreamed.length;
  report.nextStateAccuracy = compared === 0 ? null : equal / compared;
  return report;
}

/** Iterations whose successes are pooled, and how many successes are needed to judge at all. */
const collapseWindow = 3;
const collapseEvidence = 20;

/** True when the pooled precision of the last iterations is below `minimum` (0 = never). */
export function hasCollapsed(
  metrics: readonly Pick<IterationMetrics, 'replayTrue' | 'replayFalse'>[],
  minimum: number,
): boolean {
  if (minimum <= 0 || metrics.length < collapseWindow) return false;
  const recent = metrics.slice(-collapseWindow);
  const correct = recent.reduce((sum, m) => sum + m.replayTrue, 0);
  const all = correct + recent.reduce((sum, m) => sum + m.replayFalse, 0);
  return all >= collapseEvidence && correct / all < minimum;
}
