/** @file A server that a mapping describes, as an Environment. The same rules as for the others: a step is never asked twice. */
import { asDreamError, type DreamError } from '../../../data/errors';
import { isJsonObject } from '../../../data/json-object';
import type { Environment, StepResult, Task } from '../../environment';
import { type RemoteAddress, remoteAddress } from '../address';
import * as errors from '../errors';
import { askHttp, goodJson, type HttpOptions } from '../http';
import { lostStep, refusedStep } from '../lost';
import { retrying, type Wait, wait } from '../pace';
import { parseJson, plainReward, plainText } from '../plain-values';
import { filledBody, filledPath, type MappedRequest, type Mapping, type Values, valueAt } from './mapping';

export interface MappedOptions extends HttpOptions {
  url: string;
  mapping: Mapping;
  /** Further attempts at a reset. Default 3. */
  retries?: number;
  /** Replaced in tests. */
  wait?: Wait;
}

const passing: ReadonlySet<string> = new Set(['remote-unreachable', 'remote-disconnected', 'remote-timeout']);

/** A task by number and seed, both of which the mapping may use. */
export function mappedTask(mapping: Pick<Mapping, 'name'>, index: number, instruction = '', seed = 0): Task {
  const id = `mapped:${mapping.name}:${index}:${seed}`;
  return { id, instruction, room: id, family: mapping.name, firstObservation: '', data: { index, seed } };
}

export class MappedEnvironment implements Environment {
  private readonly address: RemoteAddress;
  private session: unknown;
  private opened = false;
  private playing = false;
  private task: { index: unknown; seed: unknown } = { index: 0, seed: 0 };
  /** Why the last episode was lost. */
  lostBecause: DreamError | null = null;

  /** Throws `remote-address-invalid`. Check mappings of users with `checkMapping` first. */
  constructor(private readonly options: MappedOptions) {
    this.address = remoteAddress(options.url);
  }

  /** Throws what `askHttp` and `goodJson` throw. */
  async reset(task: Task): Promise<string> {
    const { create, reset } = this.options.mapping;
    const { index = 0, seed = 0 } = isJsonObject(task.data) ? task.data : {};
    this.task = { index, seed };
    this.playing = false;
    const answer = await retrying(
      async () => {
        if (create && !this.opened) {
          const id = valueAt(await this.ask(create), create.id);
          if (typeof id !== 'string' && typeof id !== 'number')
            throw errors.garbage(this.address.display, `its answer to create holds no session at ${create.id}`);
          this.session = id;
          this.opened = true;
        }
        return this.ask(reset);
      },
      passing,
      this.options.retries ?? 3,
      this.options.wait ?? wait,
    );
    const observation = this.textAt(answer, reset.observation);
    this.playing = true;
    this.lostBecause = null;
    return observation;
  }

  async step(action: string): Promise<StepResult> {
    if (!this.playing) throw errors.noEpisode();
    const { step } = this.options.mapping;
    let value: unknown;
    try {
      value = this.actionOf(action);
    } catch (error) {
      return refusedStep(asDreamError(error));
    }
    try {
      const answer = await this.ask(step, value);
      const observation = this.textAt(answer, step.observation);
      const reward = valueAt(answer, step.reward);
      if (reward === undefined)
        throw errors.garbage(this.address.display, `its answer has no reward at ${step.reward}`);
      const ends = (Array.isArray(step.done) ? step.done : [step.done]).map((path) => valueAt(answer, path));
      if (!ends.some((end) => typeof end === 'boolean'))
        throw errors.garbage(this.address.display, 'its answer does not say whether the episode is over');
      const done = ends.some((end) => end === true);
      if (done) this.playing = false;
      return { observation, reward: plainReward(reward), done, valid: true, raw: observation, imagined: false };
    } catch (error) {
      this.lostBecause = asDreamError(error);
      this.playing = false;
      // A session in an unknown state is worth nothing.
      this.opened = false;
      return lostStep(this.lostBecause);
    }
  }

  async close(): Promise<void> {
    const { close } = this.options.mapping;
    this.playing = false;
    if (close && this.opened) await this.ask(close).catch(() => undefined);
    this.opened = false;
  }

  private actionOf(action: string): unknown {
    const kind = this.options.mapping.action;
    if (kind === 'text') return action;
    if (kind === 'number') {
      const number = Number(action);
      if (action.trim() === '' || !Number.isFinite(number)) throw errors.badForm('it must be a number');
      return number;
    }
    try {
      return parseJson(action);
    } catch {
      return action;
    }
  }

  private async ask({ method, path, body }: MappedRequest, action: unknown = ''): Promise<unknown> {
    const values: Values = { id: this.session ?? '', ...this.task, action };
    const { display } = this.address;
    const request = {
      method,
      path: filledPath(path, values),
      ...(method === 'POST' ? { body: filledBody(body ?? {}, values) } : {}),
    };
    return goodJson(display, await askHttp(this.address, request, this.options));
  }

  private textAt(answer: unknown, path: string): string {
    const value = valueAt(answer, path);
    if (value === undefined) throw errors.garbage(this.address.display, `its answer has no observation at ${path}`);
    return plainText(value);
  }
}
