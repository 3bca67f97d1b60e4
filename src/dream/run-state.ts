/**
 * @file Everything a run knows besides the weights on the GPU: what a commit keeps and a resumed run starts from.
 */
import { DreamError } from '../data/errors';
import type { Trajectory } from '../data/trajectory';
import type { LanguageModel } from '../nn/language-model';
import type { Evaluation, IterationMetrics, RunConfig, RunRecord } from '../worker/protocol';
import { TaskPool } from './curriculum';
import type { Domain } from './domain';
import { changedConfig, checkConfig } from './presets';
import { ReplayBuffer } from './replay-buffer';
import type { Refresh, RunModel, RunSnapshot, StoredPhase, StoredRun } from './run-store';
import { weightsHash } from './weights-hash';

/** Most of the buffer may start offline; the rest is room for rollouts before anything must be evicted. */
const offlineShare = 0.5;

export class RunState {
  /** Finished iterations. */
  iteration = 0;
  metrics: IterationMetrics[] = [];
  evaluations: Evaluation[] = [];
  /** Real steps taken only to measure. */
  measurementSteps = 0;
  /** A few rollouts of each iteration, for the viewer. */
  rollouts: { iteration: number; trajectories: Trajectory[] }[] = [];
  weightsHash: string | null = null;
  /** What the experience model was refreshed with. */
  refreshes: Refresh[] = [];

  private constructor(
    readonly runId: string,
    readonly created: string,
    readonly adapter: string,
    readonly config: RunConfig,
    readonly buffer: ReplayBuffer,
    readonly pool: TaskPool,
    readonly model?: RunModel,
  ) {}

  /** A new run: the buffer seeded with offline transitions, the pool with the original tasks. */
  static fresh(config: RunConfig, domain: Domain, runId: string, adapter: string, model?: RunModel): RunState {
    checkConfig(config);
    const buffer = new ReplayBuffer(config.bufferCapacity);
    buffer.add(domain.offlineTransitions(Math.floor(config.bufferCapacity * offlineShare)));
    const pool = new TaskPool(domain.trainingTasks());
    return new RunState(runId, new Date().toISOString(), adapter, config, buffer, pool, model);
  }

  /**
   * A stored run, its weights loaded into `policy` and checked. `changes` may lengthen it or move it to the real world.
   * Throws DreamError `config-invalid`, `other-run`, `other-model` or `corrupt-run`.
   */
  static async restore(
    stored: StoredRun,
    policy: Pick<LanguageModel, 'importState' | 'exportState'>,
    changes: Partial<RunConfig>,
    model?: RunModel,
  ): Promise<RunState> {
    const config = changedConfig(checkConfig(stored.config), changes);
    for (const key of ['preset', 'seed'] as const) {
      if (config[key] === stored.config[key]) continue;
      throw new DreamError(
        'other-run',
        `The stored run has the ${key} ${stored.config[key]}, not ${config[key]}.`,
        'Continue it with its own settings, or start a new run elsewhere.',
      );
    }
    checkModel(stored.model, model);
    const buffer = ReplayBuffer.restore(config.bufferCapacity, stored.buffer);
    const pool = TaskPool.restore(stored.pool);
    const state = new RunState(stored.runId, stored.created, stored.adapter, config, buffer, pool, model);
    await policy.importState(stored.policy);
    state.weightsHash = await weightsHash((await policy.exportState(false)).weights);
    if (state.weightsHash !== stored.weightsHash)
      throw new DreamError(
        'corrupt-run',
        'The stored weights do not match their checksum.',
        'Start the run anew, or import an exported copy of it.',
      );
    state.iteration = stored.iteration;
    state.metrics = [...stored.metrics];
    state.evaluations = [...stored.evaluations];
    state.measurementSteps = stored.measurementSteps;
    state.refreshes = [...(stored.refreshes ?? [])];
    state.rollouts = [...stored.rollouts];
    return state;
  }

  /** The state after the last finished iteration. Takes the buffer's changes: call it once per commit. */
  async snapshot(policy: Pick<LanguageModel, 'exportState'>, phase: StoredPhase): Promise<RunSnapshot> {
    const exported = await policy.exportState(true);
    this.weightsHash = await weightsHash(exported.weights);
    return {
      format: 1,
      runId: this.runId,
      created: this.created,
      savedAt: new Date().toISOString(),
      adapter: this.adapter,
      ...(this.model ? { model: this.model } : {}),
      config: this.config,
      iteration: this.iteration,
      phase,
      policy: exported,
      weightsHash: this.weightsHash,
      buffer: this.buffer.takeChanges(),
      pool: this.pool.tasks(),
      metrics: this.metrics,
      evaluations: this.evaluations,
      measurementSteps: this.measurementSteps,
      ...(this.refreshes.length > 0 ? { refreshes: this.refreshes } : {}),
      rollouts: this.rollouts.at(-1)?.iteration === this.iteration ? this.rollouts.at(-1)!.trajectories : [],
    };
  }

  /** The run as it is exported, replayed and committed under bench/results. */
  record(): RunRecord {
    return {
      format: 'dreamgym-run',
      version: 1,
      runId: this.runId,
      created: this.created,
      adapter: this.adapter,
      ...(this.model ? { model: this.model } : {}),
      config: this.config,
      metrics: this.metrics,
      evaluations: this.evaluations,
      rollouts: this.rollouts,
      tasks: this.pool.tasks().map(({ task: _, ...entry }) => entry),
      weightsHash: this.weightsHash,
    };
  }
}

/** An adapter means nothing over another base. Throws DreamError `other-model`. */
function checkModel(stored: RunModel | undefined, given: RunModel | undefined): void {
  const same =
    stored?.sha256 === given?.sha256 && stored?.rank === given?.rank && (!stored || stored.alpha === given?.alpha);
  if (same) return;
  const name = (model: RunModel | undefined) =>
    model ? `${model.label} (rank ${model.rank}, alpha ${model.alpha})` : 'the embedded model';
  throw new DreamError(
    'other-model',
    `The stored run trains ${name(stored)}, not ${name(given)}.`,
    'Continue it with its own model and adapter settings, or start a new run elsewhere.',
  );
}
