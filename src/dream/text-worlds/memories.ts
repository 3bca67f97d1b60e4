/** @file Episodes as memories of a world: offline ones of its own players, and those that people bring. */
import { type Step, stepsOf } from '../../data/importers/transitions';
import type { Trajectory } from '../../data/trajectory';
import type { NewTransition } from '../replay-buffer';
import type { SpokenWorld } from './world';

type Rooms = Pick<SpokenWorld, 'roomOf'>;

/** Every step that has a state before it, an answer and a known reward. */
export function memoriesOf(world: Rooms, trajectory: Trajectory, episode: string): NewTransition[] {
  const { task, firstObservation } = trajectory;
  const room = world.roomOf(task.room, firstObservation);
  return [...stepsOf(trajectory)].filter(isKnown).map(({ state, action, nextState, reward }) => ({
    source: 'offline',
    episode,
    room,
    task: task.instruction,
    state,
    action,
    nextState,
    reward,
  }));
}

const isKnown = (step: Step | string): step is Step & { reward: number } =>
  typeof step !== 'string' && step.reward !== null;

/** The first `limit` memories of episodes that are made as they are needed. */
export function memoriesUpTo(
  world: Rooms,
  limit: number,
  episodes: (count: number) => readonly Trajectory[],
): NewTransition[] {
  const found: NewTransition[] = [];
  // Episodes have ten steps or so; a list that turns out too short is made again, longer.
  for (let count = Math.max(1, Math.ceil(limit / 10)); ; count *= 2) {
    found.length = 0;
    const played = episodes(count);
    for (const [i, trajectory] of played.entries()) found.push(...memoriesOf(world, trajectory, `offline-${i}`));
    if (found.length >= limit || played.length < count || count > limit) return found.slice(0, limit);
  }
}

/** The name of a room as its own world writes it: importers put the world's name before it, some twice. */
export const plainRoom = (room: string): string => room.replace(/^(?:(?:household|shop|web|text):)+/, '');
