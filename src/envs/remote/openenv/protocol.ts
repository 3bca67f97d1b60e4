/**
 * @file OpenEnv's WebSocket messages (reference: meta-pytorch/OpenEnv, core/env_server): what is sent, and answers read
 * field by field. `data` of a step *is* the action; extra keys at the top are rejected by the server.
 */
import type { DreamError } from '../../../data/errors';
import { isJsonObject, type JsonObject } from '../../../data/json-object';
import * as errors from '../errors';
import { parseJson, plainReward } from '../plain-values';

export type Request =
  | { type: 'reset'; data: JsonObject }
  | { type: 'step'; data: JsonObject }
  | { type: 'state' }
  | { type: 'close' };

export interface Observed {
  observation: unknown;
  reward: number;
  done: boolean;
}

const stringOf = (value: unknown) => (typeof value === 'string' ? value : '');
const countOf = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : null);

/** The server's `error` message, as the error it means. */
export function errorOf(server: string, data: unknown): DreamError {
  const fields = isJsonObject(data) ? data : {};
  const code = stringOf(fields.code) || 'UNKNOWN';
  const message = stringOf(fields.message);
  switch (code) {
    case 'CAPACITY_REACHED':
      return new errors.CapacityError(server, countOf(fields.active_sessions), countOf(fields.max_sessions));
    case 'VALIDATION_ERROR':
      return new errors.ValidationError(server, message, fields.errors ?? null);
    // INVALID_JSON, UNKNOWN_TYPE: the server does not speak what we speak. The rest are its own troubles.
    case 'INVALID_JSON':
    case 'UNKNOWN_TYPE':
      return errors.garbage(server, `it does not know our messages (${code}) ${message}`);
    default:
      return errors.serverFailed(server, code, message);
  }
}

/** Throws `remote-garbage`, or what an error message means. */
function dataOf(server: string, text: string, type: 'observation' | 'state'): JsonObject {
  let message: unknown;
  try {
    message = parseJson(text);
  } catch (cause) {
    throw errors.garbage(server, 'its message is not plain JSON', cause);
  }
  if (!isJsonObject(message)) throw errors.garbage(server, 'its message is no object');
  if (message.type === 'error') throw errorOf(server, message.data);
  if (message.type !== type) throw errors.garbage(server, `it sent "${stringOf(message.type)}" instead of "${type}"`);
  if (!isJsonObject(message.data)) throw errors.garbage(server, `its ${type} has no data`);
  return message.data;
}

export function readObserved(server: string, text: string): Observed {
  const data = dataOf(server, text, 'observation');
  if (!('observation' in data)) throw errors.garbage(server, 'its answer holds no observation');
  if (typeof data.done !== 'boolean') throw errors.garbage(server, 'its answer does not say whether it is done');
  const { reward } = data;
  if (reward !== null && reward !== undefined && typeof reward !== 'number' && typeof reward !== 'boolean')
    throw errors.garbage(server, 'its reward is no number');
  return { observation: data.observation, reward: plainReward(reward), done: data.done };
}

export const readState = (server: string, text: string): JsonObject => dataOf(server, text, 'state');

/** An unasked message that explains why the server hangs up; null for any other. */
export function readFarewell(server: string, text: string): DreamError | null {
  try {
    const message = parseJson(text);
    return isJsonObject(message) && message.type === 'error' ? errorOf(server, message.data) : null;
  } catch {
    return null;
  }
}
