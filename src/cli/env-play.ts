/**
 * @file `dream env play`: a game loop over the household world, for people who want to know what the agent faces.
 * Words that begin with a colon talk to the loop (commands, hint, undo, quit); everything else goes to the world as is.
 */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Task } from '../envs/environment';
import {
  expertAction,
  generateTask,
  type HouseholdSnapshot,
  HouseholdWorld,
  taskFromInstruction,
  WORLD_SIZES,
} from '../envs/household';
import type { CommandIo } from './command';
import { describeOptions, parseOptions, UsageError } from './options';

const OPTIONS = {
  size: { type: 'string', help: 'small, medium or full', default: 'small', choices: WORLD_SIZES },
  room: { type: 'integer', help: 'room seed; the agent trains in 1..120', default: 1, min: 0 },
  seed: { type: 'integer', help: 'which task of the room', default: 1, min: 0 },
  task: { type: 'string', help: 'your own task, e.g. "put a clean cup in cabinet"', value: 'sentence' },
  grammar: {
    type: 'string',
    help: 'put: "put X in/on Y"; move: "move X to Y"',
    default: 'put',
    choices: ['put', 'move'] as const,
  },
  helpful: { type: 'boolean', help: 'say why a command was refused' },
  abstract: { type: 'boolean', help: 'show the text the models see beside the sentences' },
} as const;

export const playHelp = `Usage: dream env play [options]

Play a household task yourself. In the game :help lists what the loop understands.

${describeOptions(OPTIONS)}`;

const GAME_HELP = `Type a command of the world, or
  :commands   what the world would accept now
  :hint       what the scripted expert would do
  :undo       take the last command back
  :help       this
  :quit       leave`;

/** What the loop shows for an answer: the sentence, and the models' form when asked for. */
function shown(raw: string, abstract: string, both: boolean): string {
  return both ? `${raw}\n  [${abstract}]` : raw;
}

export async function playHousehold(args: string[], io: CommandIo, input: Readable = process.stdin): Promise<number> {
  const options = parseOptions(args, OPTIONS);
  const world = new HouseholdWorld({ putGrammar: options.grammar, helpfulErrors: options.helpful });
  const task = chooseTask(options);
  const first = world.reset(task);
  io.print(shown(world.rawFirstObservation(), first, options.abstract));
  io.print(`(${task.id}; :help for help)`);

  const terminal = input === process.stdin && process.stdin.isTTY === true;
  const lines = createInterface({ input, output: terminal ? process.stderr : undefined, prompt: '> ', terminal });
  const stop = () => lines.close();
  io.signal.addEventListener('abort', stop, { once: true });
  // With a terminal readline turns Ctrl-C into an event of its own.
  lines.on('SIGINT', stop);
  const past: HouseholdSnapshot[] = [];
  if (terminal) lines.prompt();
  try {
    for await (const line of lines) {
      const words = line.trim();
      if (words === ':quit') break;
      if (words.startsWith(':')) io.print(loopCommand(words, world, past));
      else if (words !== '') {
        past.push(world.snapshot());
        const result = world.step(words);
        io.print(shown(result.raw ?? '', result.observation, options.abstract));
        if (result.done) break;
      }
      if (terminal) lines.prompt();
    }
  } finally {
    lines.close();
    io.signal.removeEventListener('abort', stop);
  }
  const success = world.goalSatisfied();
  io.print(success ? `Task done in ${past.length} steps.` : `Left after ${past.length} steps; the task is not done.`);
  io.result({ task: task.id, instruction: task.instruction, success, steps: past.length });
  return 0;
}

function chooseTask(options: { size: (typeof WORLD_SIZES)[number]; room: number; seed: number; task?: string }): Task {
  if (options.task === undefined) return generateTask(options.size, options.room, options.seed);
  const task = taskFromInstruction(options.size, options.room, options.task);
  if (task === null) {
    throw new UsageError(
      'bad-value',
      `"${options.task}" is not a task that can be done in room ${options.size}-${options.room}.`,
      'Use one of the sentences of ALFWorld, such as "put a clean cup in cabinet", and things the room has; or leave --task out.',
    );
  }
  return task;
}

function loopCommand(words: string, world: HouseholdWorld, past: HouseholdSnapshot[]): string {
  switch (words) {
    case ':commands':
      return world.admissible().join('\n');
    case ':hint':
      return expertAction(world);
    case ':undo': {
      const before = past.pop();
      if (before === undefined) return 'Nothing to take back.';
      world.restore(before);
      return 'Taken back.';
    }
    default:
      return GAME_HELP;
  }
}
