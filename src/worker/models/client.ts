/** @file The page's end of the models' worker. */
import type { Remote } from 'comlink';
import { DreamError } from '../../data/errors';
import { type ConnectOptions, connectWorker, trustedWorker, type WorkerConnection } from '../client';
import workerUrl from './models.worker?worker&url';
import type { ModelsApi } from './protocol';

/** Every call of the result rejects with `worker-crashed` once the worker has died. */
export function connectModels(options: ConnectOptions = {}): Remote<ModelsApi> & WorkerConnection {
  return connectWorker<ModelsApi>({ createWorker: () => trustedWorker('models', workerUrl), ...options }, crash);
}

function crash(reason: string): DreamError {
  return new DreamError(
    'worker-crashed',
    `The part of the page that runs models ended unexpectedly${reason ? ` (${reason})` : ': the browser may have run out of memory'}.`,
    'Load the model again, or a smaller one; downloads are kept.',
  );
}
