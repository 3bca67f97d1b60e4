/**
 * @file The trainer behind the page: commands in, events out, one run at a time in the background.
 *
 * Commands answer as soon as they are accepted; how the run fares arrives as events, and `status()` tells it all again to
 * whoever asks. No DOM: the same class runs in a worker and in Node.
 */
import { asDreamError, type DreamError } from '../data/errors';
import { readRunRecord } from '../data/importers/run-record';
import { checkConfig, resolveConfig } from '../dream/presets';
import type { StoredRun } from '../dream/run-store';
import { searchBuffer } from './buffer-search';
import type { Engine, OpenEngine } from './engine';
import { EventBatcher, type Listener } from './event-batcher';
import type {
  BufferEntry,
  PoolTask,
  Progress,
  RunConfig,
  RunEvent,
  RunRecord,
  RunStatus,
  StorageReport,
  TrainerApi,
} from './protocol';
import { busy, nothingToResume } from './refusals';
import { RunSession } from './run-session';
import { exported, RunShelf } from './run-shelf';
import { account, emptyStatus, idle } from './run-status';
import { isUnfinished, StorageKeeper } from './storage-keeper';
import { visibleTask } from './stored-record';

export interface TrainerOptions {
  openEngine: OpenEngine;
  storage?: StorageKeeper;
  reopenDelayMs?: number;
}

export class TrainerService implements TrainerApi {
  private readonly events = new EventBatcher();
  private readonly keeper: StorageKeeper;
  private engine: Engine | null = null;
  private session: RunSession | null = null;
  private conducted: Promise<void> = Promise.resolve();
  /** A command is being accepted: a second one must not slip in between. */
  private accepting = false;
  private state: RunStatus = emptyStatus();
  private readonly shelf: RunShelf;

  constructor(private readonly options: TrainerOptions) {
    this.keeper =
      options.storage ?? new StorageKeeper((message) => this.emit({ type: 'notice', level: 'warning', message }));
    this.shelf = new RunShelf(this.keeper);
  }

  subscribe(listener: Listener): void {
    this.events.subscribe(listener);
  }

  /** A run is at work, or paused where it stands. */
  get underWay(): boolean {
    return this.accepting || this.session !== null;
  }

  status(): RunStatus {
    return { ...this.state, metrics: [...this.state.metrics], evaluations: [...this.state.evaluations] };
  }

  /** Throws `config-invalid`, `already-running`, `storage-denied`. */
  async start(settings: Partial<RunConfig>): Promise<void> {
    await this.accept(async () => {
      await this.begin(settings, 'run');
    });
  }

  async pause(): Promise<void> {
    this.session?.pause();
  }

  /** The paused run, or the last unfinished one of this browser. Throws `nothing-to-resume`, `run-locked`. */
  async resume(): Promise<void> {
    if (this.session) return this.session.resume();
    await this.accept(() => this.goOn('run'));
  }

  async step(settings?: Partial<RunConfig>): Promise<void> {
    if (this.session) return this.session.step();
    await this.accept(async () => {
      const waiting = this.state.progress.phase === 'paused';
      if (waiting || (!settings && (await this.keeper.lastUnfinished()))) await this.goOn('step');
      else await this.begin(settings ?? {}, 'step');
    });
  }

  /** Resolves when the run has ended; its last finished iteration is kept. */
  async stop(): Promise<void> {
    if (this.session) {
      this.session.stop();
      await this.conducted;
    } else if (this.state.progress.phase === 'paused') this.enter({ phase: 'stopped', detail: '' });
  }

  /** Ends and forgets the run. */
  async reset(): Promise<void> {
    await this.stop();
    const { runId } = this.state;
    this.shelf.clear();
    this.state = { ...emptyStatus(), adapter: this.state.adapter };
    this.emit({ type: 'progress', progress: idle });
    if (runId) await this.keeper.remove(runId);
  }

  async lastRun(): ReturnType<TrainerApi['lastRun']> {
    const run = await this.keeper.lastUnfinished();
    return run && { runId: run.runId, iteration: run.iteration, config: run.config, savedAt: run.savedAt };
  }

  /** The last *finished* iteration of the run, not what is under way. Throws `nothing-to-export`. */
  async exportRun(): Promise<Uint8Array> {
    return exported(await this.storedRun());
  }

  /** A run to look at. Throws `not-a-run`, `corrupt-run`, `newer-run`. */
  async importRun(bytes: Uint8Array): Promise<RunRecord> {
    const { record, notices } = await readRunRecord(bytes, checkConfig);
    for (const message of notices) this.emit({ type: 'notice', level: 'warning', message });
    return record;
  }

  async tasks(): Promise<PoolTask[]> {
    const loop = this.session?.loop;
    if (loop) return loop.state.pool.tasks().map(visibleTask);
    return ((await this.storedRun())?.pool ?? []).map(visibleTask);
  }

  async buffer(query: string, limit: number): Promise<BufferEntry[]> {
    const loop = this.session?.loop;
    const transitions = loop ? loop.state.buffer.transitions() : ((await this.storedRun())?.buffer.transitions ?? []);
    return searchBuffer(transitions, query, limit);
  }

  async storage(): Promise<StorageReport> {
    return this.keeper.report();
  }

  async deleteRun(runId: string): Promise<void> {
    if (this.session && runId === this.state.runId) throw busy();
    await this.keeper.remove(runId);
    this.shelf.forget(runId);
  }

  async deleteEverything(): Promise<void> {
    await this.reset();
    await this.keeper.removeEverything();
  }

  /** For failures nobody awaits, e.g. an unhandled rejection in the worker. */
  report(error: unknown): void {
    const { code, message, advice } = asDreamError(error);
    this.emit({ type: 'error', error: { code, message, advice } });
  }

  private async accept(command: () => Promise<void>): Promise<void> {
    if (this.accepting || this.session) throw busy();
    this.accepting = true;
    try {
      await command();
    } finally {
      this.accepting = false;
    }
  }

  private async begin(settings: Partial<RunConfig>, how: 'run' | 'step'): Promise<void> {
    const config = resolveConfig(settings);
    await this.keeper.prepare();
    const runId = `${config.preset}-${config.seed}-${new Date().toISOString().replace(/[:.]/g, '-')}`;
    const release = await this.keeper.lock(runId);
    this.state = { ...emptyStatus(), runId, config, adapter: this.state.adapter };
    this.conduct(runId, config, how, release);
  }

  private async goOn(how: 'run' | 'step'): Promise<void> {
    const runId = this.unfinishedHere() ?? (await this.keeper.lastUnfinished())?.runId;
    if (!runId) throw nothingToResume();
    const release = await this.keeper.lock(runId);
    try {
      const stored = await this.keeper.runs.load(runId);
      if (!stored) throw nothingToResume();
      this.state = { ...emptyStatus(), adapter: this.state.adapter };
      this.restored(stored);
      this.conduct(runId, stored.config, how, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  /** The run this tab was at, if it ended before its end. */
  private unfinishedHere(): string | null {
    const { runId, progress } = this.state;
    return runId && ['paused', 'stopped', 'failed'].includes(progress.phase) && progress.iteration < progress.iterations
      ? runId
      : null;
  }

  /** Runs in the background; its end is an event. */
  private conduct(runId: string, config: RunConfig, how: 'run' | 'step', release: () => void): void {
    this.shelf.clear();
    const session = new RunSession({
      runId,
      config,
      iteration: this.state.progress.iteration,
      store: this.keeper.runs,
      acquireEngine: async (onPhase) => {
        if (!this.engine) this.adopt(await this.options.openEngine(onPhase));
        return this.engine!;
      },
      discardEngine: () => {
        this.engine?.close();
        this.engine = null;
      },
      emit: (event) => this.emit(event),
      onRestored: (stored) => this.restored(stored),
      reopenDelayMs: this.options.reopenDelayMs,
    });
    if (how === 'step') session.step();
    this.session = session;
    this.enter({ phase: 'loading', iterations: config.iterations, detail: '' });
    this.conducted = (async () => {
      const failure = await session.run().then(
        () => null,
        (error: unknown) => asDreamError(error),
      );
      this.session = null;
      release();
      if (failure) await this.fail(failure);
      this.events.deliver();
    })();
  }

  /** What can be resumed is paused, not failed: one press goes on from the last finished iteration. */
  private async fail(error: DreamError): Promise<void> {
    const { runId } = this.state;
    const summary = await this.keeper.runs
      .list()
      .then((runs) => runs.find((run) => run.runId === runId))
      .catch(() => undefined);
    this.report(error);
    const resumable = summary !== undefined && isUnfinished(summary) && error.code !== 'corrupt-run';
    // The loop may have counted an iteration that could not be saved.
    const iteration = summary?.iteration ?? 0;
    this.enter({ phase: resumable ? 'paused' : 'failed', iteration, detail: error.message });
  }

  private adopt(engine: Engine): void {
    this.engine = engine;
    this.emit({
      type: 'adapter',
      adapter: engine.adapter,
      software: engine.software,
      gpuBytes: engine.gpuBytes(),
    });
    // A device that dies while nobody uses it must not be handed to the next run.
    void engine.lost.then(() => {
      if (this.engine === engine && !this.session) this.engine = null;
    });
  }

  private restored(stored: StoredRun): void {
    const { runId, config, metrics, evaluations, iteration } = stored;
    this.state = { ...this.state, runId, config, metrics: [...metrics], evaluations: [...evaluations] };
    this.state.progress = { ...this.state.progress, iteration, iterations: config.iterations };
  }

  private enter(progress: Partial<Progress>): void {
    const next = { ...this.state.progress, fraction: 0, secondsLeft: null, ...progress };
    this.emit({ type: 'progress', progress: next });
  }

  /** Keeps `status()` true, then tells the page. */
  private emit(event: RunEvent): void {
    account(this.state, event);
    this.events.push(event);
  }

  private storedRun(): Promise<StoredRun | null> {
    return this.shelf.read(this.state.runId, this.session !== null);
  }
}
