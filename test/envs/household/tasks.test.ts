import { describe, expect, it } from 'vitest';
import { DreamError } from '../../../src/data/errors';
import type { Task } from '../../../src/envs/environment';
import {
  expertAction,
  FAMILIES,
  feasibleGoals,
  type Goal,
  generateRoom,
  generateTask,
  goalReached,
  HouseholdWorld,
  heldOutTasks,
  householdData,
  instructionOf,
  isFeasible,
  isHeldOut,
  knownRoomTasks,
  parseInstruction,
  Random,
  TRAINING_ROOM_SEEDS,
  taskFromInstruction,
  trainingTasks,
  WORLD_SIZES,
} from '../../../src/envs/household';
import { HouseholdState } from '../../../src/envs/household/state';

function familyCounts(tasks: readonly Task[]): number[] {
  return FAMILIES.map((family) => tasks.filter((task) => task.family === family).length);
}

describe('instructions', () => {
  it('use the sentences of ALFWorld', () => {
    const goal = (family: Goal['family']): Goal => ({ family, object: 'cup', receptacle: 'cabinet' });
    const sentences = FAMILIES.flatMap((family) => {
      const g: Goal = family === 'look_at_obj_in_light' ? { family, object: 'cup', toggle: 'desklamp' } : goal(family);
      return [instructionOf(g, 0), instructionOf(g, 1)];
    });
    expect(sentences).toEqual([
      'put a cup in cabinet',
      'put some cup on cabinet',
      'look at cup under the desklamp',
      'examine the cup with the desklamp',
      'put a clean cup in cabinet',
      'clean some cup and put it in cabinet',
      'put a hot cup in cabinet',
      'heat some cup and put it in cabinet',
      'put a cool cup in cabinet',
      'cool some cup and put it in cabinet',
      'put two cup in cabinet',
      'find two cup and put them in cabinet',
    ]);
    sentences.forEach((sentence, i) => {
      const parsed = parseInstruction(sentence);
      expect(parsed?.family).toBe(FAMILIES[i >> 1]);
      expect(parsed?.object).toBe('cup');
      expect(instructionOf(parsed!, (i & 1) as 0 | 1)).toBe(sentence);
      expect(parseInstruction(` ${sentence}.`)).toEqual(parsed);
    });
  });

  it.each(['', 'put', 'put a cup on cabinet', 'put a cup in cabinet now', 'find two cup', 'wash the cup', '{obj}'])(
    'do not read "%s"',
    (text) => {
      expect(parseInstruction(text)).toBeNull();
    },
  );
});

describe.each(WORLD_SIZES)('%s tasks', (size) => {
  it('are feasible, unsolved, and a function of their seeds', () => {
    for (let seed = 1; seed <= 150; seed++) {
      const task = generateTask(size, seed % 40, seed);
      expect(generateTask(size, seed % 40, seed)).toEqual(task);
      const { goal, roomSeed } = householdData(task);
      const room = generateRoom(size, roomSeed);
      expect(isFeasible(room, goal)).toBe(true);
      expect(goalReached(room, new HouseholdState(room), goal)).toBe(false);
      expect(parseInstruction(task.instruction)).toEqual(goal);
      expect(task.instruction.endsWith('.')).toBe(false);
      expect(task.room).toBe(room.key);
      expect(task.firstObservation).toBe(`room ${room.receptacleNames.join(' ')}`);
      expect(JSON.parse(JSON.stringify(task))).toEqual(task);
    }
  });

  it('can be done: the expert solves the evaluation set within 40 steps', () => {
    const tasks = heldOutTasks(size, 300);
    const world = new HouseholdWorld();
    let solved = 0;
    tasks.forEach((task, i) => {
      world.reset(task);
      const random = new Random(i);
      for (let step = 0; step < 40; step++) {
        const result = world.step(expertAction(world, random));
        expect(result.valid).toBe(true);
        if (!result.done) continue;
        expect(result.reward).toBe(1);
        solved++;
        break;
      }
    });
    expect(solved / tasks.length).toBeGreaterThanOrEqual(0.97);
  });

  it('come in fixed, balanced sets that do not touch', () => {
    const held = heldOutTasks(size, 120);
    expect(heldOutTasks(size, 60)).toEqual(held.slice(0, 60));
    expect(new Set(held.map((task) => task.id)).size).toBe(120);
    expect(new Set(held.map((task) => task.room)).size).toBe(120);
    const training = trainingTasks(size, 300, 3);
    expect(trainingTasks(size, 300, 3)).toEqual(training);
    expect(trainingTasks(size, 300, 4)).not.toEqual(training);
    const known = knownRoomTasks(size, 120);
    expect(knownRoomTasks(size, 120)).toEqual(known);
    for (const set of [held, training, known]) {
      for (const count of familyCounts(set)) expect(count).toBe(set.length / FAMILIES.length);
    }
    expect(held.every(isHeldOut)).toBe(true);
    expect(known.every(isHeldOut)).toBe(true);
    expect(training.some(isHeldOut)).toBe(false);
    const rooms = new Set(TRAINING_ROOM_SEEDS);
    for (const task of [...training, ...known]) expect(rooms).toContain(householdData(task).roomSeed);
    for (const task of held) expect(householdData(task).roomSeed).toBeGreaterThanOrEqual(100_000);
  });
});

describe('feasibility', () => {
  const room = generateRoom('small', 1);

  it('refuses what the room cannot give', () => {
    const bad: Goal[] = [
      { family: 'pick_and_place_simple', object: 'unicorn', receptacle: 'fridge' },
      { family: 'pick_and_place_simple', object: 'desklamp', receptacle: 'shelf' },
      { family: 'pick_and_place_simple', object: room.objectTypes[0], receptacle: 'bathtubbasin' },
      { family: 'pick_heat_then_place_in_recep', object: 'keychain', receptacle: 'drawer' },
      { family: 'look_at_obj_in_light', object: room.objectTypes[0], toggle: 'fridge' },
      { family: 'look_at_obj_in_light', object: room.objectTypes[0] },
      { family: 'pick_and_place_simple', object: room.objectTypes[0] },
    ];
    for (const goal of bad) expect(isFeasible(room, goal)).toBe(false);
  });

  it('agrees with the list of feasible goals', () => {
    for (const [family, goals] of feasibleGoals(room)) {
      for (const goal of goals) {
        expect(goal.family).toBe(family);
        expect(isFeasible(room, goal)).toBe(true);
      }
    }
  });

  it('reads sentences about a room', () => {
    const task = generateTask('small', 1, 5);
    expect(taskFromInstruction('small', 1, `${task.instruction}.`)).toEqual(task);
    expect(taskFromInstruction('small', 1, 'put a unicorn in fridge')).toBeNull();
    expect(taskFromInstruction('small', 1, 'sing')).toBeNull();
  });
});

describe('broken tasks', () => {
  it.each([
    null,
    7,
    {},
    { size: 'huge', roomSeed: 1 },
    { size: 'small', roomSeed: 1.5 },
    { size: 'small', roomSeed: 1, goal: null },
  ])('are refused with a typed error: %j', (data) => {
    const task: Task = { id: 'x', instruction: 'x', room: 'x', family: 'x', firstObservation: '', data };
    expect(() => new HouseholdWorld().reset(task)).toThrow(DreamError);
  });

  it('and a set that no room can fill says so', () => {
    // A bathroom has no microwave.
    const bathroom = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].find((seed) => generateRoom('full', seed).scene === 'bathroom')!;
    expect(() => trainingTasks('full', 12, 1, [bathroom])).toThrow(DreamError);
  });
});
