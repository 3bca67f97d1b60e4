/** @file Two ends of a port in one thread, and a worker that is a function. Messages are cloned as a real port does it. */
import type { KillableWorker } from '../../../src/dream/text-models';
import type { Port } from '../../../src/dream/text-models/channel';

type Listener = (event: { data: unknown; message?: string }) => void;

class End implements Port {
  private readonly listeners = new Map<string, Set<Listener>>();
  other!: End;
  open = true;

  postMessage(message: unknown): void {
    const data = structuredClone(message);
    queueMicrotask(() => {
      if (this.open && this.other.open) this.other.emit('message', { data });
    });
  }
  addEventListener(type: string, listener: Listener): void {
    this.listeners.set(type, (this.listeners.get(type) ?? new Set()).add(listener));
  }
  removeEventListener(type: string, listener: Listener): void {
    this.listeners.get(type)?.delete(listener);
  }
  emit(type: string, event: { data: unknown; message?: string }): void {
    for (const listener of this.listeners.get(type) ?? []) listener(event);
  }
}

export function portPair(): [Port, Port] {
  const [a, b] = [new End(), new End()];
  a.other = b;
  b.other = a;
  return [a, b];
}

export interface FakeWorker extends KillableWorker {
  readonly terminated: boolean;
  crash(message: string): void;
}

/** `run` is the worker's script; it gets the worker's own end. */
export function fakeWorker(run: (self: Port) => void): FakeWorker {
  const [outside, inside] = portPair() as [End, End];
  run(inside);
  return {
    postMessage: (message) => outside.postMessage(message),
    addEventListener: (type: string, listener: Listener) => outside.addEventListener(type, listener),
    removeEventListener: (type, listener) => outside.removeEventListener(type, listener),
    terminate() {
      inside.open = false;
      outside.open = false;
    },
    get terminated() {
      return !inside.open;
    },
    crash: (message) => outside.emit('error', { data: undefined, message }),
  };
}
