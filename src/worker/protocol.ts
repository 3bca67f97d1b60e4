/** @file The typed surface between the page (or a script) and the trainer: settings in, snapshots and events out. */
import type { Trajectory } from '../data/trajectory';
import type { TextSettings } from '../dream/text-household/settings';
import type { Precision } from '../nn/precision';
import type { AlgorithmName, LearnerSettings } from '../rl/algorithms';

export const presetNames = ['household-tiny', 'household-quick'] as const;
export type PresetName = (typeof presetNames)[number];

/**
 * Everything that defines a run. Same config + same adapter = same run. Defaults come from dream/presets.ts. What the learner
 * is told stands in rl/algorithms.ts; runs of before a setting existed have its neutral value.
 */
export interface RunConfig extends LearnerSettings {
  preset: PresetName;
  seed: number;
  iterations: number;
  /** Where training rollouts come from. */
  rollouts: 'dream' | 'real';
  tasksPerIteration: number;
  groupSize: number;
  maxSteps: number;
  temperature: number;
  /** Fills in the settings that were not given; what counts are the settings. */
  algorithm: AlgorithmName;
  /** Rounds of further groups in place of those that all won or all lost. */
  resampleRounds: number;
  /** Sim-to-real: so many iterations at the end of a dreamed run practise in the real world. */
  realIterations: number;
  /** The most transitions these may take there; 0 = as many as they need. */
  realBudget: number;
  /** Cap on the share of generated tasks in an iteration (the paper's lambda). */
  lambda: number;
  /** Which of the generator's good proposals enter the pool: all, or of each parent's the most challenging feasible one. */
  taskSelection: 'all' | 'most-challenging';
  /** Variants of a parent that are weighed for the latter. */
  taskCandidates: number;
  retrievalTopK: number;
  experienceTemperature: number;
  /** False: the dream sees the state alone, not how the episode came to it (the paper's ablation). */
  history: boolean;
  /** Let the dreamed transcript decide success: one it does not show is refused, one it shows is granted. */
  goalCheck: boolean;
  /** Ask once more when a dreamed step contradicts its own transcript. */
  stepCheck: boolean;
  /** Every so many iterations the experience model learns from real episodes of the policy; 0 = never. */
  refreshEvery: number;
  /** The most real transitions that one refresh may take. */
  refreshTransitions: number;
  /** Stop when the replay precision of dreamed successes stays below this (0 = never). */
  minReplayPrecision: number;
  evalEvery: number;
  evalTasks: number;
  bufferCapacity: number;
}

export interface Rate {
  rate: number;
  low: number;
  high: number;
  episodes: number;
}

export interface IterationMetrics {
  iteration: number;
  /** Share of training episodes that ended with reward 1, as the training world (dream or real) says. */
  trainReward: number;
  /** Dreamed successes replayed in the real world: true / all. null when there were none or nothing was dreamed. */
  replayPrecision: number | null;
  replayTrue: number;
  replayFalse: number;
  /** Mean |dreamed return - real return of the same actions|. */
  rewardError: number | null;
  /** Share of dreamed next observations equal to the real ones given the same true prefix of actions. */
  nextStateAccuracy: number | null;
  /** The same word by word. */
  nextWordAccuracy?: number | null;
  /** Share of all dreamed episodes whose actions succeed in the real world. */
  replaySuccess?: number | null;
  /** Share of dreamed facts (places, things, contents) that could be so in the task's room, and that are so. */
  admissibility?: number | null;
  factTruth?: number | null;
  /** Wrong rewards an episode and wrong next states a step, both after a true past: eps_R, eps_P (dream/fidelity/bound.ts). */
  epsilonReward?: number | null;
  epsilonState?: number | null;
  /** Share of dreamed episodes that departed from the real ones. */
  departed?: number | null;
  /** Share of valid dreamed steps that the model called a success, before any check; and of really valid steps that are one. */
  successClaims?: number | null;
  realSuccessesPerStep?: number | null;
  loss: number;
  entropy: number;
  kl: number;
  clipFraction: number;
  gradNorm: number;
  logProbGap: number;
  groupStd: number;
  zeroVarianceGroups: number;
  validActionRate: number;
  meanTurns: number;
  malformed: number;
  syntheticShare: number;
  /** Mean of p(1-p) over this iteration's groups. */
  taskDifficulty: number;
  /** Totals of the run so far: tasks the generator added, and steps the policy was trained on. */
  tasksGenerated: number;
  bufferSize: number;
  realTransitions: number;
  dreamedTransitions: number;
  /** Total of real steps taken only to measure (replays and evaluations); nothing of them reaches the learner. */
  measurementSteps?: number;
  /** Policy turns that could not be read (they count as invalid actions); `malformed` counts the experience model's. */
  malformedActions?: number;
  /** Episodes given up because the experience model could not be read twice in a row; never trained on. */
  lostEpisodes?: number;
  /** Their share of all. */
  lostShare?: number | null;
  /** Groups played beyond those asked for, in place of groups without signal. */
  redrawnGroups?: number;
  /** Episodes cut off by the step limit that bore no loss. */
  maskedEpisodes?: number;
  /** Updates whose loss or gradient was not finite, and how many of them stood at the end, one after the other. */
  skippedUpdates?: number;
  skippedInARow?: number;
  /** Mean KL estimate of the rollouts against the reference, and the coefficient that the next iteration begins with. */
  referenceKl?: number;
  klCoef?: number;
  /** The critic's loss, and how much of the returns' variance it explained before the update (null: they did not vary). */
  valueLoss?: number;
  explainedVariance?: number | null;
  /** Total of real steps that refreshed the experience model (a part of `realTransitions`), and the last refresh's loss. */
  refreshTransitions?: number;
  refreshLoss?: number | null;
  /** Dreamed successes that the goal check took back. */
  rejectedSuccesses?: number;
  /** Share of dreamed steps that contradict their own transcript (things in two places, impossible actions accepted). */
  contradictionRate?: number | null;
  generateTokensPerSecond: number;
  trainTokensPerSecond: number;
  gpuBytes: number;
  seconds: number;
  /** Real-world success on the held-out tasks, when this iteration evaluated. Never trained on. */
  evaluation?: Evaluation;
}

export interface Evaluation {
  iteration: number;
  atRolloutTemperature: Rate;
  atLowTemperature: Rate;
  /** The world has no truth: this was dreamed, by the same model that dreams the training. */
  imagined?: true;
}

export type RunPhase =
  | 'idle'
  | 'loading'
  | 'self-test'
  | 'evaluating'
  | 'rolling-out'
  | 'learning'
  | 'saving'
  | 'paused'
  | 'stopped'
  | 'finished'
  | 'failed';

export interface Progress {
  phase: RunPhase;
  iteration: number;
  iterations: number /** 0..1 within the phase */;
  fraction: number;
  secondsLeft: number | null;
  detail: string;
}

export interface PoolTask {
  id: string;
  instruction: string;
  room: string;
  family: string;
  parent: string | null;
  generated: boolean;
  visits: number;
  lastSuccess: number | null;
  variance: number | null;
  /** Its last visits, oldest first; absent in runs of before they were kept. */
  history?: { iteration: number; success: number; variance: number }[];
}

export interface BufferEntry {
  state: string;
  action: string;
  nextState: string;
  reward: number;
  source: string;
  room: string;
}

/** An error that says what to do. `code` is stable for scripts. */
export interface TypedError {
  code: string;
  message: string;
  advice: string;
}

export type RunEvent =
  | { type: 'progress'; progress: Progress }
  | { type: 'iteration'; metrics: IterationMetrics; rollouts: Trajectory[] }
  | { type: 'evaluation'; evaluation: Evaluation }
  | { type: 'adapter'; adapter: string; software: boolean; gpuBytes: number }
  | { type: 'notice'; level: 'info' | 'warning'; message: string }
  | { type: 'error'; error: TypedError };

export interface RunStatus {
  runId: string | null;
  config: RunConfig | null;
  progress: Progress;
  metrics: IterationMetrics[];
  evaluations: Evaluation[];
  adapter: string | null;
  error: TypedError | null;
}

/** A finished or running run, as exported, imported, recorded for replay, and committed under bench/results. */
export interface RunRecord {
  format: 'dreamgym-run';
  version: 1;
  runId: string;
  created: string;
  adapter: string;
  /** The base model that an adapter was trained for; absent for the embedded one. */
  model?: {
    label: string;
    sha256: string;
    rank: number;
    alpha: number;
    contextLength: number;
    parallel: number;
    world?: string;
    precision?: Precision;
    /** How it plays in words (dream/text-household/settings.ts); absent in older runs. */
    text?: TextSettings;
  };
  config: RunConfig;
  metrics: IterationMetrics[];
  evaluations: Evaluation[];
  /** A few rollouts of each iteration, for the viewer. */
  rollouts: { iteration: number; trajectories: Trajectory[] }[];
  tasks: PoolTask[];
  weightsHash: string | null;
}

/** What the worker offers through Comlink. */
export interface TrainerApi {
  subscribe(listener: (event: RunEvent) => void): void;
  status(): RunStatus;
  start(config: Partial<RunConfig>): Promise<void>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** One iteration, then pause. Without a run under way: begins one with `config`, or goes on with the last one. */
  step(config?: Partial<RunConfig>): Promise<void>;
  stop(): Promise<void>;
  reset(): Promise<void>;
  /** The last unfinished run kept in IndexedDB, if any. */
  lastRun(): Promise<{ runId: string; iteration: number; config: RunConfig; savedAt: string } | null>;
  exportRun(): Promise<Uint8Array>;
  importRun(bytes: Uint8Array): Promise<RunRecord>;
  tasks(): Promise<PoolTask[]>;
  buffer(query: string, limit: number): Promise<BufferEntry[]>;
  storage(): Promise<StorageReport>;
  /** Any kept run but the one under way. Throws `run-locked` when another tab is at it. */
  deleteRun(runId: string): Promise<void>;
  /** Stops the run under way and forgets all runs. */
  deleteEverything(): Promise<void>;
}

export interface StoredRunInfo {
  runId: string;
  iteration: number;
  phase: 'running' | 'stopped' | 'finished' | 'collapsed';
  config: RunConfig;
  created: string;
  savedAt: string;
}

/** What this page keeps on the reader's machine. Bytes are null where the browser does not tell. */
export interface StorageReport {
  /** 'memory': the browser refused, and the person chose to go on without. */
  kept: 'browser' | 'memory';
  usageBytes: number | null;
  quotaBytes: number | null;
  persisted: boolean;
  /** Newest first. */
  runs: StoredRunInfo[];
}
