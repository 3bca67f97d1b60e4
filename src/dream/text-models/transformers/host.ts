/**
 * @file Keeps the worker around transformers.js alive by killing it.
 *
 * After one failed run or load, every later one in the same realm fails with the same old error (transformers.js #1767,
 * #1635), WebAssembly memory never shrinks, and a lost device is never got back. A new worker cures all three. So: any
 * failure, a crash, or silence ends the worker; the next call starts another, which loads its model again.
 */
import { DreamError } from '../../../data/errors';
import { Caller, type CallOptions, type Port } from '../channel';
import { libraryFailedCode, modelKey, type TransformersModel } from './protocol';

/** A Worker, or a fake. */
export interface KillableWorker extends Port {
  terminate(): void;
  addEventListener(type: 'message' | 'error', listener: (event: { data: unknown; message?: string }) => void): void;
}

export interface HostOptions {
  startWorker: () => KillableWorker;
  /** Silence of a worker that has work, before it is killed. Default 180,000: a first run compiles for a minute. */
  stallMs?: number;
  /** How long an aborted run may take to notice. Default 5,000. */
  graceMs?: number;
}

interface Running {
  worker: KillableWorker;
  caller: Caller;
  /** Calls under way. */
  calls: number;
  lastSign: number;
  watch: ReturnType<typeof setInterval> | null;
}

const crashedCode = 'transformers-crashed';

export class TransformersHost {
  private running: Running | null = null;
  private disposed = false;
  private readonly users = new Map<string, number>();
  /** Workers started so far. */
  starts = 0;

  constructor(private readonly options: HostOptions) {}

  /** A model or an embedder announces itself; the worker lives while there is one. */
  retain(model: TransformersModel): void {
    const key = modelKey(model);
    this.users.set(key, (this.users.get(key) ?? 0) + 1);
  }

  /** The last user of a model frees its memory; the last user of all ends the worker. */
  async release(model: TransformersModel): Promise<void> {
    const key = modelKey(model);
    const left = (this.users.get(key) ?? 0) - 1;
    if (left > 0) {
      this.users.set(key, left);
      return;
    }
    this.users.delete(key);
    if (this.users.size === 0) this.kill(gone());
    else if (this.running) await this.call('unload', { model }).catch(() => {});
  }

  /**
   * One call, on a fresh worker if need be. A worker that fails is killed and the call is made once more; then the error
   * is thrown: `transformers-failed`, `transformers-crashed`, `transformers-stalled`, or what the worker itself typed.
   */
  async call(method: string, payload: unknown, options: CallOptions = {}): Promise<unknown> {
    for (let attempt = 0; ; attempt++) {
      const running = await this.worker();
      options.signal?.throwIfAborted();
      try {
        return await this.supervise(running, method, payload, options);
      } catch (error) {
        if (options.signal?.aborted || !(error instanceof DreamError)) throw error;
        // Other calls under way in this worker fail with it, and are made again by their own loop.
        this.kill(crashed(`another request failed: ${error.message}`), running);
        const mayPass = error.code === libraryFailedCode || error.code === crashedCode;
        if (!mayPass || attempt > 0 || this.disposed) throw error;
      }
    }
  }

  /** Ends the worker at once. */
  dispose(): void {
    this.disposed = true;
    this.kill(gone());
  }

  private async supervise(
    running: Running,
    method: string,
    payload: unknown,
    { signal, onProgress }: CallOptions,
  ): Promise<unknown> {
    running.lastSign = Date.now();
    running.calls++;
    this.watch(running);
    try {
      return await running.caller.call(method, payload, {
        signal,
        onProgress: (value) => {
          running.lastSign = Date.now();
          onProgress?.(value);
        },
      });
    } finally {
      running.calls--;
      if (running.calls === 0) this.unwatch(running);
    }
  }

  /** The worker, once it is free of what was aborted; a new one where there is none or it does not let go. */
  private async worker(): Promise<Running> {
    if (this.disposed) throw gone();
    const { running } = this;
    if (running) {
      const { graceMs = 5_000 } = this.options;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<'late'>((resolve) => {
        timer = setTimeout(resolve, graceMs, 'late');
      });
      const outcome = await Promise.race([running.caller.quiet(), late]);
      clearTimeout(timer);
      if (outcome === 'late') this.kill(crashed('it did not stop when asked'), running);
      if (this.disposed) throw gone();
    }
    this.running ??= this.start();
    return this.running;
  }

  private start(): Running {
    this.starts++;
    const worker = this.options.startWorker();
    const running: Running = { worker, caller: new Caller(worker), calls: 0, lastSign: Date.now(), watch: null };
    worker.addEventListener('error', ({ message }) => this.kill(crashed(message || 'no reason given'), running));
    return running;
  }

  private watch(running: Running): void {
    const { stallMs = 180_000 } = this.options;
    running.watch ??= setInterval(
      () => {
        if (Date.now() - running.lastSign >= stallMs) this.kill(stalled(stallMs), running);
      },
      Math.max(10, stallMs / 10),
    );
  }

  private unwatch(running: Running): void {
    if (running.watch !== null) clearInterval(running.watch);
    running.watch = null;
  }

  private kill(reason: DreamError, running = this.running): void {
    if (!running) return;
    if (this.running === running) this.running = null;
    this.unwatch(running);
    running.worker.terminate();
    running.caller.fail(reason);
  }
}

const gone = () => new DreamError('transformers-closed', 'The model was closed.', 'Open it again to go on with it.');

const crashed = (why: string) =>
  new DreamError(
    crashedCode,
    `The worker that runs the model ended: ${why}.`,
    'The machine may be short of memory: close other pages, or choose a smaller model.',
  );

const stalled = (ms: number) =>
  new DreamError(
    'transformers-stalled',
    `The model made no step for ${Math.round(ms / 1000)} s and was stopped.`,
    'It may be too large for this machine: choose a smaller model or fewer requests at once.',
  );
