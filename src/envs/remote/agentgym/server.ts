/** @file One AgentGym server: its requests share a limit, its errors are told apart, and only what is safe is asked twice. */
import type { RemoteAddress } from '../address';
import { remoteAddress } from '../address';
import * as errors from '../errors';
import { askHttp, goodJson, type HttpAnswer, type HttpOptions, type HttpRequest } from '../http';
import { retrying, Slots, type Wait, wait } from '../pace';
import { type Dialect, type DialectName, dialects, type Seen, type Stepped } from './dialects';

export interface AgentGymOptions extends HttpOptions {
  dialect: DialectName;
  url: string;
  /** Requests under way at once, over all sessions of this server. Default 8. */
  concurrency?: number;
  /** Further attempts at create and reset. Default 3. */
  retries?: number;
  /** Replaced in tests. */
  wait?: Wait;
}

/** A reset may be repeated whatever became of the first one. */
const passingReset: ReadonlySet<string> = new Set(['remote-unreachable', 'remote-disconnected', 'remote-timeout']);
/** A create that timed out may have left a session behind that nobody can close: only a refused one is repeated. */
const passingCreate: ReadonlySet<string> = new Set(['remote-unreachable']);

export class AgentGymServer {
  readonly dialect: Dialect;
  private readonly address: RemoteAddress;
  private readonly slots: Slots;

  /** Asks nothing yet. Throws `remote-address-invalid`. */
  constructor(private readonly options: AgentGymOptions) {
    this.dialect = dialects[options.dialect];
    this.address = remoteAddress(options.url);
    this.slots = new Slots(Math.max(1, options.concurrency ?? 8));
  }

  get display(): string {
    return this.address.display;
  }

  /** A new session's number, 0 included. Throws what `askHttp` and `goodJson` throw. */
  create(): Promise<number> {
    const { body, read } = this.dialect.create;
    return this.repeated(passingCreate, () => this.ask({ method: 'POST', path: '/create', body }, read, 'create'));
  }

  async reset(id: number, index: number, seed: number): Promise<Seen> {
    const { body, read } = this.dialect.reset;
    const request = { method: 'POST', path: '/reset', body: body(id, index, seed) } as const;
    const seen = await this.repeated(passingReset, () => this.ask(request, read, 'reset'));
    return seen.observation === '' ? { ...seen, observation: await this.observation(id) } : seen;
  }

  /** Never repeated: whether the server took it cannot be known. */
  step(id: number, action: string): Promise<Stepped> {
    const { body, read } = this.dialect.step;
    return this.ask({ method: 'POST', path: '/step', body: body(id, action) }, read, 'step');
  }

  /** The current observation: a JSON string, and nothing around it. */
  observation(id: number): Promise<string> {
    const request = { method: 'GET', path: '/observation', query: this.dialect.observationQuery(id) } as const;
    const read = (answer: unknown) => (typeof answer === 'string' ? answer : null);
    return this.repeated(passingReset, () => this.ask(request, read, 'observation'));
  }

  /** False where the server cannot close sessions. Failures are no concern of whoever leaves. */
  async close(id: number): Promise<boolean> {
    const body = this.dialect.close(id);
    if (!body) return false;
    try {
      const { status } = await this.send({ method: 'POST', path: '/close', body });
      return status < 400;
    } catch {
      return false;
    }
  }

  private async ask<T>(request: HttpRequest, read: (answer: unknown) => T | null, what: string): Promise<T> {
    const value = read(goodJson(this.display, await this.send(request)));
    if (value === null)
      throw errors.garbage(this.display, `its answer to ${what} is not one of the ${this.dialect.name} dialect`);
    return value;
  }

  private send(request: HttpRequest): Promise<HttpAnswer> {
    return this.slots.run(() => askHttp(this.address, request, this.options));
  }

  private repeated<T>(passing: ReadonlySet<string>, work: () => Promise<T>): Promise<T> {
    return retrying(work, passing, this.options.retries ?? 3, this.options.wait ?? wait);
  }
}
