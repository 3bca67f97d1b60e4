/**
 * @file Where a run survives a crash: one atomic commit per finished iteration, behind one small interface.
 *
 * The page keeps runs in IndexedDB (src/store), the terminal in files (src/cli/file-run-store.ts). The replay buffer is
 * the only large thing that changes little, so a snapshot carries its *changes*; everything else is written whole.
 * There is no random-generator state to keep: every draw is a function of (seed, iteration, purpose, counter).
 */
import type { Trajectory } from '../data/trajectory';
import type { Task } from '../envs/environment';
import type { ModelState } from '../nn/language-model';
import type { Precision } from '../nn/precision';
import type { Evaluation, IterationMetrics, PoolTask, RunConfig } from '../worker/protocol';
import type { TextSettings } from './text-household/settings';

/** One remembered step of an episode. Ids grow with time and are never reused, so id order is age order. */
export interface Transition {
  id: number;
  source: 'offline' | 'imagined' | 'real';
  /** Which episode it belongs to; retrieval never answers from the asking episode. */
  episode: string;
  room: string;
  task: string;
  /** Observation before the action. */
  state: string;
  action: string;
  nextState: string;
  reward: number;
}

/** What happened to the replay buffer since the previous commit. Removed ids may include ids added in the same change. */
export interface BufferChanges {
  added: Transition[];
  removed: number[];
  /** The id that the next transition will get. */
  nextId: number;
}

/** A task of the pool with everything needed to enter it again. */
export interface StoredTask extends PoolTask {
  task: Task;
}

/** The base model that a run trains an adapter for, and the adapter's form. The embedded model needs no mention. */
export interface RunModel {
  /** The file's or folder's name, for people. */
  label: string;
  /** Tells bases apart, wherever their files lie: of the settings and every tensor's description and first row. */
  sha256: string;
  rank: number;
  alpha: number;
  /** Longest episode, tokens. */
  contextLength: number;
  /** Episodes that generate together: a part of what makes two runs the same. */
  parallel: number;
  /** Of the cached keys and values that tokens are drawn from. Absent = f32. */
  precision?: Precision;
  /** The world it trains in: `shop`, `web`, or the name of a world of one's own. Absent = the household. */
  world?: string;
  /** How it plays in words. Absent in runs of before it could be chosen: `formerTextSettings`. */
  text?: TextSettings;
}

/** What the experience model learned from in one refresh (refresh.ts). */
export interface Refresh {
  iteration: number;
  /** Real steps that it took. */
  transitions: number;
  sequences: { tokens: number[]; weights: number[] }[];
}

export type StoredPhase = 'running' | 'stopped' | 'finished' | 'collapsed';

/** State after `iteration` finished iterations (0 = before the first). Structured-cloneable; plain data only. */
export interface RunSnapshot {
  format: 1;
  runId: string;
  created: string;
  savedAt: string;
  adapter: string;
  model?: RunModel;
  config: RunConfig;
  iteration: number;
  phase: StoredPhase;
  /** Weights and optimiser moments of the policy. The experience model is frozen and comes with the page. */
  policy: ModelState;
  /** sha256 over the policy's weights. */
  weightsHash: string;
  buffer: BufferChanges;
  pool: StoredTask[];
  /** All iterations so far. */
  metrics: IterationMetrics[];
  evaluations: Evaluation[];
  /** Real steps taken so far only to measure: evaluations and replays. */
  measurementSteps: number;
  /** All so far; absent where there was none. A resumed run trains the experience model on them again. */
  refreshes?: Refresh[];
  /** A few rollouts of *this* iteration, for the viewer. */
  rollouts: Trajectory[];
}

/** The last commit of a run, with its buffer and rollouts put together again from all commits. */
export interface StoredRun extends Omit<RunSnapshot, 'buffer' | 'rollouts'> {
  /** Complete, in id order. */
  buffer: { transitions: Transition[]; nextId: number };
  rollouts: { iteration: number; trajectories: Trajectory[] }[];
}

export interface RunSummary {
  runId: string;
  iteration: number;
  phase: StoredPhase;
  config: RunConfig;
  created: string;
  savedAt: string;
}

export interface RunStore {
  /**
   * All or nothing: after a crash at any moment `load` returns either the previous or this iteration, whole.
   * Saving iteration 0 of a run id that exists replaces that run. Throws DreamError (`storage-full`, `storage-denied`).
   */
  save(iteration: number, snapshot: RunSnapshot): Promise<void>;
  /** null when there is no such run. Throws DreamError `corrupt-run` when it cannot be read. */
  load(runId: string): Promise<StoredRun | null>;
  /** The most recently saved run, or null. */
  latest(): Promise<RunSummary | null>;
  /** Newest first. */
  list(): Promise<RunSummary[]>;
  /** Removes a run and everything it kept. */
  remove(runId: string): Promise<void>;
}
