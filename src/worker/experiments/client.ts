/** @file The page's end of the experiments' worker. */
import type { Remote } from 'comlink';
import { DreamError } from '../../data/errors';
import { type ConnectOptions, connectWorker, trustedWorker, type WorkerConnection } from '../client';
import workerUrl from './experiments.worker?worker&url';
import type { ExperimentsApi } from './protocol';

/** Every call of the result rejects with `worker-crashed` once the worker has died. */
export function connectExperiments(options: ConnectOptions = {}): Remote<ExperimentsApi> & WorkerConnection {
  return connectWorker<ExperimentsApi>(
    { createWorker: () => trustedWorker('experiments', workerUrl), ...options },
    crash,
  );
}

function crash(reason: string): DreamError {
  return new DreamError(
    'worker-crashed',
    `The part of the page that runs experiments ended unexpectedly${reason ? ` (${reason})` : ': the browser may have run out of memory'}.`,
    'Start it again: it goes on from the last finished iteration.',
  );
}
