/**
 * @file Which tasks of a server to train on and which to be examined in: numbers as they are typed (`0-79,90`), or a JSON file
 * that says more about each. What a server has nobody can ask it; so the list comes from the person.
 */
import * as v from 'valibot';
import { DreamError } from '../../data/errors';
import { isJsonObject } from '../../data/json-object';
import type { TaskChoice } from './connect';
import { parseJson } from './plain-values';

export interface RemoteTask extends TaskChoice {
  /** What the agent sees first, for dreams; asked of the server where it is missing. */
  firstObservation?: string;
  /** Memories are shared within a room. */
  room?: string;
  family?: string;
  /** A dream of this task is fulfilled when an observation has all of these. */
  success?: readonly string[];
  heldOut?: boolean;
}

export interface RemoteTasks {
  training: readonly RemoteTask[];
  /** Never trained on. */
  heldOut: readonly RemoteTask[];
}

const maxTasks = 100_000;
/** Without marks of their own, the last fifth of the list is the examination. */
const heldOutShare = 0.2;

const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const line = v.pipe(v.string(), v.trim(), v.nonEmpty('must not be empty'), v.maxLength(400));

const task = v.strictObject({
  index: v.optional(whole),
  seed: v.optional(whole),
  options: v.optional(v.record(v.string(), v.unknown())),
  instruction: v.optional(line),
  firstObservation: v.optional(v.pipe(v.string(), v.nonEmpty('must not be empty'), v.maxLength(20_000))),
  room: v.optional(line),
  family: v.optional(line),
  success: v.optional(v.pipe(v.array(line), v.minLength(1), v.maxLength(20))),
  heldOut: v.optional(v.boolean()),
});

/**
 * `text`: `0-79,90,95-99`, or JSON: a list (or `{"tasks": list}`) of numbers and of objects with index (AgentGym), seed,
 * options (OpenEnv), instruction, firstObservation, room, family, success, heldOut. A bare number is an index for AgentGym
 * and a seed for OpenEnv. Throws DreamError `remote-tasks`.
 */
export function parseRemoteTasks(text: string, kind: 'openenv' | 'agentgym'): RemoteTasks {
  const given = /^\s*[[{]/.test(text) ? listed(text) : ranges(text);
  if (given.length > maxTasks) throw wrong(`it has more than ${maxTasks} tasks`);
  const tasks = given.map((one, at) => taskOf(one, at, kind));
  const marked = tasks.some(({ heldOut }) => heldOut !== undefined);
  const training = marked ? tasks.filter(({ heldOut }) => !heldOut) : tasks.slice(0, firstHeldOut(tasks.length));
  const heldOut = marked ? tasks.filter(({ heldOut: held }) => held) : tasks.slice(firstHeldOut(tasks.length));
  if (training.length === 0 || heldOut.length === 0)
    throw wrong('there must be a task to train on and another one, held out, to be examined in');
  return { training, heldOut };
}

const firstHeldOut = (count: number) => count - Math.max(1, Math.round(count * heldOutShare));

function ranges(text: string): number[] {
  const numbers: number[] = [];
  for (const part of text.split(',')) {
    const [, first, last = first] = /^\s*(\d{1,15})\s*(?:-\s*(\d{1,15})\s*)?$/.exec(part) ?? [];
    if (first === undefined) throw wrong(`"${part.trim().slice(0, 60)}" is neither a number nor a range such as 0-79`);
    const [from, to] = [Number(first), Number(last)];
    if (to < from) throw wrong(`${from}-${to} runs backwards`);
    if (to - from >= maxTasks - numbers.length) throw wrong(`it has more than ${maxTasks} tasks`);
    for (let number = from; number <= to; number++) numbers.push(number);
  }
  if (new Set(numbers).size < numbers.length) throw wrong('a number stands there twice');
  return numbers;
}

function listed(text: string): readonly unknown[] {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (cause) {
    throw wrong('it is not plain JSON', cause);
  }
  const list = isJsonObject(value) ? value.tasks : value;
  if (!Array.isArray(list)) throw wrong('it is no list of tasks');
  return list;
}

function taskOf(given: unknown, at: number, kind: 'openenv' | 'agentgym'): RemoteTask {
  if (typeof given === 'number') {
    if (!Number.isSafeInteger(given) || given < 0) throw wrong(`task ${at + 1} is no whole number`);
    return kind === 'agentgym' ? { index: given } : { seed: given };
  }
  const result = v.safeParse(task, given, { abortEarly: true });
  if (!result.success) {
    const [issue] = result.issues;
    throw wrong(`task ${at + 1}, ${v.getDotPath(issue) ?? 'its top'}: ${issue.message.slice(0, 160)}`);
  }
  if (kind === 'agentgym' && result.output.index === undefined)
    throw wrong(`task ${at + 1} lacks its index, the number in the server's list`);
  return result.output;
}

function wrong(why: string, cause?: unknown): DreamError {
  return new DreamError(
    'remote-tasks',
    `These tasks cannot be used: ${why}.`,
    'Give numbers such as 0-99, or a JSON list of tasks like {"index": 3, "instruction": "...", "heldOut": true}.',
    { cause },
  );
}
