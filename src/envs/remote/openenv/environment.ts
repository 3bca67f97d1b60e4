/**
 * @file A stock OpenEnv server as an Environment: one WebSocket is one session is one episode at a time.
 *
 * Its HTTP /reset and /step are stateless, so only the socket can hold an episode; sockets also need no CORS. A step is
 * never repeated: whether the server has taken it cannot be known, so a broken connection loses the episode.
 */
import { asDreamError, DreamError } from '../../../data/errors';
import { isJsonObject, type JsonObject } from '../../../data/json-object';
import type { Environment, StepResult, Task } from '../../environment';
import { type RemoteAddress, remoteAddress } from '../address';
import * as errors from '../errors';
import { lostStep, refusedStep } from '../lost';
import { retrying, type Wait, wait } from '../pace';
import { plainText } from '../plain-values';
import { type ActionForm, actionFromText } from './action-form';
import { browserSocket, Channel, type OpenSocket } from './channel';
import { observationText } from './observation-text';
import { type Request, readFarewell, readObserved, readState } from './protocol';

export interface OpenEnvOptions {
  /** `ws://host:8000`, `http://host:8000`, with or without `/ws`. */
  url: string;
  /** Node 20 has no WebSocket: the terminal passes `ws`. */
  openSocket?: OpenSocket;
  /** How text becomes an action. Without a form, `{"message": text}`, or the text itself where it is a JSON object. */
  form?: ActionForm;
  /** What the policy reads of an observation; by default its text fields. */
  describe?: (observation: unknown) => string;
  /** For one answer, and for connecting. Default 30,000. */
  timeoutMs?: number;
  /** Larger messages end the connection. Default 1 MiB. */
  maxMessageBytes?: number;
  /** Further attempts at a reset when the connection fails or the server is full. Default 3. */
  retries?: number;
  /** Replaced in tests. */
  wait?: Wait;
}

/** Failures of a reset that a new connection may cure. */
const passing: ReadonlySet<string> = new Set([
  'remote-unreachable',
  'remote-disconnected',
  'remote-timeout',
  'remote-capacity',
]);

/** `task.data` for OpenEnv: what reset is told beyond the seed. */
export interface OpenEnvTaskData {
  seed?: number;
  /** Further keyword arguments of the environment's reset. */
  options?: JsonObject;
}

/** A task of an OpenEnv server. Equal seeds and options make equal tasks. */
export function openEnvTask(name: string, instruction: string, { seed, options = {} }: OpenEnvTaskData = {}): Task {
  const key = JSON.stringify([seed ?? null, options]);
  return {
    id: `openenv:${name}:${key}`,
    instruction,
    room: `${name}:${seed ?? ''}`,
    family: name,
    firstObservation: '',
    data: { ...(seed === undefined ? {} : { seed }), options },
  };
}

export class OpenEnvEnvironment implements Environment {
  private readonly address: RemoteAddress;
  private channel: Channel | null = null;
  private playing = false;
  private isClosed = false;
  /** Why the last episode was lost. */
  lostBecause: DreamError | null = null;

  /** Connects at the first reset. Throws `remote-address-invalid`. */
  constructor(private readonly options: OpenEnvOptions) {
    this.address = remoteAddress(options.url);
  }

  /**
   * The first observation. Throws `remote-unreachable`, `remote-timeout`, `remote-capacity` (a CapacityError with the server's
   * numbers), `remote-validation`, `remote-server-error`, `remote-garbage`, `remote-bad-task`.
   */
  async reset(task: Task): Promise<string> {
    if (this.isClosed) throw errors.closed();
    this.playing = false;
    const data = resetData(task);
    const text = await retrying(
      async () => {
        const channel = await this.connected();
        return this.ask(channel, { type: 'reset', data });
      },
      passing,
      this.options.retries ?? 3,
      this.options.wait ?? wait,
    );
    const { observation } = this.checked(() => readObserved(this.address.display, text));
    this.playing = true;
    this.lostBecause = null;
    return this.describe(observation);
  }

  /** A broken connection, a hanging server or nonsense loses the episode (`lost`); it never throws for those. */
  async step(action: string): Promise<StepResult> {
    const { channel } = this;
    if (!this.playing || !channel) throw errors.noEpisode();
    let data: JsonObject;
    try {
      data = actionFromText(this.options.form, action);
    } catch (error) {
      return refusedStep(asDreamError(error));
    }
    try {
      const text = await this.ask(channel, { type: 'step', data });
      const { observation, reward, done } = this.checked(() => readObserved(this.address.display, text));
      if (done) this.playing = false;
      const raw = plainText(observation);
      return { observation: this.describe(observation), reward, done, valid: true, raw, imagined: false };
    } catch (error) {
      const failure = asDreamError(error);
      if (failure instanceof errors.ValidationError) return refusedStep(failure);
      this.playing = false;
      this.lostBecause = failure;
      // Whatever state the session is in, the next episode gets a new one.
      this.hangUp();
      return lostStep(failure);
    }
  }

  /** The server's own account of the episode (`episode_id`, `step_count`, ...). */
  async state(): Promise<JsonObject> {
    if (!this.playing || !this.channel) throw errors.noEpisode();
    const text = await this.ask(this.channel, { type: 'state' });
    return this.checked(() => readState(this.address.display, text));
  }

  /** Gives the session back to the server. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.playing = false;
    this.hangUp();
  }

  private hangUp(): void {
    this.channel?.close(JSON.stringify({ type: 'close' } satisfies Request));
    this.channel = null;
  }

  private async connected(): Promise<Channel> {
    if (this.channel?.isOpen) return this.channel;
    const { openSocket = browserSocket, timeoutMs = 30_000, maxMessageBytes = 2 ** 20 } = this.options;
    const { webSocket, display } = this.address;
    this.channel = await Channel.open({
      url: `${webSocket}/ws`,
      display,
      open: openSocket,
      timeoutMs,
      maxMessageBytes,
      farewell: (text) => readFarewell(display, text),
    });
    return this.channel;
  }

  /** An answer that says "full" is a failure like a refused connection: worth another try, on another socket. */
  private async ask(channel: Channel, request: Request): Promise<string> {
    const text = await channel.ask(JSON.stringify(request));
    const farewell = readFarewell(this.address.display, text);
    if (farewell?.code === 'remote-capacity') {
      this.hangUp();
      throw farewell;
    }
    return text;
  }

  /** Nonsense leaves nothing to go on with: the channel ends with it. */
  private checked<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof DreamError && error.code === 'remote-garbage') this.hangUp();
      throw error;
    }
  }

  private describe(observation: unknown): string {
    return plainText((this.options.describe ?? observationText)(observation));
  }
}

function resetData({ data }: Task): JsonObject {
  if (data === null || data === undefined) return {};
  if (!isJsonObject(data)) throw errors.badTask('its data is no object');
  const { seed, options = {} } = data;
  if (seed !== undefined && !Number.isSafeInteger(seed)) throw errors.badTask('its seed is no whole number');
  if (!isJsonObject(options)) throw errors.badTask('its options are no object');
  return seed === undefined ? options : { ...options, seed };
}
