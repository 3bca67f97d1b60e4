import { describe, expect, it } from 'vitest';
import { generatedTaskLimit, historyLimit, TaskPool } from '../../src/dream/curriculum';
import { Draws, deriveSeed } from '../../src/dream/random';
import { ReplayBuffer } from '../../src/dream/replay-buffer';
import { generateTasks } from '../../src/dream/task-generator';
import { KnowingModel } from './fake-models';
import { fakeDomain, task } from './fake-world';

const originals = Array.from({ length: 10 }, (_, i) => task(`room ${i}`, 'red'));
const draws = (seed = 1) => new Draws(seed);

describe('the task pool', () => {
  it('draws originals without repetition', () => {
    const chosen = new TaskPool(originals).choose(10, 0.5, draws());
    expect(new Set(chosen.map((t) => t.id)).size).toBe(10);
    const more = new TaskPool(originals).choose(25, 0.5, draws());
    expect(more).toHaveLength(25);
    expect(new TaskPool(originals).choose(4, 0, draws(2))).not.toEqual(new TaskPool(originals).choose(4, 0, draws(3)));
  });

  it('caps generated tasks at lambda and takes the most promising', () => {
    const pool = new TaskPool(originals);
    pool.record(originals[0].id, 0.5);
    pool.record(originals[1].id, 0.9);
    const good = task('room 0', 'blue');
    const fair = task('room 1', 'blue');
    const solved = task('room 2', 'blue');
    for (const [t, parent] of [
      [fair, originals[1]],
      [good, originals[0]],
      [solved, originals[0]],
    ] as const)
      expect(pool.add(t, parent.id)).toBe(true);
    pool.record(solved.id, 1);
    const generated = (lambda: number) =>
      pool
        .choose(8, lambda, draws())
        .map((t) => t.id)
        .filter((id) => pool.get(id)!.generated);
    expect(generated(0.125)).toEqual([good.id]);
    expect(generated(0.24)).toEqual([good.id]);
    // The solved one has nothing left to teach, even where there is room for it.
    expect(generated(1)).toEqual([good.id, fair.id]);
    expect(generated(0)).toEqual([]);
  });

  it('values a task by p(1-p)', () => {
    const pool = new TaskPool(originals);
    for (const [i, p] of [0, 0.25, 0.5, 1].entries()) pool.record(originals[i].id, p);
    expect(pool.get(originals[1].id)).toMatchObject({ visits: 1, lastSuccess: 0.25, variance: 0.1875 });
    expect(pool.parents(originals.map((t) => t.id)).map((entry) => entry.id)).toEqual([
      originals[2].id,
      originals[1].id,
    ]);
    pool.record('unknown', 0.5);
    expect(pool.size).toBe(10);
  });

  it('remembers the last visits one by one', () => {
    const pool = new TaskPool(originals);
    const { id } = originals[0];
    pool.record(id, 0.5, 3);
    const before = pool.get(id)!.history;
    pool.record(id, 1, 4, 0.21);
    expect(pool.get(id)).toMatchObject({ visits: 2, lastSuccess: 1, variance: 0.21 });
    expect(pool.get(id)!.history).toEqual([
      { iteration: 3, success: 0.5, variance: 0.25 },
      { iteration: 4, success: 1, variance: 0.21 },
    ]);
    // What was handed out stays as it was.
    expect(before).toHaveLength(1);
    for (let i = 5; i < 60; i++) pool.record(id, 0.5, i);
    expect(pool.get(id)!.history).toHaveLength(historyLimit);
    expect(pool.get(id)!.history!.at(-1)!.iteration).toBe(59);
    expect(pool.get(originals[1].id)!.history).toBeUndefined();
  });

  it('keeps a bounded number of generated tasks, dropping the worthless', () => {
    const pool = new TaskPool(originals);
    for (let i = 0; i < generatedTaskLimit; i++) pool.add(task(`g ${i}`, 'blue'), originals[0].id);
    pool.record('g 7: blue', 0);
    pool.record('g 8: blue', 0.5);
    expect(pool.add(task('g 7', 'blue'), originals[0].id)).toBe(false);
    pool.add(task('new', 'blue'), originals[0].id);
    expect(pool.has('g 7: blue')).toBe(false);
    expect(pool.has('new: blue')).toBe(true);
    expect(pool.size).toBe(10 + generatedTaskLimit);
    expect(TaskPool.restore(structuredClone(pool.tasks())).tasks()).toEqual(pool.tasks());
  });
});

describe('the task generator', () => {
  it('adds readable, new, feasible variations of the parents and counts the rest', async () => {
    const domain = fakeDomain();
    const pool = new TaskPool(domain.trainingTasks());
    for (const entry of pool.tasks()) pool.record(entry.id, 0.5);
    const model = new KnowingModel();
    const report = await generateTasks({
      model,
      domain,
      pool,
      buffer: new ReplayBuffer(10),
      parents: pool.parents(pool.tasks().map((entry) => entry.id)),
      proposals: 60,
      temperature: 1,
      seed: 1,
    });
    expect(report.asked).toBe(60);
    expect(report.malformed).toBeGreaterThan(0);
    expect(report.known).toBeGreaterThan(0);
    expect(report.accepted.length + report.malformed + report.known + report.infeasible).toBe(60);
    // Only green is new, once in each of the three rooms.
    expect(report.accepted.map((a) => a.task.instruction)).toEqual(['green', 'green', 'green']);
    for (const { task: accepted, parent } of report.accepted)
      expect(pool.get(accepted.id)).toMatchObject({ generated: true, parent, room: pool.get(parent)!.room, visits: 0 });
    // Both parents stand in the prompt and share the room.
    expect(model.asked.every((text) => /^<gen> (red blue|blue red) to$/.test(text))).toBe(true);
  });

  it('asks again with other draws while nothing passes, but not for ever', async () => {
    const domain = fakeDomain();
    const once = (known: boolean, seed: number) => {
      const pool = new TaskPool(domain.trainingTasks());
      for (const entry of pool.tasks()) pool.record(entry.id, 0.5);
      const parents = pool.parents(pool.tasks().map((entry) => entry.id));
      const green = parents.map(({ id, task: one }) => ({
        ...one,
        id: `${id} green`,
        instruction: 'green',
        parent: id,
      }));
      for (const { parent, ...one } of known ? green : []) pool.add(one, parent);
      const model = new KnowingModel();
      const buffer = new ReplayBuffer(10);
      return generateTasks({ model, domain, pool, buffer, parents, temperature: 1, proposals: 1, seed });
    };
    const ask = (known: boolean) => Promise.all(Array.from({ length: 12 }, (_, seed) => once(known, seed)));
    const asked = (await ask(false)).map((report) => [report.asked, report.accepted.length]);
    expect(asked.some(([count, accepted]) => count > 1 && accepted === 1)).toBe(true);
    expect(asked.every(([count, accepted]) => accepted === 1 || count === 4)).toBe(true);
    expect((await ask(true)).every((report) => report.asked === 4 && report.accepted.length === 0)).toBe(true);
  });

  it('asks nothing without parents', async () => {
    const domain = fakeDomain();
    const pool = new TaskPool(domain.trainingTasks());
    const rest = { model: new KnowingModel(), domain, pool, buffer: new ReplayBuffer(1), temperature: 1, seed: 1 };
    expect(await generateTasks({ ...rest, parents: [], proposals: 8 })).toMatchObject({ asked: 0, accepted: [] });
  });
});

describe('random draws', () => {
  it('are a function of seed and path alone', () => {
    expect(deriveSeed(7, 'a', 1)).toBe(deriveSeed(7, 'a', 1));
    const seeds = [deriveSeed(7, 'a', 1), deriveSeed(7, 'a', 2), deriveSeed(8, 'a', 1), deriveSeed(7, 'b', 1)];
    expect(new Set([...seeds, deriveSeed(7, 1, 'a')]).size).toBe(5);
  });

  it('are uniform enough', () => {
    const source = draws(123);
    const counts = new Array(10).fill(0);
    for (let i = 0; i < 10_000; i++) counts[source.below(10)]++;
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150);
    const shuffled = draws(5).shuffled([1, 2, 3, 4, 5]);
    expect([...shuffled].sort()).toEqual([1, 2, 3, 4, 5]);
  });
});
