/** @file `--env URL`: a server's world for a run or an examination, from the command line. */
import { readFile, stat } from 'node:fs/promises';
import { DreamError } from '../data/errors';
import { openRemoteWorld, type RemoteWorld } from '../dream/remote-domain';
import type { SpokenWorld } from '../dream/text-worlds';
import type { DreamedWorldDefinition } from '../envs/dreamed-world';
import { type DialectName, dialectNames, parseRemoteTasks, type RemoteTasks, remoteTarget } from '../envs/remote';
import type { CommandIo } from './command';
import { nodeSocket } from './node-socket';
import { type OptionSpecs, UsageError } from './options';

export const remoteOptions = {
  dialect: {
    type: 'string',
    help: '--env URL: which AgentGym server it is; without it, an OpenEnv server',
    choices: dialectNames,
  },
  'remote-tasks': {
    type: 'string',
    value: 'LIST|FILE',
    help: '--env URL: its tasks (OpenEnv: seeds) as numbers, 0-99, or as a JSON file; the last fifth is held out',
  },
  sessions: {
    type: 'integer',
    help: '--env URL: most episodes at once; more are played in waves (default: OpenEnv 1, AgentGym 8)',
    min: 1,
    max: 1024,
  },
  world: {
    type: 'string',
    value: 'FILE.json',
    help: '--env URL: a description, so that the world can be dreamed of too (examples/dreamed-world)',
  },
  rules: {
    type: 'string',
    value: 'TEXT',
    help: '--env URL: what the policy is told of the world, instead of what the server or its dialect is known for',
  },
  timeout: { type: 'number', help: '--env URL: seconds for one answer (default 30, AgentGym 60)', min: 0.1, max: 3600 },
} as const satisfies OptionSpecs;

type Values = Readonly<Record<string, unknown>>;

export const isRemoteAddress = (env: string): boolean => /^(https?|wss?):\/\//i.test(env);

/** Throws UsageError for options of a server where there is none. */
export function refuseRemoteOptions(values: Values): void {
  for (const name of Object.keys(remoteOptions))
    if (values[name] !== undefined)
      throw new UsageError(
        'bad-option',
        `--${name} belongs to --env URL.`,
        'Name a server with --env, or leave it out.',
      );
}

/** Throws UsageError, `remote-tasks`, and what `openRemoteWorld` throws. */
export async function openRemote(
  io: CommandIo,
  url: string,
  values: Values,
  definition: DreamedWorldDefinition | undefined,
): Promise<RemoteWorld> {
  const dialect = dialectNames.find((name): name is DialectName => name === values.dialect);
  const target = remoteTarget(url, dialect);
  const tasks = await tasksOf(io, values['remote-tasks'], target.kind);
  const sessions = typeof values.sessions === 'number' ? values.sessions : target.kind === 'openenv' ? 1 : 8;
  const bar = io.progress('looking around');
  const world = await openRemoteWorld({
    target,
    tasks,
    sessions,
    concurrency: sessions,
    openSocket: nodeSocket,
    ...(typeof values.timeout === 'number' ? { timeoutMs: Math.round(values.timeout * 1000) } : {}),
    ...(definition ? { definition } : {}),
    ...(typeof values.rules === 'string' ? { rules: values.rules.slice(0, longestRules) } : {}),
    onProgress: (fraction) => bar.update(fraction),
    onLeftOut: (count) => io.note(`${count} tasks are left out: the server does not begin them.`),
  });
  bar.clear();
  const { formProblem } = world.server;
  if (formProblem)
    io.note(`The server's form of actions could not be read, so they go as {"message": text}. ${formProblem.message}`);
  const { training, heldOut } = tasks;
  io.print(`${world.name}: ${training.length} tasks to train on, ${heldOut.length} held out, ${sessions} at once`);
  return world;
}

/** Gives a server's sessions back; nothing for other worlds. */
export async function leaveWorld(world: SpokenWorld | null): Promise<void> {
  if (world !== null && 'server' in world) await (world as RemoteWorld).close();
}

const longestRules = 4_000;
const longestList = 64 << 20;

async function tasksOf(io: CommandIo, given: unknown, kind: 'openenv' | 'agentgym'): Promise<RemoteTasks> {
  if (typeof given !== 'string')
    throw new UsageError(
      'bad-option',
      'A server does not tell which tasks it has.',
      'Name them with --remote-tasks 0-99, or with a JSON file.',
    );
  if (!/\.json$/i.test(given)) return parseRemoteTasks(given, kind);
  const path = io.resolve(given);
  const found = await stat(path).catch(() => null);
  if (!found?.isFile() || found.size > longestList)
    throw new DreamError('file-read', `${given} cannot be read as a list of tasks.`, 'Check the path; at most 64 MiB.');
  return parseRemoteTasks(await readFile(path, 'utf8'), kind);
}
