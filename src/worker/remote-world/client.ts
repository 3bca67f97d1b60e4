/** @file The page's end of the worker that talks to environment servers: the page itself may connect to nobody. */
import type { Remote } from 'comlink';
import { DreamError } from '../../data/errors';
import { type ConnectOptions, connectWorker, trustedWorker, type WorkerConnection } from '../client';
import type { RemoteWorldApi } from './protocol';
import workerUrl from './remote-world.worker?worker&url';

/** Every call of the result rejects with `worker-crashed` once the worker has died. */
export function connectRemoteWorld(options: ConnectOptions = {}): Remote<RemoteWorldApi> & WorkerConnection {
  return connectWorker<RemoteWorldApi>(
    { createWorker: () => trustedWorker('remote-world', workerUrl), ...options },
    crash,
  );
}

function crash(reason: string): DreamError {
  return new DreamError(
    'worker-crashed',
    `The part of the page that talks to servers ended unexpectedly${reason ? ` (${reason})` : ''}.`,
    'Connect again.',
  );
}
