/** @file Which world and which task `dream env play` begins with: a built-in world, a household room, a game file, one's own. */
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DreamError } from '../data/errors';
import type { Task } from '../envs/environment';
import {
  expertAction,
  generateTask,
  HouseholdWorld,
  heldOutTasks,
  taskFromInstruction,
  WORLD_SIZES,
} from '../envs/household';
import { openWorld, worlds } from '../envs/registry';
import { dialectNames } from '../envs/remote';
import {
  type GameFile,
  gameTask,
  lacksTask,
  readGameFile,
  sentenceOfTrajectory,
  TextWorldGame,
  withTask,
} from '../envs/textworld';
import type { PlayableEnvironment, World } from '../envs/world';
import type { CommandIo } from './command';
import { nearest, type OptionSpecs, type OptionValues, UsageError } from './options';
import { isOwnWorld, loadOwnWorld } from './own-world';

export const PLAY_OPTIONS = {
  env: {
    type: 'string',
    help: `${Object.keys(worlds).join(', ')}, a file game.tw-pddl, or a world of your own in a .ts or .js file`,
    default: 'household',
    value: 'NAME|FILE',
  },
  seed: { type: 'integer', help: 'which task (household: of the room)', default: 1, min: 0 },
  task: {
    type: 'string',
    help: 'household: your own, e.g. "put a clean cup in cabinet"; shop, web: the id or sentence of one they have; a file: its task, where it lacks one; --remote: the number of one (AgentGym), or reset arguments as JSON (OpenEnv)',
    value: 'TASK',
  },
  'held-out': { type: 'boolean', help: 'a task of the evaluation set' },
  size: { type: 'string', help: 'household: default small', choices: WORLD_SIZES },
  room: { type: 'integer', help: 'household: room seed; the agent trains in 1..120; default 1', min: 0 },
  grammar: {
    type: 'string',
    help: 'household: "put X in/on Y" (default) or "move X to Y"',
    choices: ['put', 'move'] as const,
  },
  helpful: { type: 'boolean', help: 'household: say why a command was refused' },
  domain: { type: 'string', help: 'with --env PROBLEM.pddl: the PDDL domain', value: 'FILE' },
  'text-grammar': { type: 'string', help: 'with --env PROBLEM.pddl: the text grammar', value: 'FILE.twl2' },
  remote: {
    type: 'string',
    help: 'an environment server instead of --env: OpenEnv (ws:// or http://), or AgentGym with --dialect',
    value: 'URL',
  },
  dialect: { type: 'string', help: '--remote: which AgentGym server it is', choices: dialectNames },
  timeout: { type: 'number', help: '--remote: seconds for one answer (default 30, AgentGym 60)', min: 0.1, max: 3600 },
  abstract: { type: 'boolean', help: 'show the text the models see beside the sentences' },
} as const satisfies OptionSpecs;

export type PlayOptions = OptionValues<typeof PLAY_OPTIONS>;

/** A game about to begin. */
export interface Play {
  readonly name: string;
  readonly environment: PlayableEnvironment;
  readonly task: Task;
  /** The expert's next action, or null. */
  hint(): string | null;
}

/** @throws UsageError for options that do not fit the world; DreamError for files that are no games */
export async function startOf(options: PlayOptions, io: CommandIo): Promise<Play> {
  const { env } = options;
  const isFile = env.includes('.') || env.includes('/') || env.includes('\\');
  refuse(env, options, ['dialect', 'timeout']);
  refuse(env, options, env === 'household' ? [] : ['size', 'room', 'grammar', 'helpful']);
  refuse(env, options, env.endsWith('.pddl') ? [] : ['domain', 'text-grammar']);
  if (isOwnWorld(env)) return listedGame(env, await loadOwnWorld(io.resolve(env)), options);
  if (isFile) {
    refuse(env, options, ['held-out']);
    return gameFromFile(env, options, io);
  }
  if (env === 'household') return householdGame(options);
  if (!Object.hasOwn(worlds, env)) {
    const close = nearest(env, Object.keys(worlds));
    throw new UsageError(
      'bad-value',
      `There is no world "${env}".`,
      `${close ? `Did you mean "${close}"? ` : ''}env list shows the worlds; a game file ends in .tw-pddl.`,
    );
  }
  return listedGame(env, await openWorld(env), options);
}

/** A task out of a world's own lists. */
function listedGame(env: string, world: World, options: PlayOptions): Play {
  const environment = world.create();
  const listed = (count: number) => (options['held-out'] ? world.heldOutTasks(count) : world.trainingTasks(count));
  const task = options.task === undefined ? nth(listed, options.seed) : named(listed, options.task, env);
  return { name: world.name, environment, task, hint: () => world.expert(environment) };
}

function refuse(env: string, options: PlayOptions, names: readonly (keyof PlayOptions)[]): void {
  for (const name of names) {
    if (options[name] === undefined || options[name] === false) continue;
    throw new UsageError('bad-option', `--${name} does not go with --env ${env}.`, '--help says what goes with what.');
  }
}

type Listed = (count: number) => readonly Task[];

/** Task `seed` of the list, counted from 1 and round again. */
function nth(listed: Listed, seed: number): Task {
  const wanted = Math.max(1, seed);
  const tasks = listed(Math.min(wanted, 100_000));
  return tasks[(wanted - 1) % tasks.length];
}

/** More tasks than any world has in its fixed list; worlds that make them up are searched this far. */
const SEARCHED = 5000;

function named(listed: Listed, wanted: string, env: string): Task {
  const same = (task: Task) => task.id === wanted || task.instruction === wanted.replace(/\.$/, '');
  const task = listed(SEARCHED).find(same);
  if (task === undefined) {
    throw new UsageError(
      'bad-value',
      `The world ${env} has no task "${wanted}".`,
      'Leave --task out and use --seed N.',
    );
  }
  return task;
}

function householdGame(options: PlayOptions): Play {
  const { size = 'small', room = 1, seed, task: sentence } = options;
  const environment = new HouseholdWorld({ putGrammar: options.grammar ?? 'put', helpfulErrors: options.helpful });
  const unseen = options['held-out'];
  if (unseen) refuse('household --held-out', options, ['room', 'task']);
  const drawn = () => (unseen ? nth((count) => heldOutTasks(size, count), seed) : generateTask(size, room, seed));
  const task = sentence === undefined ? drawn() : taskFromInstruction(size, room, sentence);
  if (task === null) {
    throw new UsageError(
      'bad-value',
      `"${sentence}" is not a task that can be done in room ${size}-${room}.`,
      'Use one of the sentences of ALFWorld, such as "put a clean cup in cabinet", and things the room has; or leave --task out.',
    );
  }
  return { name: 'household', environment, task, hint: () => expertAction(environment) };
}

async function gameFromFile(path: string, options: PlayOptions, io: CommandIo): Promise<Play> {
  const environment = new TextWorldGame();
  const file = await readGame(path, options, io);
  if (options.task !== undefined && !lacksTask(file)) {
    throw new UsageError('bad-option', `The game ${path} has a task of its own.`, 'Leave --task out.');
  }
  const sentence = options.task ?? (lacksTask(file) ? await sentenceBeside(io.resolve(path)) : null);
  const task = gameTask(sentence === null ? file : withTask(file, sentence), basename(path));
  return { name: 'textworld', environment, task, hint: () => environment.hint() };
}

/** ALFWorld's traj_data.json in the game's folder says what the task is; null where there is none to understand. */
async function sentenceBeside(path: string): Promise<string | null> {
  try {
    const beside = join(dirname(path), 'traj_data.json');
    return sentenceOfTrajectory(JSON.parse(await readText(beside, beside)));
  } catch {
    return null;
  }
}

async function readGame(path: string, options: PlayOptions, io: CommandIo): Promise<GameFile> {
  if (!path.endsWith('.pddl')) return readGameFile(await readText(io.resolve(path), path));
  const { domain, 'text-grammar': grammar } = options;
  if (domain === undefined || grammar === undefined) {
    throw new UsageError(
      'bad-option',
      `${path} is only the problem of a game.`,
      'Give its domain and its text grammar too: --domain FILE.pddl --text-grammar FILE.twl2.',
    );
  }
  return {
    pddl_domain: await readText(io.resolve(domain), domain),
    grammar: await readText(io.resolve(grammar), grammar),
    pddl_problem: await readText(io.resolve(path), path),
  };
}

const MAX_BYTES = 32 << 20;

async function readText(path: string, given: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size <= MAX_BYTES) return await readFile(path, 'utf8');
  } catch (cause) {
    throw new DreamError('file-unreadable', `${given} cannot be read.`, 'Check the path and your rights to the file.', {
      cause,
    });
  }
  throw new DreamError('file-too-large', `${given} is larger than 32 MiB.`, 'A text game has some hundred kilobytes.');
}
