/** @file One session of an AgentGym server as an Environment. Sessions are reset, not replaced: two of the servers leak them. */
import { asDreamError, type DreamError } from '../../../data/errors';
import { isJsonObject } from '../../../data/json-object';
import type { Environment, StepResult, Task } from '../../environment';
import * as errors from '../errors';
import { lostStep } from '../lost';
import { plainText } from '../plain-values';
import type { DialectName, Seen } from './dialects';
import type { AgentGymServer } from './server';

/** A task by its number in the server's own list. Resets need not be reproducible: only the number is. */
export function agentGymTask(dialect: DialectName, index: number, instruction = '', seed = 0): Task {
  return {
    id: `agentgym:${dialect}:${index}${seed === 0 ? '' : `:${seed}`}`,
    instruction,
    room: `${dialect}:${index}`,
    family: dialect,
    firstObservation: '',
    data: { index, seed },
  };
}

export class AgentGymEnvironment implements Environment {
  private session: number | null = null;
  private playing = false;
  private isClosed = false;
  /** Actions the server named last; null where it does not. */
  actions: readonly string[] | null = null;
  /** Why the last episode was lost. */
  lostBecause: DreamError | null = null;

  /** Several environments share one `server`, and with it its limit of requests. */
  constructor(private readonly server: AgentGymServer) {}

  /** Throws what the server's create and reset throw, `remote-bad-task`. */
  async reset(task: Task): Promise<string> {
    if (this.isClosed) throw errors.closed();
    const { index, seed } = numbersOf(task);
    this.playing = false;
    const fresh = this.session === null;
    const seen = await this.entered(index, seed).catch(async (error: unknown) => {
      // A server that was started anew knows none of the old sessions.
      if (fresh || (error as Partial<DreamError>).code !== 'remote-server-error') throw error;
      this.session = null;
      return this.entered(index, seed);
    });
    this.playing = true;
    this.lostBecause = null;
    return this.take(seen);
  }

  /** Any failure, an error inside a 200 included, loses the episode; it never throws for those. */
  async step(action: string): Promise<StepResult> {
    if (!this.playing || this.session === null) throw errors.noEpisode();
    try {
      const stepped = await this.server.step(this.session, action);
      if (stepped.done) this.playing = false;
      const observation = this.take(stepped);
      return {
        observation,
        reward: stepped.reward,
        done: stepped.done,
        // No AgentGym server says whether an action was admissible, but ALFWorld's own sentence does.
        valid: !/^nothing happens\.?$/i.test(observation.trim()),
        raw: observation,
        imagined: false,
      };
    } catch (error) {
      this.lostBecause = asDreamError(error);
      this.playing = false;
      return lostStep(this.lostBecause);
    }
  }

  /** Gives the session back where the server can take it (`false` where it cannot). */
  async close(): Promise<boolean> {
    this.isClosed = true;
    this.playing = false;
    const { session } = this;
    this.session = null;
    return session === null ? true : this.server.close(session);
  }

  private async entered(index: number, seed: number): Promise<Seen> {
    this.session ??= await this.server.create();
    return this.server.reset(this.session, index, seed);
  }

  private take(seen: Seen): string {
    this.actions = seen.actions?.map((action) => plainText(action).slice(0, 500)) ?? null;
    return plainText(seen.observation);
  }
}

function numbersOf({ data }: Task): { index: number; seed: number } {
  const { index, seed = 0 } = isJsonObject(data) ? data : {};
  if (!Number.isSafeInteger(index) || Number(index) < 0) throw errors.badTask('its data names no task number (index)');
  if (!Number.isSafeInteger(seed)) throw errors.badTask('its seed is no whole number');
  return { index: Number(index), seed: Number(seed) };
}
