/**
 * @file How runs lie in IndexedDB: small rows beside the weights, so that one iteration writes only what is new.
 *
 * Everything is keyed by [runId, iteration], hence a run can be read as of an iteration and rolled back to it. Weights
 * and the task pool are kept for the last two iterations only: Chrome stores large values in files of their own, and one
 * that went missing must cost an iteration, not the run. For the same reason what the last commit evicted from the buffer
 * is deleted one commit later.
 */
import type { DBSchema } from 'idb';
import type { Trajectory } from '../data/trajectory';
import type { RunSnapshot, StoredTask, Transition } from '../dream/run-store';
import type { Evaluation, IterationMetrics } from '../worker/protocol';
import type { PackedTensors } from './packed-tensors';

export const databaseName = 'dreamgym';
export const databaseVersion = 1;

/** How many iterations keep their weights. */
export const snapshotsKept = 2;

/** One row a run; it alone says which iteration is the last finished one. */
export interface RunRow {
  runId: string;
  iteration: number;
  header: SnapshotHeader;
  /** Buffer rows that the last commit evicted; they still exist. */
  evicted: number[];
}

/** What a snapshot says in a few hundred bytes: everything that has no store of its own. */
export type SnapshotHeader = Omit<RunSnapshot, 'policy' | 'buffer' | 'pool' | 'metrics' | 'evaluations' | 'rollouts'>;

export interface SnapshotRow {
  runId: string;
  iteration: number;
  header: SnapshotHeader;
  /** Optimiser steps taken. */
  step: number;
  weights: PackedTensors;
  moments1: PackedTensors | null;
  moments2: PackedTensors | null;
  bufferNextId: number;
}

export interface BufferRow {
  runId: string;
  transition: Transition;
  /** The iteration whose commit added it. */
  since: number;
}

export interface TasksRow {
  runId: string;
  iteration: number;
  pool: StoredTask[];
}

/** Iteration 0 has an evaluation and no metrics. */
export interface MetricsRow {
  runId: string;
  iteration: number;
  metrics: IterationMetrics | null;
  evaluation: Evaluation | null;
}

export interface RolloutsRow {
  runId: string;
  iteration: number;
  trajectories: Trajectory[];
}

type IterationKey = [runId: string, iteration: number];

export interface DreamDatabase extends DBSchema {
  runs: { key: string; value: RunRow };
  snapshots: { key: IterationKey; value: SnapshotRow };
  buffer: {
    key: [runId: string, id: number];
    value: BufferRow;
    indexes: { since: IterationKey };
  };
  tasks: { key: IterationKey; value: TasksRow };
  metrics: { key: IterationKey; value: MetricsRow };
  rollouts: { key: IterationKey; value: RolloutsRow };
}

export const storeNames = ['runs', 'snapshots', 'buffer', 'tasks', 'metrics', 'rollouts'] as const;
export const iterationStores = ['snapshots', 'tasks', 'metrics', 'rollouts'] as const;

/** A range over one run's rows from iteration (or transition id) `from` up to and including `to`. */
export const ofRun = (runId: string, from = 0, to = Number.POSITIVE_INFINITY): IDBKeyRange =>
  IDBKeyRange.bound([runId, from], [runId, to]);
