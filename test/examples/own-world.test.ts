import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import example from '../../examples/own-world/drinks-machine';
import { isOwnWorld, loadOwnWorld } from '../../src/cli/own-world';
import { worldProblems } from '../../src/envs/check-world';
import type { World } from '../../src/envs/world';

const path = fileURLToPath(new URL('../../examples/own-world/drinks-machine.ts', import.meta.url));

describe('the worked example', () => {
  test('keeps what the trainer relies on', () => {
    expect(worldProblems(example)).toEqual([]);
  });

  test('its expert serves every order', () => {
    const tasks = [...example.trainingTasks(100), ...example.heldOutTasks(100)];
    expect(tasks).toHaveLength(36);
    for (const task of tasks) {
      const machine = example.create();
      machine.reset(task);
      let reward = 0;
      for (let step = 0; step < 12 && reward === 0; step++) reward = machine.step(example.expert(machine)!).reward;
      expect(reward).toBe(1);
    }
  });

  test('wrong drinks earn nothing', () => {
    const machine = example.create();
    machine.reset(example.trainingTasks(1)[0]);
    for (const action of ['place cup', 'insert coin', 'press soup', 'take cup'])
      expect(machine.step(action)).toMatchObject({ reward: 0, valid: true });
    expect(machine.step('press coffee')).toMatchObject({ valid: false, observation: 'nothing happens' });
  });
});

test('broken promises are named', () => {
  let clock = 0;
  const broken: World = {
    ...example,
    heldOutTasks: example.trainingTasks,
    create: () => {
      const machine = example.create();
      const step = machine.step.bind(machine);
      machine.step = (action) => ({ ...step(action), observation: `at ${clock++}` });
      return machine;
    },
  };
  const problems = worldProblems(broken).join('\n');
  expect(problems).toMatch(/is a training task too/);
  expect(problems).toMatch(/after restore, "place cup" gives another answer/);
});

describe('loaded from a file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'own-world-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('TypeScript with imports', async () => {
    expect(isOwnWorld(path)).toBe(true);
    expect(isOwnWorld('household')).toBe(false);
    const world = await loadOwnWorld(path);
    expect(world.name).toBe('drinks-machine');
    expect(worldProblems(world)).toEqual([]);
  });

  test.each([
    ['gone.ts', null, 'file-read'],
    ['broken.ts', 'export default {', 'world-build'],
    ['throws.mjs', 'throw new Error("no")', 'world-failed'],
    ['empty.mjs', 'export const x = 1;', 'not-a-world'],
    ['part.ts', 'export default { name: "x", summary: "" };', 'not-a-world'],
  ])('%s', async (name, text, code) => {
    const file = join(folder, name);
    if (text !== null) await writeFile(file, text);
    await expect(loadOwnWorld(file)).rejects.toMatchObject({ code, advice: expect.any(String) });
  });
});
