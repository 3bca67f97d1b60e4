/**
 * @file The page's end of a worker: starts it, and turns its death into a typed error instead of endless waiting.
 *
 * Under Trusted Types a worker's address must come from a policy, hence `?worker&url` instead of `new URL(...)`.
 */
import { type Remote, releaseProxy, wrap } from 'comlink';
import { DreamError } from '../data/errors';
import { type BootMessage, isAlive } from './boot';
import { transferTypedErrors } from './error-transfer';
import type { TrainerApi } from './protocol';
import workerUrl from './trainer.worker?worker&url';

export interface WorkerConnection {
  /** Settles when the worker is dead: `worker-crashed`. Never settles otherwise. */
  readonly crashed: Promise<DreamError>;
  terminate(): void;
}

export interface ConnectOptions {
  /** The folder of the page. */
  baseUrl?: string;
  createWorker?: () => Worker;
  locks?: LockManager;
}

/** Every call of the result rejects with `worker-crashed` once the worker has died. */
export function connectTrainer(options: ConnectOptions = {}): Remote<TrainerApi> & WorkerConnection {
  return connectWorker<TrainerApi>({ createWorker: () => trustedWorker('app', workerUrl), ...options }, crash);
}

/** The same for any worker that begins with a BootMessage. `crash` words its death. */
export function connectWorker<Api extends object>(
  options: ConnectOptions & Required<Pick<ConnectOptions, 'createWorker'>>,
  crash: (reason: string) => DreamError,
): Remote<Api> & WorkerConnection {
  transferTypedErrors();
  const worker = options.createWorker();
  const lifeLock = `dreamgym-worker-${Math.random().toString(36).slice(2)}`;
  const baseUrl = options.baseUrl ?? globalThis.document?.baseURI ?? '';
  worker.postMessage({ dreamgym: 'boot', baseUrl, lifeLock } satisfies BootMessage);
  const remote = wrap<Api>(worker) as Remote<Api> & { [releaseProxy](): void };
  const crashed = deathOf(worker, lifeLock, options.locks ?? globalThis.navigator?.locks).then(crash);
  const failing = crashed.then((error) => {
    throw error;
  });
  failing.catch(() => {});

  const connection: WorkerConnection = {
    crashed,
    terminate() {
      remote[releaseProxy]();
      worker.terminate();
    },
  };
  return new Proxy(remote, {
    get(target, key) {
      if (key === 'then') return undefined;
      if (key in connection) return connection[key as keyof WorkerConnection];
      const member: unknown = Reflect.get(target, key);
      if (typeof key !== 'string' || typeof member !== 'function') return member;
      return (...args: unknown[]) => Promise.race([member(...args), failing]);
    },
  }) as Remote<Api> & WorkerConnection;
}

/** Resolves with the reason, as far as there is one. */
function deathOf(worker: Worker, lifeLock: string, locks: LockManager | undefined): Promise<string> {
  return new Promise((resolve) => {
    // A script that does not load, or an error that nobody caught.
    worker.addEventListener('error', (event) => resolve(event.message));
    worker.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      // A worker killed for its memory sends no event at all; but its lock becomes free.
      if (isAlive(data)) void locks?.request(lifeLock, () => resolve(''))?.catch(() => {});
    });
  });
}

function crash(reason: string): DreamError {
  return new DreamError(
    'worker-crashed',
    `The part of the page that trains ended unexpectedly${reason ? ` (${reason})` : ': the browser may have run out of memory'}.`,
    'Reload the page and choose Resume: the last finished iteration is kept.',
  );
}

interface TrustedTypePolicies {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

/** A policy of its own for each worker, which lets exactly one address pass (vite.config.ts names them). */
const policies = new Map<string, ReturnType<TrustedTypePolicies['createPolicy']>>();

export function trustedWorker(name: 'app' | 'models' | 'experiments' | 'remote-world', address: string): Worker {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypePolicies };
  if (trustedTypes && !policies.has(name)) {
    const policy = trustedTypes.createPolicy(`${name}-worker`, {
      createScriptURL(url) {
        if (url === address) return url;
        throw new TypeError('Only the page’s own workers may be started.');
      },
    });
    policies.set(name, policy);
  }
  return new Worker(policies.get(name)?.createScriptURL(address) ?? address, { type: 'module', name });
}
