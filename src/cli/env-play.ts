/**
 * @file `dream env play`: a game loop over any world, for people who want to know what the agent faces.
 * Words that begin with a colon talk to the loop (commands, hint, undo, quit); everything else goes to the world as is.
 */
import type { Readable } from 'node:stream';
import type { Snapshot } from '../envs/world';
import type { CommandIo } from './command';
import { isRemote, playRemote } from './env-remote';
import { PLAY_OPTIONS, type Play, startOf } from './env-start';
import { gameLines, printable } from './game-lines';
import { describeOptions, parseOptions } from './options';

export const playHelp = `Usage: dream env list
       dream env play [options]
       dream env play --remote ws://127.0.0.1:8000/ws                             (an OpenEnv server)
       dream env play --remote http://127.0.0.1:36001 --dialect textcraft --task 3   (an AgentGym server)

Play a task of a world yourself. In the game :help lists what the loop understands.

${describeOptions(PLAY_OPTIONS)}`;

const GAME_HELP = `Type a command of the world, or
  :commands   what the world would accept now
  :hint       what the scripted expert would do
  :undo       take the last command back
  :help       this
  :quit       leave`;

/** What the loop shows for an answer: the sentence, and the models' form when asked for. */
function shown(raw: string, abstract: string, both: boolean): string {
  return printable(both ? `${raw}\n  [${abstract}]` : raw);
}

/** Where a game stands: the way back, and what the last command brought. */
interface Progress {
  readonly past: { before: Snapshot; reward: number }[];
  reward: number;
}

export async function play(args: string[], io: CommandIo, input: Readable = process.stdin): Promise<number> {
  const options = parseOptions(args, PLAY_OPTIONS);
  if (isRemote(options)) return playRemote(options, io, input);
  const game = await startOf(options, io);
  const { environment, task } = game;
  const first = environment.reset(task);
  io.print(shown(environment.rawFirstObservation(), first, options.abstract));
  io.print(printable(`(${task.id}; :help for help)`));

  const progress: Progress = { past: [], reward: 0 };
  for await (const words of gameLines(input, io.signal)) {
    if (words === ':quit') break;
    if (words.startsWith(':')) io.print(printable(loopCommand(words, game, progress)));
    else if (words !== '') {
      progress.past.push({ before: environment.snapshot(), reward: progress.reward });
      const result = environment.step(words);
      progress.reward = result.reward;
      io.print(shown(result.raw ?? result.observation, result.observation, options.abstract));
      if (result.done) break;
    }
  }
  const steps = progress.past.length;
  const success = progress.reward === 1;
  io.print(success ? `Task done in ${steps} steps.` : `Left after ${steps} steps; ${standing(progress.reward)}.`);
  io.result({
    env: game.name,
    task: task.id,
    instruction: task.instruction,
    success,
    reward: progress.reward,
    steps,
  });
  return 0;
}

function standing(reward: number): string {
  return reward === 0 ? 'the task is not done' : `the reward is ${reward.toFixed(2)} of 1`;
}

function loopCommand(words: string, { environment, hint }: Play, progress: Progress): string {
  switch (words) {
    case ':commands':
      return environment.admissible().join('\n');
    case ':hint':
      return hint() ?? 'The expert knows nothing to do here.';
    case ':undo': {
      const last = progress.past.pop();
      if (last === undefined) return 'Nothing to take back.';
      environment.restore(last.before);
      progress.reward = last.reward;
      return 'Taken back.';
    }
    default:
      return GAME_HELP;
  }
}
