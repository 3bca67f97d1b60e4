/** @file What a run says of itself while it works: where it is, how long it will take, what went wrong. */
import { asDreamError } from '../data/errors';
import type { RunEvent, RunPhase } from '../worker/protocol';
import type { RunState } from './run-state';

/** Iterations whose mean duration predicts the rest. */
const recentIterations = 5;

export class RunReporter {
  /** The last phase that was not a pause. */
  phase: RunPhase = 'idle';

  constructor(
    private readonly state: RunState,
    private readonly emit: (event: RunEvent) => void,
  ) {}

  progress(phase: RunPhase, fraction: number, detail: string): void {
    if (phase !== 'paused') this.phase = phase;
    const { config, iteration } = this.state;
    const progress = {
      phase,
      iteration,
      iterations: config.iterations,
      fraction,
      secondsLeft: this.secondsLeft(),
      detail,
    };
    this.emit({ type: 'progress', progress });
  }

  /** The loop stands at a gate, or goes on from it. */
  halted(halted: boolean): void {
    this.progress(halted ? 'paused' : this.phase, 0, '');
  }

  warn(message: string): void {
    this.emit({ type: 'notice', level: 'warning', message });
  }

  collapse(): void {
    const percent = Math.round(this.state.config.minReplayPrecision * 100);
    this.warn(
      `The dream no longer tells the truth: fewer than ${percent} % of its recent successes work in the real world. ` +
        'The run stops here; every evaluation so far stands in the record.',
    );
  }

  failure(error: unknown): void {
    const { code, message, advice } = asDreamError(error);
    this.progress('failed', 0, message);
    this.emit({ type: 'error', error: { code, message, advice } });
  }

  private secondsLeft(): number | null {
    const { config, metrics, iteration } = this.state;
    const recent = metrics.slice(-recentIterations);
    if (recent.length === 0) return null;
    const perIteration = recent.reduce((sum, m) => sum + m.seconds, 0) / recent.length;
    return Math.max(0, config.iterations - iteration) * perIteration;
  }
}
