/** @file A stored run as the record that is exported, replayed and committed: everything but weights and buffer. */
import type { StoredRun, StoredTask } from '../dream/run-store';
import type { PoolTask, RunRecord } from './protocol';

/** The pool as people see it: without the world's own description of each task. */
export const visibleTask = ({ task: _, ...entry }: StoredTask): PoolTask => entry;

export function recordOf(run: StoredRun): RunRecord {
  return {
    format: 'dreamgym-run',
    version: 1,
    runId: run.runId,
    created: run.created,
    adapter: run.adapter,
    ...(run.model ? { model: run.model } : {}),
    config: run.config,
    metrics: run.metrics,
    evaluations: run.evaluations,
    rollouts: run.rollouts,
    tasks: run.pool.map(visibleTask),
    weightsHash: run.weightsHash,
  };
}
