/** @file The worker: waits for the page's first message, then offers the trainer through Comlink. */
import { expose } from 'comlink';
import { type AliveMessage, isBoot } from './boot';
import { engineOpener } from './engine';
import { transferTypedErrors } from './error-transfer';
import { TrainerService } from './trainer';

transferTypedErrors();

function boot({ data }: MessageEvent<unknown>): void {
  if (!isBoot(data)) return;
  removeEventListener('message', boot);
  const trainer = new TrainerService({ openEngine: engineOpener(data.baseUrl) });
  addEventListener('unhandledrejection', (event) => {
    event.preventDefault();
    trainer.report(event.reason);
  });
  // Without this the page would take an error that the worker survives for its death.
  addEventListener('error', (event) => {
    event.preventDefault();
    trainer.report(event.error ?? event.message);
  });
  expose(trainer);
  void navigator.locks?.request(data.lifeLock, () => {
    postMessage({ dreamgym: 'alive' } satisfies AliveMessage);
    return new Promise<never>(() => {});
  });
}

addEventListener('message', boot);
