/** @file What every built-in world promises to the loop, to the page and to the terminal. */
import { describe, expect, it } from 'vitest';
import { openWorld, worlds } from '../../src/envs/registry';

describe.each(Object.keys(worlds))('the world %s', (name) => {
  it('keeps what it promises: fixed tasks, an expert that succeeds, snapshots that hold', async () => {
    const world = await openWorld(name);
    const training = world.trainingTasks(12);
    const heldOut = world.heldOutTasks(12);
    expect(world.trainingTasks(6)).toEqual(training.slice(0, 6));
    expect(world.heldOutTasks(6)).toEqual(heldOut.slice(0, 6));
    expect(heldOut.filter((task) => training.some((other) => other.id === task.id))).toEqual([]);
    const environment = world.create();
    const other = world.create();
    for (const task of [...training.slice(0, 3), ...heldOut.slice(0, 3)]) {
      expect(environment.reset(task)).toBe(task.firstObservation);
      const before = structuredClone(environment.snapshot());
      const rewards: number[] = [];
      for (let i = 0; i < 60; i++) {
        const action = world.expert(environment);
        if (action === null) break;
        const possible = environment.admissible();
        if (!possible.some((form) => form.includes('<'))) expect(possible).toContain(action);
        expect(possible).toEqual([...possible].sort());
        const { reward, done } = environment.step(action);
        rewards.push(reward);
        if (done) break;
      }
      expect(rewards.at(-1)).toBe(1);
      environment.restore(before);
      other.restore(before);
      expect(other.admissible()).toEqual(environment.admissible());
      const action = world.expert(environment) ?? '';
      expect(world.expert(other)).toBe(action);
      expect(other.step(action)).toEqual(environment.step(action));
    }
  });
});

it('there are no other worlds', () => {
  for (const name of ['', 'constructor', 'Household']) expect(() => openWorld(name)).toThrow('There is no world');
});
