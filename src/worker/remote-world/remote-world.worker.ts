/**
 * @file The worker behind a world on another machine. The page's policy lets it fetch nothing from elsewhere; a worker's own
 * lets it ask the server that the reader named (vite.config.ts).
 */
import { expose } from 'comlink';
import { type AliveMessage, isBoot } from '../boot';
import { transferTypedErrors } from '../error-transfer';
import { RemoteWorldService } from './service';

transferTypedErrors();

function boot({ data }: MessageEvent<unknown>): void {
  if (!isBoot(data)) return;
  removeEventListener('message', boot);
  expose(new RemoteWorldService());
  void navigator.locks?.request(data.lifeLock, () => {
    postMessage({ dreamgym: 'alive' } satisfies AliveMessage);
    return new Promise<never>(() => {});
  });
}

addEventListener('message', boot);
