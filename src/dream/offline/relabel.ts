/**
 * @file The same trajectory under another goal of its room, with the rewards that goal would have given.
 *
 * It multiplies what is known about rewards without one more real step, and above all it separates the goal from the
 * behaviour: the experience model must read the task, it can no longer guess success from an expert's confident walk.
 * Many get a goal that they do achieve (hindsight relabelling, Andrychowicz 2017): of steps as they were played only one in
 * fifty is a success, and a model trained on those missed a third of the true ones.
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
  taskFromInstruction,
  UNSEEN_ROOM_SEED,
} from '../../envs/household';
import { typeOf } from '../transcripts';
import type { OfflineEpisode, OfflineStep } from './episodes';

/** Share of relabelled episodes that get a goal they do achieve, where there is one; the others get any goal. */
const achievedShare = 0.6;

/** Draws another goal for the episode and plays its actions again under it; null when the room has no other goal. */
export function relabel(episode: OfflineEpisode, random: Random, world = new HouseholdWorld()): OfflineEpisode | null {
  const goals = otherGoals(episode);
  if (random.chance(achievedShare)) {
    for (const goal of random.shuffle([...goals.fitting]).slice(0, 8)) {
      const told = replay(episode, goal, random, world);
      if (told?.success) return told;
    }
  }
  for (let attempt = 0; attempt < 8 && goals.all.length > 0; attempt++) {
    const told = replay(episode, drawGoal(goals, random), random, world);
    if (told !== null) return told;
  }
  return null;
}

/** The same actions under another goal; ends where that is reached. Null when the goal is reserved for evaluation. */
function replay(episode: OfflineEpisode, goal: Goal, random: Random, world: HouseholdWorld): OfflineEpisode | null {
  const { size, roomSeed } = householdData(episode.task);
  const task = taskFromInstruction(size, roomSeed, instructionOf(goal, random.int(2) as 0 | 1));
  if (task === null || (roomSeed < UNSEEN_ROOM_SEED && isHeldOut(task))) return null;
  let state = world.reset(task);
  const steps: OfflineStep[] = [];
  for (const { action, target } of episode.steps) {
    const { observation, reward, valid, done } = world.step(action);
    steps.push({ state, action, observation, reward, valid, target });
    state = observation;
    if (done) break;
  }
  return { ...episode, task, goal, steps, success: steps.at(-1)?.reward === 1 };
}

interface OtherGoals {
  all: Goal[];
  /** Whose object was taken. */
  touched: Goal[];
  /** Whose object was put into such a place, or taken where a lamp was used: some are achieved, some fail by one piece. */
  fitting: Goal[];
}

function otherGoals(episode: OfflineEpisode): OtherGoals {
  const { size, roomSeed, goal } = householdData(episode.task);
  const { placed, handled, usedLamp } = deedsOf(episode);
  const key = goalKey(goal);
  const goals: OtherGoals = { all: [], touched: [], fitting: [] };
  for (const family of feasibleGoals(generateRoom(size, roomSeed)).values()) {
    for (const other of family) {
      if (goalKey(other) === key) continue;
      goals.all.push(other);
      if (!handled.has(other.object)) continue;
      goals.touched.push(other);
      if (other.receptacle === undefined ? usedLamp : placed.has(`${other.object} ${other.receptacle}`))
        goals.fitting.push(other);
    }
  }
  return goals;
}

function drawGoal({ all, touched, fitting }: OtherGoals, random: Random): Goal {
  const draw = random.float();
  if (draw < 0.45 && fitting.length > 0) return random.pick(fitting);
  if (draw < 0.75 && touched.length > 0) return random.pick(touched);
  return random.pick(all);
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
