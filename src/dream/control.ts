/**
 * @file Pause, step and stop: a gate that the loop passes at every safe point (between turns, batches and phases).
 *
 * Pausing holds the loop where it stands, with nothing lost; stopping drops the unfinished iteration, because the last
 * finished one is already saved.
 */

/** Thrown at a gate after `stop()`; the loop ends in phase `stopped`. Not an error a person sees. */
export class RunStopped extends Error {
  constructor() {
    super('The run was stopped.');
    this.name = 'RunStopped';
  }
}

export class RunControl {
  private paused = false;
  private stopped = false;
  private pauseAfterIteration = false;
  private waiting: (() => void)[] = [];

  /** @param onChange told when the loop halts at a gate (true) and when it goes on (false). */
  constructor(private readonly onChange: (halted: boolean) => void = () => {}) {}

  get isPaused(): boolean {
    return this.paused;
  }

  get isStopped(): boolean {
    return this.stopped;
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.pauseAfterIteration = false;
    this.release();
  }

  /** Goes on for one iteration, then pauses. */
  step(): void {
    this.paused = false;
    this.pauseAfterIteration = true;
    this.release();
  }

  stop(): void {
    this.stopped = true;
    this.release();
  }

  /** The loop reports each finished iteration. */
  iterationFinished(): void {
    if (this.pauseAfterIteration) this.paused = true;
    this.pauseAfterIteration = false;
  }

  /** Passes at once, waits while paused, or throws RunStopped. */
  async gate(): Promise<void> {
    if (this.paused && !this.stopped) {
      this.onChange(true);
      while (this.paused && !this.stopped) await new Promise<void>((resolve) => this.waiting.push(resolve));
      if (!this.stopped) this.onChange(false);
    }
    if (this.stopped) throw new RunStopped();
  }

  private release(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
}
