/** @file The worker behind the panel "Experiments": started when the panel is opened, with a device of its own. */
import { expose } from 'comlink';
import { ExperimentStore } from '../../store/experiment-store';
import { type AliveMessage, isBoot } from '../boot';
import { transferTypedErrors } from '../error-transfer';
import { experimentOpener, lockExperiment } from './engine';
import { ExperimentService } from './service';

transferTypedErrors();

function boot({ data }: MessageEvent<unknown>): void {
  if (!isBoot(data)) return;
  removeEventListener('message', boot);
  expose(
    new ExperimentService({
      keep: new ExperimentStore(),
      open: experimentOpener(data.baseUrl),
      lock: lockExperiment,
    }),
  );
  void navigator.locks?.request(data.lifeLock, () => {
    postMessage({ dreamgym: 'alive' } satisfies AliveMessage);
    return new Promise<never>(() => {});
  });
}

addEventListener('message', boot);
