/** @file Which world a run trains in or is examined in, and memories that people bring to it, from the command line. */
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { DreamError } from '../data/errors';
import { importedData, importTrajectories } from '../data/importers';
import type { Domain } from '../dream/domain';
import type { NewTransition } from '../dream/replay-buffer';
import { memoriesOf, type SpokenWorld, spokenDream, spokenWorldOf, spokenWorlds } from '../dream/text-worlds';
import { parseDreamedWorld } from '../envs/dreamed-world';
import type { CommandIo } from './command';
import { nearest, UsageError } from './options';
import { isOwnWorld, loadOwnWorld } from './own-world';
import { isRemoteAddress, openRemote, refuseRemoteOptions, remoteOptions } from './remote-world';
import { needsModel } from './run-options';

export const household = 'household';

export const worldOptions = {
  env: {
    type: 'string',
    value: 'NAME|FILE|URL',
    help: `household, ${Object.keys(spokenWorlds).join(', ')}, a world of your own (FILE.ts, .js), one without code (FILE.json), or a server's; all but household need --model`,
  },
  ...remoteOptions,
} as const;

export const memoriesOption = {
  type: 'string',
  value: 'FILE',
  help: 'trajectories that the experience model may remember: any file that import reads',
} as const;

const longestDefinition = 32 << 20;

/**
 * null for the household, which has words of its own. Throws UsageError for an unknown name and for a world that needs
 * `--model`, DreamError for a file that is no world.
 */
export async function openSpokenWorld(
  io: CommandIo,
  env: string | undefined,
  modelPath: string | undefined,
  values: Readonly<Record<string, unknown>> = {},
): Promise<SpokenWorld | null> {
  const remote = env !== undefined && isRemoteAddress(env);
  if (!remote) refuseRemoteOptions(values);
  if (env === undefined || env === household) return null;
  if (modelPath === undefined) throw needsModel(`env ${env}`);
  if (remote) {
    const { world } = values;
    const described =
      typeof world === 'string' ? parseDreamedWorld(await readDefinition(io.resolve(world), world)) : undefined;
    return openRemote(io, env, values, described);
  }
  if (Object.hasOwn(spokenWorlds, env)) return spokenWorlds[env]();
  if (isOwnWorld(env)) return spokenWorldOf(await loadOwnWorld(io.resolve(env)));
  if (/\.json$/i.test(env)) return spokenDream(parseDreamedWorld(await readDefinition(io.resolve(env), env)));
  const close = nearest(env, [household, ...Object.keys(spokenWorlds)]);
  throw new UsageError(
    'bad-value',
    `There is no world "${env}".`,
    `${close ? `Did you mean "${close}"? ` : ''}A world of your own is a file: FILE.ts, FILE.js or FILE.json.`,
  );
}

async function readDefinition(path: string, given: string): Promise<Uint8Array> {
  try {
    if ((await stat(path)).size <= longestDefinition) return await readFile(path);
  } catch (cause) {
    throw new DreamError('file-unreadable', `${given} cannot be read.`, 'Check the path and your rights to the file.', {
      cause,
    });
  }
  throw new DreamError('file-too-large', `${given} is larger than 32 MiB.`, 'A definition has some kilobytes.');
}

/** A stored run, or an adapter of one, goes on in its own world. Throws DreamError `other-world`. */
export function checkSameWorld(stored: string | undefined, now: string): void {
  if ((stored ?? household) === now) return;
  throw new DreamError(
    'other-world',
    `The stored run trains in the world ${stored ?? household}, not in ${now}.`,
    `Resume it with --env ${stored ?? household}, or start a new run elsewhere; eval --env examines it in another world.`,
  );
}

export interface ReadMemories {
  memories: NewTransition[];
  episodes: number;
  /** Memories beyond `most`. */
  left: number;
  /** Episodes of another world. */
  elsewhere: number;
}

/**
 * Reads at most `most` memories of the world from a file of trajectories, with a line about what was read.
 * Throws what importing throws, and `no-memories` when the file has none of this world.
 */
export async function readMemories(
  io: CommandIo,
  file: string,
  domain: Domain,
  world: SpokenWorld | null,
  most: number,
): Promise<ReadMemories> {
  const path = io.resolve(file);
  const size = await sizeOf(path, file);
  const rooms = world ?? { roomOf: householdRooms(domain) };
  const name = world?.name ?? household;
  const read: ReadMemories = { memories: [], episodes: 0, left: 0, elsewhere: 0 };
  const bar = io.progress('remembering');
  await importTrajectories(createReadStream(path, { highWaterMark: 256 * 1024 }), {
    name: basename(file),
    signal: io.signal,
    onProgress: ({ bytes }) => bar.update(size === 0 ? 1 : bytes / size),
    onEpisode({ trajectory }) {
      const found = importedData(trajectory)?.world ?? 'text';
      // Text that no built-in world recognises is a world of one's own's.
      if (found !== (name === household || Object.hasOwn(spokenWorlds, name) ? name : 'text')) {
        read.elsewhere++;
        return;
      }
      const memories = memoriesOf(rooms, trajectory, `imported-${read.episodes++}`);
      const kept = memories.slice(0, Math.max(0, most - read.memories.length));
      read.memories.push(...kept);
      read.left += memories.length - kept.length;
    },
  });
  bar.clear();
  const { memories, episodes, left, elsewhere } = read;
  if (memories.length === 0) {
    throw new DreamError(
      'no-memories',
      `${file} has no step of the world ${name} that could be remembered.`,
      elsewhere > 0
        ? `Its ${elsewhere} episodes are of another world: choose it with --env.`
        : 'Steps need a state before them, an answer and a known reward; import FILE says what each lacks.',
    );
  }
  io.print(
    `memories: ${memories.length} of ${episodes} episodes${left > 0 ? `, ${left} more than fit` : ''}${elsewhere > 0 ? `; ${elsewhere} episodes of other worlds left out` : ''}`,
  );
  return read;
}

/** The domain with these memories before its own. */
export function withMemories(domain: Domain, memories: readonly NewTransition[]): Domain {
  return {
    ...domain,
    offlineTransitions(limit) {
      const first = memories.slice(0, limit);
      return [...first, ...domain.offlineTransitions(limit - first.length)];
    },
  };
}

/** An imported room is known by how it looks: where it is one of our own, it gets its name. */
function householdRooms(domain: Domain): SpokenWorld['roomOf'] {
  const names = new Map(domain.trainingTasks().map((task) => [task.firstObservation.split('\n')[0], task.room]));
  return (room, firstObservation) => names.get(firstObservation) ?? room;
}

async function sizeOf(path: string, shown: string): Promise<number> {
  try {
    const found = await stat(path);
    if (found.isFile()) return found.size;
  } catch (cause) {
    throw new DreamError('file-read', `${shown} cannot be read: there is no such file.`, 'Check the path.', { cause });
  }
  throw new DreamError('file-read', `${shown} is not a file.`, 'Give one file of trajectories.');
}
