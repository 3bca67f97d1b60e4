import { describe, expect, it } from 'vitest';
import { Draws } from '../../src/dream/random';
import { centredUnits, clusterTasks, clusterVariances, kMeans } from '../../src/dream/task-clusters';
import { fakeDomain, task } from './fake-world';

const draws = (seed = 1) => new Draws(seed);
/** Points around three directions, all shifted the same way, in mixed order. */
const cloud = Array.from({ length: 24 }, (_, i) => {
  const vector = new Float32Array(8).fill(5);
  vector[i % 3] += 2;
  vector[7] += 0.1 * Math.sin(i);
  return vector;
});

describe('clusters of tasks', () => {
  it('finds what lies together, whatever all points share', () => {
    for (const seed of [1, 2, 3, 4]) {
      const clusters = kMeans(centredUnits(cloud), 3, draws(seed));
      expect(new Set(clusters).size).toBe(3);
      clusters.forEach((c, i) => {
        expect(c).toBe(clusters[i % 3]);
      });
    }
  });

  it('is the same for the same seed, and bounded by what differs', () => {
    const points = centredUnits(cloud);
    expect(kMeans(points, 5, draws(9))).toEqual(kMeans(points, 5, draws(9)));
    expect(kMeans([], 3, draws())).toEqual([]);
    expect(kMeans(points.slice(0, 1), 3, draws())).toEqual([0]);
    const same = centredUnits([1, 2, 3].map(() => new Float32Array([1, 2])));
    expect(kMeans(same, 3, draws())).toEqual([0, 0, 0]);
    expect(kMeans(points, 0, draws())).toEqual(points.map(() => 0));
  });

  it('gives every task the variance of its cluster', () => {
    const variances = clusterVariances(
      [0, 0, 1, 1, 0, 2],
      new Map([
        [0, 1],
        [1, 0],
        [2, 1],
        [3, 1],
        // Task 4 was lost and has no rate; 5 stands alone.
        [5, 1],
      ]),
    );
    expect(Object.fromEntries(variances)).toEqual({ 0: 0.25, 1: 0.25, 2: 0, 3: 0, 5: 0 });
  });

  it('embeds the instruction alone where the dialect can say it, else an opening', async () => {
    const asked: (readonly number[])[] = [];
    const model = {
      contextLength: 4,
      async embed(sequences: readonly (readonly number[])[]) {
        asked.push(...sequences);
        return sequences.map((tokens) => Float32Array.from([tokens.includes(10) ? 1 : 0, 1]));
      },
    };
    const domain = fakeDomain();
    const tasks = Array.from({ length: 8 }, (_, i) => task(`room ${i}`, ['red', 'blue'][i % 2]));
    const clusters = await clusterTasks(model, domain, tasks, 1);
    expect(clusters.filter((_, i) => i % 2 === 0)).toEqual(Array(4).fill(clusters[0]));
    expect(clusters[1]).not.toBe(clusters[0]);
    const { generator } = domain.dialect;
    const saying = {
      dialect: { ...domain.dialect, generator: { ...generator, instruction: () => [7, 8, 9, 10, 11] } },
    };
    asked.length = 0;
    await clusterTasks(model, saying, tasks.slice(0, 2), 1);
    // Longer than the context: its end.
    expect(asked).toEqual([
      [8, 9, 10, 11],
      [8, 9, 10, 11],
    ]);
  });
});
