/** @file A person's own games as a world to train in: every fifth is kept for evaluation, the walkthroughs are the expert. */
import type { Task } from '../environment';
import type { World } from '../world';
import { type GameFile, gameTask } from './game';
import { TextWorldGame } from './world';

const HELD_OUT_ONE_IN = 5;

/**
 * @param games in an order of the caller's choice, which decides what is held out; names must differ
 * @throws DreamError `game-unreadable`, `game-text` for the first game that cannot be played
 */
export function worldOfGames(games: readonly { readonly name: string; readonly file: GameFile }[]): World {
  const training: Task[] = [];
  const heldOut: Task[] = [];
  for (const [i, { name, file }] of games.entries()) {
    const list = i % HELD_OUT_ONE_IN === HELD_OUT_ONE_IN - 1 ? heldOut : training;
    list.push(gameTask(file, name));
  }
  return {
    name: 'textworld',
    summary: 'Games of your own in the form of TextWorld and ALFWorld (game.tw-pddl).',
    trainingTasks: (count) => training.slice(0, count),
    heldOutTasks: (count) => heldOut.slice(0, count),
    create: () => new TextWorldGame(),
    expert: (environment) => (environment instanceof TextWorldGame ? environment.hint() : null),
  };
}
