/**
 * @file One run on its way: opens the engine, runs the loop, and when the device is lost begins again from the last
 * finished iteration.
 *
 * A lost device can leave the loop waiting for an answer that never comes; such a loop is abandoned, not awaited. What it
 * might still say is ignored, and what it might still save would be the very iteration its successor computes.
 */
import { asDreamError, DreamError } from '../data/errors';
import { DreamLoop } from '../dream/loop';
import type { RunStore, StoredRun } from '../dream/run-store';
import type { Engine, EnginePhase } from './engine';
import type { Progress, RunConfig, RunEvent, RunPhase } from './protocol';

/** How often the device may be lost without one finished iteration in between. */
const maxLosses = 3;

export interface SessionParts {
  runId: string;
  config: RunConfig;
  /** Finished iterations, as far as known before the store was read. */
  iteration: number;
  store: RunStore;
  /** The open engine, or a newly opened one. */
  acquireEngine: (onPhase: (phase: EnginePhase, detail: string) => void) => Promise<Engine>;
  /** The engine is of no use any more. */
  discardEngine: () => void;
  emit: (event: RunEvent) => void;
  /** Told when a stored run was read: metrics and evaluations so far. */
  onRestored: (stored: StoredRun) => void;
  /** Pause before the driver is asked again, ms. */
  reopenDelayMs?: number;
}

type Intent = 'run' | 'pause' | 'step' | 'stop';

export class RunSession {
  /** The loop at work; its state is ahead of the store while an iteration is under way. */
  loop: DreamLoop | null = null;
  private intent: Intent = 'run';
  private iteration: number;
  /** The last iteration the page has been told about; -1 before the first look into the store. */
  private announced = -1;
  private losses = 0;
  private wake: (() => void) | null = null;

  constructor(private readonly parts: SessionParts) {
    this.iteration = parts.iteration;
  }

  pause(): void {
    this.intent = 'pause';
    this.loop?.control.pause();
  }

  resume(): void {
    this.intent = 'run';
    this.loop?.control.resume();
    this.wake?.();
  }

  step(): void {
    this.intent = 'step';
    this.loop?.control.step();
    this.wake?.();
  }

  stop(): void {
    this.intent = 'stop';
    this.loop?.control.stop();
    this.wake?.();
  }

  /** To the end, a stop, or an error that reopening the device cannot heal (thrown as DreamError). */
  async run(): Promise<void> {
    for (;;) {
      try {
        await this.attempt();
        return;
      } catch (error) {
        if (this.intent === 'stop') return this.report('stopped', 'Stopped; the last finished iteration is kept.');
        const failure = asDreamError(error);
        // A browser whose GPU process died may offer no adapter for a while, or not before the page is reloaded.
        const comingBack = this.losses > 0 && failure.code === 'no-adapter';
        if (failure.code !== 'device-lost' && !comingBack) throw failure;
        this.parts.discardEngine();
        if (++this.losses > maxLosses) throw lostTooOften(failure);
        const { code, message, advice } = failure;
        if (!comingBack) this.parts.emit({ type: 'error', error: { code, message, advice } });
        this.report('paused', 'The graphics processor was lost; opening it again.');
        await this.rest(this.losses * (this.parts.reopenDelayMs ?? 1000));
      }
    }
  }

  private async attempt(): Promise<void> {
    const { runId, config, store } = this.parts;
    const engine = await this.parts.acquireEngine((phase, detail) => {
      if (this.intent !== 'stop') this.report(phase, detail);
    });
    let alive = true;
    let lostReason: string | null = null;
    const lost = engine.lost.then((reason) => {
      lostReason = reason;
      throw deviceLost(reason);
    });
    // A device that is closed on purpose is "lost" too, long after anybody listens.
    lost.catch(() => {});
    try {
      if (this.intent === 'stop') throw new DreamError('stopped', 'Stopped while loading.', '');
      const emit = (event: RunEvent) => {
        if (alive) this.relay(event);
      };
      const work = (async () => {
        const stored = await store.load(runId);
        const { warmUp, ...engineParts } = await engine.parts(stored, config);
        const loopParts = {
          ...engineParts,
          store,
          adapter: engine.adapter,
          gpuBytes: () => engine.gpuBytes(),
          emit,
        };
        if (stored) this.catchUp(stored);
        else this.announced = 0;
        if (!stored && warmUp) await warmUp((fraction, detail) => this.warmingUp(() => alive, fraction, detail));
        const loop = stored ? await DreamLoop.restore(loopParts, stored) : DreamLoop.fresh(loopParts, config, runId);
        if (!alive) return;
        this.loop = loop;
        this.applyIntent(loop);
        await loop.run();
      })();
      work.catch(() => {});
      await Promise.race([work, lost]);
    } catch (error) {
      // The loop's own complaint about a dead device may come first; give the reason a moment to arrive.
      await Promise.race([lost.catch(() => {}), new Promise((resolve) => setTimeout(resolve, 50))]);
      if (lostReason !== null || asDreamError(error).code === 'gpu-lost')
        throw deviceLost(lostReason ?? 'no reason given', error);
      throw error;
    } finally {
      alive = false;
      this.loop?.control.stop();
      this.loop = null;
    }
  }

  /** A safe point of the warm start, which no loop controls yet. */
  private async warmingUp(alive: () => boolean, fraction: number, detail: string): Promise<void> {
    while (this.intent === 'pause') {
      this.report('paused', 'Paused during the warm start.');
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    if (this.intent === 'stop' || !alive()) throw new DreamError('stopped', 'Stopped during the warm start.', '');
    // Part of no iteration, and so of no share of them.
    this.report('learning', detail, fraction, 0);
  }

  private applyIntent(loop: DreamLoop): void {
    if (this.intent === 'pause') loop.control.pause();
    if (this.intent === 'step') loop.control.step();
    if (this.intent === 'stop') loop.control.stop();
  }

  /** Everything the loop says, but its failures: those are judged here first. */
  private relay(event: RunEvent): void {
    if (event.type === 'error') return;
    if (event.type === 'progress') {
      if (event.progress.phase === 'failed') return;
      this.iteration = event.progress.iteration;
    }
    if (event.type === 'iteration') {
      this.announced = event.metrics.iteration;
      this.losses = 0;
      if (this.intent === 'step') this.intent = 'pause';
    }
    this.parts.emit(event);
  }

  /** A commit may have succeeded although the device died before the page heard of it. */
  private catchUp(stored: StoredRun): void {
    this.iteration = stored.iteration;
    this.parts.onRestored(stored);
    if (this.announced >= 0) {
      for (const metrics of stored.metrics.filter(({ iteration }) => iteration > this.announced)) {
        const rollouts = stored.rollouts.find(({ iteration }) => iteration === metrics.iteration)?.trajectories ?? [];
        this.relay({ type: 'iteration', metrics, rollouts });
      }
      for (const evaluation of stored.evaluations.slice(-1)) this.relay({ type: 'evaluation', evaluation });
    }
    this.announced = stored.iteration;
  }

  private report(phase: RunPhase, detail: string, fraction = 0, iterations = this.parts.config.iterations): void {
    const progress: Progress = { phase, iteration: this.iteration, iterations, fraction, secondsLeft: null, detail };
    this.parts.emit({ type: 'progress', progress });
  }

  /** Waits; a command of the person ends the wait. */
  private async rest(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      setTimeout(resolve, ms);
    });
    this.wake = null;
  }
}

function deviceLost(reason: string, cause?: unknown): DreamError {
  return new DreamError(
    'device-lost',
    `The graphics processor was reset or its process was ended (${reason}).`,
    'Nothing finished is lost: it is opened again and the run goes on from its last finished iteration.',
    { cause },
  );
}

function lostTooOften(cause: DreamError): DreamError {
  return new DreamError(
    'device-lost-again',
    `The graphics processor does not come back: ${maxLosses} attempts failed. The last finished iteration is kept.`,
    'Reload the page, or restart the browser, then choose Resume. If it happens again, close other programs that use the graphics processor.',
    { cause },
  );
}
