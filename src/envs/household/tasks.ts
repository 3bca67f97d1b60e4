/**
 * @file Tasks, and the fixed sets they come in: training, held-out tasks of known rooms, tasks of unseen rooms.
 *
 * Whether a goal of a training room is held out is decided by a hash of (room, goal), not by a seed: a training set of
 * any size, and any task a curriculum invents, can be checked against the evaluation set with `isHeldOut`.
 */
import { DreamError } from '../../data/errors';
import type { Task } from '../environment';
import {
  FAMILIES,
  type Family,
  feasibleGoals,
  type Goal,
  goalKey,
  instructionOf,
  isFeasible,
  parseInstruction,
} from './goals';
import { hashKey, Random } from './random';
import { generateRoom, type Room, TRAINING_ROOM_SEEDS, UNSEEN_ROOM_SEED } from './rooms';
import { WORLD_SIZES, type WorldSize } from './vocabulary';

/** `Task.data` of this world. */
export interface HouseholdData {
  size: WorldSize;
  roomSeed: number;
  goal: Goal;
}

/** One goal in five of every training room is kept for evaluation. */
const HELD_OUT_ONE_IN = 5;

/** The abstract sight of a room: `room cabinet 2 cabinet 1 countertop 1`. */
export function roomView(room: Room): string {
  return `room ${room.receptacleNames.join(' ')}`;
}

function makeTask(room: Room, goal: Goal, instruction: string): Task {
  const data: HouseholdData = { size: room.size, roomSeed: room.seed, goal };
  return {
    id: `${room.key}: ${instruction}`,
    instruction,
    room: room.key,
    family: goal.family,
    firstObservation: roomView(room),
    data,
  };
}

/** The data of a household task. @throws DreamError `task-unreadable` when it is not one. */
export function householdData(task: Task): HouseholdData {
  const data = task.data as Partial<HouseholdData> | null | undefined;
  if (
    typeof data !== 'object' ||
    data === null ||
    !WORLD_SIZES.includes(data.size as WorldSize) ||
    !Number.isSafeInteger(data.roomSeed) ||
    typeof data.goal !== 'object' ||
    data.goal === null ||
    !FAMILIES.includes(data.goal.family)
  ) {
    throw new DreamError(
      'task-unreadable',
      `The task "${task.id}" does not describe a household room and goal.`,
      'Use tasks made by this program, or an instruction such as "put a clean cup in cabinet".',
    );
  }
  return data as HouseholdData;
}

/** A task from a sentence about a given room; null when it is not one of the templates or not feasible there. */
export function taskFromInstruction(size: WorldSize, roomSeed: number, instruction: string): Task | null {
  const goal = parseInstruction(instruction);
  const room = generateRoom(size, roomSeed);
  if (goal === null || !isFeasible(room, goal)) return null;
  return makeTask(
    room,
    goal,
    instruction
      .trim()
      .replace(/\s*\.$/, '')
      .split(/\s+/)
      .join(' '),
  );
}

/** A feasible, unsolved task of the room: family first (all equally likely), then the goal, then its wording. */
export function generateTask(size: WorldSize, roomSeed: number, taskSeed: number): Task {
  const room = generateRoom(size, roomSeed);
  const goals = feasibleGoals(room);
  const random = new Random(hashKey('task', size, roomSeed, taskSeed));
  const family = random.pick([...goals.keys()]);
  return drawTask(room, goals.get(family)!, random);
}

function drawTask(room: Room, goals: readonly Goal[], random: Random): Task {
  const goal = random.pick(goals);
  return makeTask(room, goal, instructionOf(goal, random.int(2) as 0 | 1));
}

function goalHeldOut(room: Room, goal: Goal): boolean {
  return hashKey('held-out', room.key, goalKey(goal)) % HELD_OUT_ONE_IN === 0;
}

/** True for tasks reserved for evaluation: any task of an unseen room, and one goal in five of the others. */
export function isHeldOut(task: Task): boolean {
  const { size, roomSeed, goal } = householdData(task);
  return roomSeed >= UNSEEN_ROOM_SEED || goalHeldOut(generateRoom(size, roomSeed), goal);
}

/**
 * Collects `count` tasks whose families go round in turn, distinct as long as there are distinct ones.
 * `roomAt` names the room to try; a room without the wanted family is skipped.
 */
function collect(
  count: number,
  random: Random,
  size: WorldSize,
  roomAt: (index: number, attempt: number, random: Random) => number,
  allowed: (room: Room, goal: Goal) => boolean,
): Task[] {
  const tasks: Task[] = [];
  const taken = new Set<string>();
  for (let i = 0; i < count; i++) {
    const draw = random.split(i);
    const family: Family = FAMILIES[i % FAMILIES.length];
    let chosen: Task | null = null;
    // Small worlds run out of new tasks: after enough tries a repeated one is accepted.
    for (let attempt = 0; attempt < 200; attempt++) {
      const room = generateRoom(size, roomAt(i, attempt, draw));
      const goals = (feasibleGoals(room).get(family) ?? []).filter((goal) => allowed(room, goal));
      if (goals.length === 0) continue;
      chosen = drawTask(room, goals, draw);
      if (!taken.has(chosen.id)) break;
    }
    if (chosen === null) {
      throw new DreamError(
        'no-task',
        `None of the rooms offers a task of the family ${family}.`,
        'Use more rooms, or another world size.',
      );
    }
    taken.add(chosen.id);
    tasks.push(chosen);
  }
  return tasks;
}

/** Tasks to learn from, in training rooms, families balanced; never one that `isHeldOut`. */
export function trainingTasks(
  size: WorldSize,
  count: number,
  seed: number,
  rooms: readonly number[] = TRAINING_ROOM_SEEDS,
): Task[] {
  const random = new Random(hashKey('training-tasks', size, seed));
  return collect(
    count,
    random,
    size,
    (_index, _attempt, draw) => draw.pick(rooms),
    (room, goal) => !goalHeldOut(room, goal),
  );
}

/** The fixed evaluation set: one task in each unseen room. The first n of a longer set are the set of n. */
export function heldOutTasks(size: WorldSize, count: number): Task[] {
  const random = new Random(hashKey('held-out-tasks', size));
  const stride = 1_000_000;
  return collect(
    count,
    random,
    size,
    // Later attempts go to rooms no other index uses, so the set does not depend on `count`.
    (index, attempt) => UNSEEN_ROOM_SEED + index + attempt * stride,
    () => true,
  );
}

/** The second fixed set: held-out tasks of the training rooms. */
export function knownRoomTasks(size: WorldSize, count: number, rooms: readonly number[] = TRAINING_ROOM_SEEDS): Task[] {
  const random = new Random(hashKey('known-room-tasks', size));
  return collect(count, random, size, (_index, _attempt, draw) => draw.pick(rooms), goalHeldOut);
}
