/** @file A server's world opened for a run: connected, its first observations asked where dreams need them, its settings checked. */
import { DreamError } from '../../data/errors';
import type { DreamedWorldDefinition } from '../../envs/dreamed-world';
import {
  connectRemote,
  type RemoteBatch,
  type RemoteOptions,
  type RemoteServer,
  type RemoteTarget,
  type RemoteTask,
  type RemoteTasks,
  remoteBatch,
} from '../../envs/remote';
import type { TextTokenizer } from '../../models/text-tokenizer';
import type { RunConfig } from '../../worker/protocol';
import type { Domain } from '../domain';
import type { TextSettings } from '../text-household/settings';
import { type SpokenWorld, worldTextDomain } from '../text-worlds';
import { type RemoteWorld, remoteWorld } from './world';

export interface OpenRemoteWorld extends RemoteOptions {
  target: RemoteTarget;
  tasks: RemoteTasks;
  /** Most episodes at once. */
  sessions: number;
  definition?: DreamedWorldDefinition;
  /** What the policy is told of the world. */
  rules?: string;
  /** Share of the first observations that are known. */
  onProgress?: (fraction: number) => void;
  /** So many tasks showed nothing to begin with: no dream can start there. */
  onLeftOut?: (count: number) => void;
}

/**
 * Throws what connecting throws, and what a reset throws when no task can be begun (dreamed worlds ask each training task
 * for its first observation; others nothing yet).
 */
export async function openRemoteWorld(options: OpenRemoteWorld): Promise<RemoteWorld> {
  const { target, tasks, sessions, definition, rules } = options;
  const words = rules === undefined ? {} : { rules };
  const server = await connectRemote(target, options);
  // WebArena's sessions share their sites: an order that is repeated is two orders.
  const sharedWorld = target.kind === 'agentgym' && target.dialect === 'webarena';
  const batch = remoteBatch(() => server.open(), sessions, { sharedWorld });
  if (!definition) return remoteWorld({ server, tasks, batch, ...words });
  try {
    const training = await begun(server, batch, options);
    return remoteWorld({ server, tasks: { ...tasks, training }, batch, definition, ...words });
  } catch (error) {
    await batch.close();
    throw error;
  }
}

/** The same behind a model's chat template. Whoever dreams of an undescribed world gets `no-dream`. */
export async function openRemoteDomain(
  tokenizer: TextTokenizer,
  contextLength: number,
  options: OpenRemoteWorld & { settings?: TextSettings },
): Promise<{ world: RemoteWorld; domain: Domain; close(): Promise<void> }> {
  const world = await openRemoteWorld(options);
  const domain = worldTextDomain(tokenizer, contextLength, world, options.settings);
  const { dialect } = domain;
  const opening = (): never => {
    throw undreamed(world);
  };
  const awake = { ...domain, dialect: { ...dialect, experience: { ...dialect.experience, opening } } };
  return { world, domain: world.canDream ? domain : awake, close: () => world.close() };
}

/** Where a dream begins: what the server shows first. Training tasks only: examinations are real. */
async function begun(server: RemoteServer, batch: RemoteBatch, options: OpenRemoteWorld): Promise<RemoteTask[]> {
  const known = [...options.tasks.training];
  const asked = known.map((_, i) => i).filter((i) => known[i].firstObservation === undefined);
  const { capacity } = batch;
  for (let at = 0; at < asked.length; at += capacity) {
    const wave = asked.slice(at, at + capacity);
    const seen = await batch.reset(
      wave.map((i) => server.task(known[i])),
      0,
    );
    wave.forEach((i, j) => {
      known[i] = { ...known[i], firstObservation: seen[j] };
    });
    options.onProgress?.((at + wave.length) / asked.length);
  }
  const shown = known.filter(({ firstObservation }) => firstObservation !== '');
  if (shown.length < known.length) options.onLeftOut?.(known.length - shown.length);
  if (shown.length === 0) throw nothingShown(server);
  return shown;
}

/** A server judges its own tasks alone: none is invented. */
export function remoteDefaults(world: SpokenWorld | null, given: Partial<RunConfig>): Partial<RunConfig> {
  return isRemoteWorld(world) ? { lambda: 0, ...given } : given;
}

/** Throws DreamError `no-dream` when a run would dream of a world that nobody has described. */
export function checkPlayable(world: SpokenWorld | null, { rollouts }: Pick<RunConfig, 'rollouts'>): void {
  if (isRemoteWorld(world) && !world.canDream && rollouts === 'dream') throw undreamed(world);
}

const isRemoteWorld = (world: SpokenWorld | null): world is RemoteWorld => world !== null && 'server' in world;

const nothingShown = ({ display }: RemoteServer) =>
  new DreamError(
    'no-task',
    `${display} begins none of the tasks to train on.`,
    'Check the numbers of the tasks, and the log of the server.',
  );

const undreamed = ({ server }: RemoteWorld) =>
  new DreamError(
    'no-dream',
    `Nobody has described the world at ${server.display}, so no model can dream of it.`,
    'Practise in the world itself (--rollouts real), or describe it in a file like examples/dreamed-world/ticket-desk.json (--world FILE.json).',
  );
