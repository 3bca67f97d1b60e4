/**
 * @file Calls across a message port: a worker that may be killed, or a model that lives in another thread.
 *
 * Comlink has no way to abort a call or to report progress of one, and a call to a dead worker never ends; hence these few
 * lines. Every call carries an id, so many may be under way; errors keep their code and advice.
 */
import { DreamError } from '../../data/errors';

/** The part of Worker and MessagePort that is used; a fake in tests. */
export interface Port {
  postMessage(message: unknown): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
  removeEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
  /** A MessagePort waits for this. */
  start?(): void;
}

interface WireError {
  code: string;
  message: string;
  advice: string;
}

type Request = { call: number; method: string; payload: unknown } | { abort: number };
type Reply = { call: number } & ({ result: unknown } | { error: WireError } | { progress: unknown });

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const isRequest = (data: unknown): data is Request =>
  isRecord(data) &&
  (typeof data.abort === 'number' || (typeof data.call === 'number' && typeof data.method === 'string'));
const isReply = (data: unknown): data is Reply =>
  isRecord(data) && typeof data.call === 'number' && ('result' in data || 'error' in data || 'progress' in data);

export interface CallContext {
  signal: AbortSignal;
  progress(value: unknown): void;
}

export type Handler = (payload: unknown, context: CallContext) => Promise<unknown>;

/** The code of a call that was aborted on purpose. */
export const abortedCode = 'aborted';

/** Answers calls on `port`. `wrap` gives an error that is not typed yet its code and advice. Returns how to stop. */
export function serve(
  port: Port,
  handlers: Readonly<Record<string, Handler>>,
  wrap: (error: unknown) => DreamError,
): () => void {
  const running = new Map<number, AbortController>();
  const send = (reply: Reply) => port.postMessage(reply);

  async function answer(call: number, method: string, payload: unknown): Promise<void> {
    const controller = new AbortController();
    running.set(call, controller);
    try {
      if (!Object.hasOwn(handlers, method)) throw new Error(`There is no method ${method}.`);
      const context = { signal: controller.signal, progress: (value: unknown) => send({ call, progress: value }) };
      send({ call, result: await handlers[method](payload, context) });
    } catch (error) {
      const { code, message, advice } = controller.signal.aborted
        ? { code: abortedCode, message: 'aborted', advice: '' }
        : error instanceof DreamError
          ? error
          : wrap(error);
      send({ call, error: { code, message, advice } });
    } finally {
      running.delete(call);
    }
  }

  const listen = ({ data }: { data: unknown }) => {
    if (!isRequest(data)) return;
    if ('abort' in data) running.get(data.abort)?.abort();
    else void answer(data.call, data.method, data.payload);
  };
  port.addEventListener('message', listen);
  port.start?.();
  return () => {
    port.removeEventListener('message', listen);
    for (const controller of running.values()) controller.abort();
  };
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  progress?: (value: unknown) => void;
}

export interface CallOptions {
  signal?: AbortSignal;
  onProgress?: (value: unknown) => void;
}

/** The calling end. */
export class Caller {
  private readonly pending = new Map<number, Pending>();
  /** Aborted calls whose end the other side has not reported yet. */
  private readonly ending = new Set<number>();
  private whenIdle: (() => void)[] = [];
  private nextCall = 0;
  private failure: unknown = null;

  constructor(private readonly port: Port) {
    port.addEventListener('message', this.listen);
    port.start?.();
  }

  /** Rejects with the handler's DreamError, at once with `signal.reason` when aborted, or with what `fail` was given. */
  call(method: string, payload: unknown, { signal, onProgress }: CallOptions = {}): Promise<unknown> {
    if (this.failure) return Promise.reject(this.failure);
    if (signal?.aborted) return Promise.reject(signal.reason);
    const call = this.nextCall++;
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.pending.delete(call);
        this.ending.add(call);
        this.port.postMessage({ abort: call } satisfies Request);
        reject(signal!.reason);
      };
      const settled = () => signal?.removeEventListener('abort', abort);
      this.pending.set(call, {
        resolve: (value) => {
          settled();
          resolve(value);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
        progress: onProgress,
      });
      signal?.addEventListener('abort', abort, { once: true });
      try {
        this.port.postMessage({ call, method, payload } satisfies Request);
      } catch (error) {
        settled();
        this.pending.delete(call);
        reject(error);
      }
    });
  }

  /** Settles when nothing that was aborted is still at work on the other side. */
  quiet(): Promise<void> {
    return this.ending.size === 0 ? Promise.resolve() : new Promise((resolve) => this.whenIdle.push(resolve));
  }

  /** The other side is gone: every call, now and later, rejects with `error`. */
  fail(error: unknown): void {
    this.failure ??= error;
    this.port.removeEventListener('message', this.listen);
    const pending = [...this.pending.values()];
    this.pending.clear();
    this.ending.clear();
    this.becomeQuiet();
    for (const { reject } of pending) reject(error);
  }

  private becomeQuiet(): void {
    const waiting = this.whenIdle;
    this.whenIdle = [];
    for (const resolve of waiting) resolve();
  }

  private readonly listen = ({ data }: { data: unknown }) => {
    if (!isReply(data)) return;
    const entry = this.pending.get(data.call);
    if ('progress' in data) {
      entry?.progress?.(data.progress);
      return;
    }
    this.pending.delete(data.call);
    if (this.ending.delete(data.call) && this.ending.size === 0) this.becomeQuiet();
    if (!entry) return;
    if ('error' in data) entry.reject(new DreamError(data.error.code, data.error.message, data.error.advice));
    else entry.resolve(data.result);
  };
}
