import { expose, proxy } from 'comlink';
import { afterEach, describe, expect, it } from 'vitest';
import { DreamError } from '../../src/data/errors';
import { type AliveMessage, isBoot } from '../../src/worker/boot';
import { connectTrainer } from '../../src/worker/client';
import type { RunEvent } from '../../src/worker/protocol';
import { TrainerService } from '../../src/worker/trainer';
import { fakeMachine } from './fake-engine';

/** A worker in the same thread: one end of a channel for the page, the other for the trainer. */
class FakeWorker extends EventTarget {
  readonly far: MessagePort;
  terminated = false;
  private readonly near: MessagePort;

  constructor() {
    super();
    const { port1, port2 } = new MessageChannel();
    this.near = port1;
    this.far = port2;
    this.near.onmessage = ({ data, ports }) => this.dispatchEvent(Object.assign(new Event('message'), { data, ports }));
  }

  postMessage(message: unknown, transfer: Transferable[] = []): void {
    this.near.postMessage(message, transfer);
  }

  terminate(): void {
    this.terminated = true;
    this.near.close();
    this.far.close();
  }

  fail(message: string): void {
    this.dispatchEvent(Object.assign(new Event('error'), { message }));
  }
}

const workers: FakeWorker[] = [];
afterEach(() => {
  for (const worker of workers.splice(0)) worker.terminate();
});

function connect(locks?: LockManager) {
  const worker = new FakeWorker();
  workers.push(worker);
  let baseUrl = '';
  worker.far.onmessage = ({ data }) => {
    if (!isBoot(data)) return;
    baseUrl = data.baseUrl;
    worker.far.onmessage = null;
    expose(new TrainerService({ openEngine: fakeMachine().openEngine }), worker.far);
    worker.far.postMessage({ dreamgym: 'alive' } satisfies AliveMessage);
  };
  const trainer = connectTrainer({
    baseUrl: 'https://example.org/page/',
    createWorker: () => worker as unknown as Worker,
    locks,
  });
  return { worker, trainer, baseUrl: () => baseUrl };
}

const rejection = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

describe('the page’s end of the worker', () => {
  it('calls through, and hands over the page’s folder before anything else', async () => {
    const { trainer, baseUrl } = connect();
    expect((await trainer.status()).progress.phase).toBe('idle');
    expect(baseUrl()).toBe('https://example.org/page/');
    const events: RunEvent[] = [];
    await trainer.subscribe(proxy((event: RunEvent) => void events.push(event)));
    await trainer.reset();
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(events).toMatchObject([{ type: 'progress', progress: { phase: 'idle' } }]);
  });

  it('may be awaited like any value', async () => {
    const { trainer } = connect();
    expect((await (await Promise.resolve(trainer)).status()).runId).toBeNull();
  });

  it('typed errors keep code and advice', async () => {
    const { trainer } = connect();
    const error = await rejection(trainer.start({ groupSize: 1000 }));
    expect(error).toBeInstanceOf(DreamError);
    expect(error).toMatchObject({ code: 'config-invalid', advice: expect.stringMatching(/Correct/) });
    expect(await rejection(trainer.buffer(null as never, 1))).toMatchObject({ name: 'TypeError' });
  });

  it('a worker whose script fails rejects what is waiting and whatever follows', async () => {
    const { worker, trainer } = connect();
    worker.far.onmessage = null;
    const waiting = rejection(trainer.status());
    worker.fail('script not found');
    expect(await waiting).toMatchObject({ code: 'worker-crashed', message: /script not found/ });
    expect(await rejection(trainer.tasks())).toMatchObject({ code: 'worker-crashed' });
    expect((await trainer.crashed).code).toBe('worker-crashed');
  });

  it('a worker that was killed without a word is found out by its lock', async () => {
    let free = (_lock: null) => {};
    const locks = {
      request: (_name: string, work: (lock: null) => void) =>
        new Promise((resolve) => {
          free = (lock) => resolve(work(lock));
        }),
    } as unknown as LockManager;
    const { trainer } = connect(locks);
    await trainer.status();
    free(null);
    expect(await trainer.crashed).toMatchObject({ code: 'worker-crashed', message: /memory/ });
  });

  it('terminate ends the worker', () => {
    const { worker, trainer } = connect();
    trainer.terminate();
    expect(worker.terminated).toBe(true);
  });
});
