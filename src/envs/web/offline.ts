/**
 * @file Offline trajectories: what a replay buffer holds before the first dream. Three kinds of player take turns: the
 * expert, an expert that sometimes errs (and must recover), and a random one, so that the data shows failure too.
 */
import type { Trajectory, Turn } from '../../data/trajectory';
import type { Task } from '../environment';
import { Random } from '../household/random';
import { expertAction } from './expert';
import { webTrainingTasks } from './tasks';
import { NOTHING_HAPPENS, WebWorld } from './world';

export type Player = 'expert' | 'careless' | 'random';
const PLAYERS: readonly Player[] = ['expert', 'careless', 'random'];
/** How often the careless player does something at random. */
const SLIP = 0.25;

/** One of the things that can be done now, free text filled with a word of the page. */
export function randomAction(world: WebWorld, random: Random): string {
  // Stopping at once is always possible and teaches nothing; most of the time something else is done.
  const all = world.admissible();
  const others = all.filter((action) => !action.startsWith('stop') && !action.startsWith('goto'));
  const action = random.pick(others.length === 0 || random.chance(0.05) ? all : others);
  if (!action.includes('<')) return action;
  const words = world.observation().match(/[A-Za-z]{4,}/g) ?? ['hello'];
  const word = random.pick(words);
  return action.replace('<text>', word).replace('<answer>', word).replace('<url>', world.view().url);
}

export function playWeb(task: Task, player: Player, seed: number, maxSteps = 30): Trajectory {
  const world = new WebWorld({ maxSteps });
  const random = new Random('web/player').split(player, task.id, seed);
  const firstObservation = world.reset(task);
  const turns: Turn[] = [];
  let done = false;
  let lost = false;
  while (!done) {
    const slips = player === 'random' || (player === 'careless' && random.chance(SLIP));
    const action = slips ? randomAction(world, random) : (expertAction(world) ?? randomAction(world, random));
    const result = world.step(action);
    done = result.done;
    lost = result.lost === true;
    turns.push({
      thought: '',
      action,
      actionTokens: [],
      actionLogProbs: [],
      observation: result.observation,
      reasoning: '',
      reward: result.reward,
      done,
      valid: result.valid && result.observation !== NOTHING_HAPPENS,
    });
  }
  const total = turns.reduce((sum, turn) => sum + turn.reward, 0);
  const stopped = turns.at(-1)?.action.startsWith('stop') === true;
  return {
    task,
    source: 'offline',
    firstObservation,
    turns,
    return: lost ? 0 : total,
    success: !lost && total > 0,
    truncated: !stopped,
    lost,
    group: 0,
  };
}

/** At most `limit` episodes over the training tasks; the same for the same seed. */
export function offlineTrajectories(limit: number, seed: number): Trajectory[] {
  const tasks = webTrainingTasks(Number.POSITIVE_INFINITY);
  return Array.from({ length: Math.max(0, Math.floor(limit)) }, (_, index) => {
    const round = Math.floor(index / tasks.length);
    const player = PLAYERS[(index + round) % PLAYERS.length];
    return playWeb(tasks[index % tasks.length], player, seed + round);
  });
}
