/** @file `dream serve`: a built-in world as an environment server, so that TRL or verl trains in it on another machine. */
import { readFile, stat } from 'node:fs/promises';
import { DreamError } from '../../data/errors';
import { parsePlainJson } from '../../data/importers/plain-json';
import type { Task } from '../../envs/environment';
import { openWorld, worlds } from '../../envs/registry';
import type { CommandIo } from '../command';
import { describeOptions, type OptionSpecs, parseOptions } from '../options';
import { startWorldServer } from '../serve/server';
import { Sessions } from '../serve/sessions';

const options = {
  env: { type: 'string', help: `which world: ${Object.keys(worlds).join(', ')}`, default: 'household' },
  tasks: { type: 'string', value: 'FILE.jsonl', help: "one task a line, as in a server kit's data/tasks.jsonl" },
  count: {
    type: 'integer',
    help: 'without --tasks: so many of its own training tasks',
    default: 100,
    min: 1,
    max: 100_000,
  },
  'held-out': { type: 'boolean', help: 'without --tasks: of the evaluation tasks instead' },
  host: {
    type: 'string',
    value: 'ADDRESS',
    help: 'who may call: this machine only, or 0.0.0.0 for all',
    default: '127.0.0.1',
  },
  port: { type: 'integer', help: 'where to listen', default: 36_001, min: 0, max: 65_535 },
  sessions: { type: 'integer', help: 'most episodes at once', default: 1024, min: 1, max: 100_000 },
  abstract: { type: 'boolean', help: "speak the compact text of this program's tiny models instead of sentences" },
} as const satisfies OptionSpecs;

export const help = `Usage: dream serve [--tasks data/tasks.jsonl] [options]

Serves a built-in world over HTTP in AgentGym's TextCraft dialect (create, reset, step, close): the environment of a server
kit. Ctrl-C ends it.

${describeOptions(options)}
  --json             {"ready":true,"port","tasks"}, printed when it is ready`;

const maxFileBytes = 256 * 2 ** 20;

export async function run(args: string[], io: CommandIo): Promise<number> {
  const values = parseOptions(args, options);
  const world = await openWorld(values.env);
  const tasks =
    values.tasks === undefined
      ? values['held-out']
        ? world.heldOutTasks(values.count)
        : world.trainingTasks(values.count)
      : await readTasks(io.resolve(values.tasks), values.tasks);
  const { signal } = io;
  const sessions = new Sessions(() => world.create(), tasks, values.sessions, values.abstract);
  const server = await startWorldServer(sessions, values.host, values.port);
  if (!['127.0.0.1', 'localhost', '::1'].includes(values.host))
    io.note(`Whoever reaches ${values.host}:${server.port} may play: keep it inside your own network.`);
  io.print(`ready: http://${values.host}:${server.port} (${world.name}, ${tasks.length} tasks)`);
  io.result({ ready: true, port: server.port, tasks: tasks.length });
  if (!signal.aborted)
    await new Promise<void>((stop) => signal.addEventListener('abort', () => stop(), { once: true }));
  await server.close();
  return 0;
}

async function readTasks(path: string, given: string): Promise<Task[]> {
  const wrong = (why: string, cause?: unknown) =>
    new DreamError('bad-tasks', `${given} cannot be used: ${why}.`, "Give a server kit's data/tasks.jsonl.", { cause });
  const found = await stat(path).catch(() => null);
  if (!found?.isFile()) throw wrong('there is no such file');
  if (found.size > maxFileBytes) throw wrong('it is larger than 256 MB');
  const lines = (await readFile(path, 'utf8')).split('\n');
  const tasks: Task[] = [];
  for (const [i, line] of lines.entries()) {
    if (line.trim() === '') continue;
    let value: unknown;
    try {
      value = parsePlainJson(line);
    } catch (cause) {
      throw wrong(`line ${i + 1} is not plain JSON`, cause);
    }
    if (!isTask(value)) throw wrong(`line ${i + 1} is no task`);
    tasks.push(value);
  }
  if (tasks.length === 0) throw wrong('it holds no task');
  return tasks;
}

function isTask(value: unknown): value is Task {
  if (typeof value !== 'object' || value === null || !('data' in value)) return false;
  const fields = value as Record<string, unknown>;
  return ['id', 'instruction', 'room', 'family', 'firstObservation'].every((key) => typeof fields[key] === 'string');
}
