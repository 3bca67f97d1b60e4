import { describe, expect, it } from 'vitest';
import {
  DEMONSTRATOR_KINDS,
  Demonstrator,
  type DemonstratorKind,
  expertTarget,
  goalKey,
  HouseholdWorld,
  heldOutTasks,
  Random,
  trainingTasks,
} from '../../../src/envs/household';

interface Played {
  actions: string[];
  invalid: number;
  steps: number;
  solved: boolean;
}

function play(kind: DemonstratorKind, count: number, limit: number): Played[] {
  const world = new HouseholdWorld();
  return heldOutTasks('small', count).map((task, i) => {
    world.reset(task);
    const player = new Demonstrator(kind, world, new Random(`${kind}-${i}`));
    const actions: string[] = [];
    let invalid = 0;
    let solved = false;
    while (actions.length < limit && !solved) {
      const action = player.next();
      actions.push(action);
      const result = world.step(action);
      if (!result.valid) invalid++;
      solved = result.done;
    }
    return { actions, invalid, steps: actions.length, solved };
  });
}

const share = (played: Played[], limit: number) =>
  played.filter(({ solved, steps }) => solved && steps <= limit).length / played.length;

describe('demonstrators', () => {
  it.each(DEMONSTRATOR_KINDS)('%s plays the same game with the same seed', (kind) => {
    expect(play(kind, 20, 15)).toEqual(play(kind, 20, 15));
  });

  // The bands are about four standard errors wide around a run over 1,200 tasks.
  it('the expert needs about twelve steps', () => {
    const played = play('expert', 600, 60);
    expect(played.every(({ invalid, solved }) => invalid === 0 && solved)).toBe(true);
    const mean = played.reduce((sum, { steps }) => sum + steps, 0) / played.length;
    expect(mean).toBeGreaterThan(10.5);
    expect(mean).toBeLessThan(12.5);
    expect(share(played, 14)).toBeGreaterThan(0.68);
    expect(share(played, 16)).toBeGreaterThan(0.81);
    expect(share(played, 20)).toBeGreaterThan(0.95);
  });

  it('the clumsy one is competent but wasteful: four in ten within 16 steps, all in the end', () => {
    const played = play('clumsy', 600, 60);
    expect(played.every(({ invalid, solved }) => invalid === 0 && solved)).toBe(true);
    expect(share(played, 16)).toBeGreaterThan(0.36);
    expect(share(played, 16)).toBeLessThan(0.48);
    const habitShare = (verb: RegExp, habit: RegExp) => {
      let hits = 0;
      let total = 0;
      for (const { actions } of played) {
        for (let i = 1; i < actions.length; i++) {
          if (!verb.test(actions[i - 1])) continue;
          total++;
          if (habit.test(actions[i])) hits++;
        }
      }
      return hits / total;
    };
    expect(habitShare(/^go to/, /^examine/)).toBeCloseTo(0.75, 1);
    expect(habitShare(/^(take|open)/, /^inventory/)).toBeCloseTo(0.7, 1);
    expect(habitShare(/^(clean|heat|cool)/, /^look/)).toBeCloseTo(0.7, 1);
    expect(habitShare(/^(examine|inventory|look)/, /^(examine|inventory|look)/)).toBe(0);
  });

  it('the others fail in their own ways', () => {
    expect(share(play('random', 300, 20), 20)).toBeLessThan(0.05);
    expect(share(play('near-miss', 300, 20), 20)).toBeLessThan(0.2);
    const noisy = share(play('noisy', 300, 20), 20);
    expect(noisy).toBeGreaterThan(0.7);
    expect(noisy).toBeLessThan(0.97);
    const weak = play('weak', 300, 16);
    const invalid = weak.reduce((sum, p) => sum + p.invalid, 0) / weak.reduce((sum, p) => sum + p.steps, 0);
    expect(invalid).toBeGreaterThan(0.2);
    expect(invalid).toBeLessThan(0.45);
    expect(share(weak, 16)).toBeGreaterThan(0.02);
  });

  it('near-miss pursues another goal than the task states', () => {
    const world = new HouseholdWorld();
    for (const task of trainingTasks('small', 60, 1)) {
      world.reset(task);
      const player = new Demonstrator('near-miss', world, new Random(task.id));
      expect(goalKey(player.pursuedGoal)).not.toBe(goalKey(world.goal));
    }
  });

  it('speak the grammar of their world', () => {
    const world = new HouseholdWorld({ putGrammar: 'move' });
    let moves = 0;
    for (const task of trainingTasks('small', 30, 1)) {
      for (const kind of DEMONSTRATOR_KINDS) {
        world.reset(task);
        const player = new Demonstrator(kind, world, new Random(task.id));
        for (let i = 0; i < 30 && !world.state.done; i++) {
          const action = player.next();
          expect(action.startsWith('put ')).toBe(false);
          if (action.startsWith('move ')) moves++;
          world.step(action);
        }
      }
    }
    expect(moves).toBeGreaterThan(30);
  });
});

describe('what the expert knows', () => {
  it('is only what has been seen: hidden objects may change places without changing its choice', () => {
    const world = new HouseholdWorld();
    for (const task of trainingTasks('small', 120, 2)) {
      world.reset(task);
      const player = new Demonstrator('noisy', world, new Random(task.id));
      for (let i = 0; i < 15 && !world.state.done; i++) {
        const { state, room } = world;
        const unseen = [...state.checked.keys()].filter((r) => state.checked[r] === 0);
        const before = new Demonstrator('expert', world, new Random(i));
        const action = before.next();
        const target = before.target;
        if (unseen.length > 1) {
          const truth = world.snapshot();
          state.objectAt.forEach((at, o) => {
            if (unseen.includes(at)) state.objectAt[o] = unseen[(unseen.indexOf(at) + 1) % unseen.length];
          });
          const after = new Demonstrator('expert', world, new Random(i));
          expect(after.next()).toBe(action);
          expect(after.target).toBe(target);
          world.restore(truth);
        }
        if (target !== null) {
          expect(room.objectTypes[room.objectIndex.get(target)!]).toBe(world.goal.object);
        }
        world.step(player.next());
      }
    }
  });

  it('names its target from the moment it has seen one', () => {
    const world = new HouseholdWorld();
    for (const task of heldOutTasks('small', 30)) {
      world.reset(task);
      expect(expertTarget(world)).toBeNull();
      const player = new Demonstrator('expert', world, new Random(task.id));
      while (!world.state.done) {
        const target = player.target;
        const action = player.next();
        if (action.startsWith('take ')) expect(action.startsWith(`take ${target} from`)).toBe(true);
        if (action.startsWith('put ')) expect(action.startsWith(`put ${target} in/on`)).toBe(true);
        world.step(action);
      }
    }
  });
});
