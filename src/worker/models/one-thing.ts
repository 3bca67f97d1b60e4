/** @file One thing at a time, and a way to end it. */
import { asDreamError, DreamError } from '../../data/errors';
import { busy, stopped } from './service-errors';

export class OneThing {
  /** What is going on, for the message that refuses a second thing. */
  private name: string | null = null;
  private working: AbortController | null = null;

  /** @param other what else may be going on, or null; `onEnd` is called after everything. */
  constructor(
    private readonly other: () => string | null,
    private readonly onEnd: () => void,
  ) {}

  get busy(): boolean {
    return this.name !== null;
  }

  /** Throws `busy`. */
  mustBeIdle(): void {
    const name = this.name ?? this.other();
    if (name) throw busy(name);
  }

  /** Throws `busy`, `stopped`, or what `work` throws as a DreamError. */
  async run<T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.mustBeIdle();
    this.name = name;
    this.working = new AbortController();
    const { signal } = this.working;
    try {
      return await work(signal);
    } catch (error) {
      if (signal.aborted && !(error instanceof DreamError && error.code !== 'download-stopped')) throw stopped();
      throw asDreamError(error);
    } finally {
      this.name = null;
      this.working = null;
      this.onEnd();
    }
  }

  stop(): void {
    this.working?.abort();
  }
}
