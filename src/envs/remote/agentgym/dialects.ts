/**
 * @file The four ways AgentGym's servers say create, reset, step and close (reference: WooooDyy/AgentGym, one server a world).
 *
 * Field names differ by world: TextCraft and ALFWorld call a session `id`, WebShop and WebArena `env_idx`; WebShop creates
 * with a bare integer and resets to a pair; two of them have no /close, so sessions are best kept and reset.
 */
import { isJsonObject, type JsonObject } from '../../../data/json-object';
import { plainReward } from '../plain-values';

export interface Seen {
  /** Empty where this answer holds none: it is then asked for. */
  observation: string;
  /** Actions the server would take now; null where it does not say. */
  actions: readonly string[] | null;
}

export interface Stepped extends Seen {
  reward: number;
  done: boolean;
}

/** Readers return null for an answer that is not of this dialect; they never throw. */
export interface Dialect {
  readonly name: DialectName;
  /** Port in AgentGym's own examples. */
  readonly usualPort: number;
  readonly create: { body: JsonObject | undefined; read(answer: unknown): number | null };
  readonly reset: { body(id: number, index: number, seed: number): JsonObject; read(answer: unknown): Seen | null };
  readonly step: { body(id: number, action: string): JsonObject; read(answer: unknown): Stepped | null };
  /** Query of GET /observation. */
  observationQuery(id: number): Record<string, number>;
  /** Body of POST /close; null where the server has none and keeps every session for ever. */
  close(id: number): JsonObject | null;
}

export const dialectNames = ['textcraft', 'alfworld', 'webshop', 'webarena'] as const;
export type DialectName = (typeof dialectNames)[number];

const text = (value: unknown) => (typeof value === 'string' ? value : '');
/** Zero is a session like any other. */
const session = (value: unknown) => (Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null);
const list = (value: unknown): string[] | null =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string').slice(0, 2000) : null;
const isReward = (value: unknown) => typeof value === 'number' || typeof value === 'boolean' || value === null;

const textcraft: Dialect = {
  name: 'textcraft',
  usualPort: 36001,
  create: { body: {}, read: (answer) => (isJsonObject(answer) ? session(answer.id) : null) },
  reset: {
    body: (id, index) => ({ id, data_idx: index }),
    read: (answer) =>
      isJsonObject(answer) && 'observation' in answer ? { observation: text(answer.observation), actions: null } : null,
  },
  step: {
    body: (id, action) => ({ id, action }),
    read(answer) {
      if (!isJsonObject(answer) || typeof answer.observation !== 'string' || !isReward(answer.reward)) return null;
      if (typeof answer.done !== 'boolean') return null;
      return {
        observation: answer.observation,
        reward: plainReward(answer.reward),
        done: answer.done,
        actions: null,
      };
    },
  },
  observationQuery: (id) => ({ id }),
  close: (id) => ({ id }),
};

const alfworld: Dialect = {
  name: 'alfworld',
  usualPort: 36002,
  create: { body: undefined, read: textcraft.create.read },
  reset: {
    body: (id, index) => ({ id, game: index, world_type: 'Text' }),
    read(answer) {
      if (!isJsonObject(answer) || !('observation' in answer)) return null;
      return { observation: text(answer.observation), actions: list(answer.available_actions) };
    },
  },
  step: {
    body: textcraft.step.body,
    read(answer) {
      const step = textcraft.step.read(answer);
      return step && isJsonObject(answer) ? { ...step, actions: list(answer.available_actions) } : null;
    },
  },
  observationQuery: (id) => ({ id }),
  close: () => null,
};

const webshop: Dialect = {
  name: 'webshop',
  usualPort: 36003,
  create: { body: undefined, read: session },
  reset: {
    body: (id, index) => ({ env_idx: id, session_id: index }),
    read: (answer) =>
      Array.isArray(answer) && typeof answer[0] === 'string' ? { observation: answer[0], actions: null } : null,
  },
  step: {
    body: (id, action) => ({ env_idx: id, action }),
    read(answer) {
      if (!isJsonObject(answer) || typeof answer.state !== 'string' || !isReward(answer.reward)) return null;
      if (typeof answer.done !== 'boolean') return null;
      return { observation: answer.state, reward: plainReward(answer.reward), done: answer.done, actions: null };
    },
  },
  observationQuery: (id) => ({ env_idx: id }),
  close: () => null,
};

const fence = '```';

const webarena: Dialect = {
  name: 'webarena',
  usualPort: 36004,
  create: { body: undefined, read: (answer) => (isJsonObject(answer) ? session(answer.env_idx) : null) },
  reset: {
    body: (id, index, seed) => ({ env_idx: id, seed, idx: index }),
    // The observation here may be the page's raw parts; the prompt that steps speak is at /observation.
    read: (answer) =>
      isJsonObject(answer) && ('observation' in answer || 'object' in answer)
        ? { observation: text(answer.observation), actions: null }
        : null,
  },
  step: {
    // The server looks for the action between fences in a model's answer, and finds none in a bare one.
    body: (id, action) => ({ env_idx: id, action: action.includes(fence) ? action : `${fence}${action}${fence}` }),
    read(answer) {
      if (!isJsonObject(answer) || typeof answer.observation !== 'string' || !isReward(answer.reward)) return null;
      const { terminated, truncated } = answer;
      if (typeof terminated !== 'boolean') return null;
      return {
        observation: answer.observation,
        reward: plainReward(answer.reward),
        done: terminated || truncated === true,
        actions: null,
      };
    },
  },
  observationQuery: (id) => ({ env_idx: id }),
  close: (id) => ({ env_idx: id }),
};

export const dialects: Readonly<Record<DialectName, Dialect>> = { textcraft, alfworld, webshop, webarena };
