/**
 * @file The same trajectory under another goal of its room, with the rewards that goal would have given.
 *
 * It multiplies what is known about rewards without one more real step, and above all it separates the goal from the
 * behaviour: the experience model must read the task, it can no longer guess success from an expert's confident walk
 * (hindsight relabelling, Andrychowicz 2017; here mostly for the negatives).
 */
import {
  feasibleGoals,
  type Goal,
  generateRoom,
  goalKey,
  HouseholdWorld,
  householdData,
  instructionOf,
  isHeldOut,
  parseCommand,
  type Random,
  type Room,
  taskFromInstruction,
  UNSEEN_ROOM_SEED,
} from '../../envs/household';
import { typeOf } from '../transcripts';
import type { OfflineEpisode, OfflineStep } from './episodes';

/** Draws another goal for the episode and plays its actions again under it; null when the room has no other goal. */
export function relabel(episode: OfflineEpisode, random: Random, world = new HouseholdWorld()): OfflineEpisode | null {
  const { size, roomSeed, goal } = householdData(episode.task);
  const room = generateRoom(size, roomSeed);
  for (let attempt = 0; attempt < 8; attempt++) {
    const other = drawGoal(room, episode, goal, random);
    if (other === null) return null;
    const task = taskFromInstruction(size, roomSeed, instructionOf(other, random.int(2) as 0 | 1));
    if (task === null || (roomSeed < UNSEEN_ROOM_SEED && isHeldOut(task))) continue;
    let state = world.reset(task);
    const steps: OfflineStep[] = [];
    for (const { action, target } of episode.steps) {
      const { observation, reward, valid, done } = world.step(action);
      steps.push({ state, action, observation, reward, valid, target });
      state = observation;
      if (done) break;
    }
    return { ...episode, task, goal: other, steps, success: steps.at(-1)?.reward === 1 };
  }
  return null;
}

/**
 * Nearly half of the goals fit something that the trajectory did (object and place of a `put`, or a lamp used with the
 * object in hand), so that some become true and some fail by one piece; the others share an object or nothing.
 */
function drawGoal(room: Room, episode: OfflineEpisode, goal: Goal, random: Random): Goal | null {
  const { placed, handled, usedLamp } = deedsOf(episode);
  const key = goalKey(goal);
  const others: Goal[] = [];
  const done: Goal[] = [];
  const touched: Goal[] = [];
  for (const goals of feasibleGoals(room).values()) {
    for (const other of goals) {
      if (goalKey(other) === key) continue;
      others.push(other);
      if (!handled.has(other.object)) continue;
      touched.push(other);
      if (other.receptacle === undefined ? usedLamp : placed.has(`${other.object} ${other.receptacle}`))
        done.push(other);
    }
  }
  const draw = random.float();
  if (draw < 0.45 && done.length > 0) return random.pick(done);
  if (draw < 0.75 && touched.length > 0) return random.pick(touched);
  return others.length > 0 ? random.pick(others) : null;
}

function deedsOf({ steps }: OfflineEpisode): { placed: Set<string>; handled: Set<string>; usedLamp: boolean } {
  const placed = new Set<string>();
  const handled = new Set<string>();
  let usedLamp = false;
  for (const { action, valid } of steps) {
    const command = valid ? parseCommand(action) : null;
    if (command === null) continue;
    if (command.verb === 'take') handled.add(typeOf(command.first));
    if (command.verb === 'use') usedLamp = true;
    if (command.verb === 'put' || command.verb === 'move')
      placed.add(`${typeOf(command.first)} ${typeOf(command.second)}`);
  }
  return { placed, handled, usedLamp };
}
