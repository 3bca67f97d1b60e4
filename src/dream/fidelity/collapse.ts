/** @file Early stop: when the dream's recent successes no longer work in the real world, further practice is harmful. */
import type { IterationMetrics } from '../../worker/protocol';

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
