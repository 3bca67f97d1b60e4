import { describe, expect, test } from 'vitest';
import type { GroupBaseline } from '../../../src/rl/advantage-kernels';
import { gpuAdvantages } from '../../../src/rl/kernels/advantages';
import { type AdvantageSettings, Advantages, sortByGroup } from '../../../src/rl/kernels/group-advantages';
import { testGpu } from '../../gpu';
import { expectClose, normals, randomSource } from '../../numbers';
import { advantages as reference } from '../../reference/advantages';
import { cpuAdvantages } from '../cpu-advantages';

const modes: GroupBaseline[] = ['group-std', 'group-mean', 'batch-std', 'leave-one-out'];

/** Runs the kernel on groups in order; everything it writes. */
async function run(groups: readonly (readonly number[])[], settings: AdvantageSettings) {
  const gpu = await testGpu();
  const kernels = new Advantages(gpu);
  await gpu.ready();
  const returns = Float32Array.from(groups.flat());
  const starts = [0];
  for (const group of groups) starts.push(starts.at(-1)! + group.length);
  const n = returns.length;
  const buffers = {
    n,
    groups: groups.length,
    returns: gpu.upload(returns, 'returns'),
    starts: gpu.upload(Uint32Array.from(starts), 'starts'),
    batchStd: gpu.alloc(4, 'batch std'),
    advantages: gpu.alloc(Math.max(4, n * 4), 'advantages'),
    groupStd: gpu.alloc(groups.length * 4, 'group std'),
    zeroVariance: gpu.alloc(groups.length * 4, 'zero variance'),
  };
  const rec = gpu.record('test');
  kernels.record(rec, buffers, settings);
  rec.submit();
  const result = {
    advantages: await gpu.readF32(buffers.advantages, n),
    groupStd: await gpu.readF32(buffers.groupStd, groups.length),
    zeroVariance: await gpu.readU32(buffers.zeroVariance, groups.length),
  };
  for (const buffer of Object.values(buffers)) if (typeof buffer !== 'number') buffer.release();
  return result;
}

/** Random groups of 2..9 returns, some sparse (0/1) as in the worlds, some dense. */
function randomGroups(seed: number, count: number): number[][] {
  const uniform = randomSource(seed);
  return Array.from({ length: count }, (_, g) => {
    const size = 2 + Math.floor(uniform() * 8);
    if (g % 2 === 0) return [0, 1, ...Array.from({ length: size - 2 }, () => (uniform() < 0.5 ? 0 : 1))];
    return [...normals(seed * 1000 + g, size, 3)];
  });
}

describe.each(modes)('%s', (mode) => {
  test.each([1e-6, 1e-4])('matches the reference (eps %f)', async (eps) => {
    const groups = randomGroups(11, 150);
    const settings = { mode, eps, rawSingleton: false };
    const got = await run(groups, settings);
    const want = reference(groups, settings);
    expectClose(got.advantages, want.advantages.flat());
    expectClose(got.groupStd, want.groupStd);
  });

  test('equal returns give exactly zero and are flagged', async () => {
    // 0.1 has no finite binary fraction: a mean by plain summation would leave a remainder.
    const groups = [Array(7).fill(Math.fround(0.1)), [0, 0, 0], [1, 0, 1], [1, 1, 1, 1]];
    const { advantages, zeroVariance, groupStd } = await run(groups, { mode, eps: 1e-6, rawSingleton: false });
    expect([...zeroVariance]).toEqual([1, 1, 0, 1]);
    expect([...advantages.slice(0, 10)]).toEqual(Array(10).fill(0));
    expect([...advantages.slice(13)]).toEqual(Array(4).fill(0));
    expect(groupStd[0]).toBe(0);
    expect(advantages[10]).toBeGreaterThan(0);
  });

  test('a group of one: zero, or its return as in verl', async () => {
    const groups = [[0.5], [1, 0], [-2]];
    for (const rawSingleton of [false, true]) {
      const settings = { mode, eps: 1e-4, rawSingleton };
      const got = await run(groups, settings);
      expectClose(got.advantages, reference(groups, settings).advantages.flat());
      expect([...got.zeroVariance]).toEqual([1, 0, 1]);
      expect(got.advantages[0] === 0).toBe(!rawSingleton);
    }
  });

  test('an empty group between others changes nothing', async () => {
    const got = await run([[1, 0], [], [3, 5]], { mode, eps: 1e-6, rawSingleton: false });
    const without = await run(
      [
        [1, 0],
        [3, 5],
      ],
      { mode, eps: 1e-6, rawSingleton: false },
    );
    expect(got.advantages).toEqual(without.advantages);
    expect(got.zeroVariance[1]).toBe(1);
  });

  test('is the same to the bit twice', async () => {
    const groups = randomGroups(5, 70);
    const settings = { mode, eps: 1e-6, rawSingleton: false };
    expect(await run(groups, settings)).toEqual(await run(groups, settings));
  });
});

test('group-std advantages of a group have mean 0 and unbiased variance 1', async () => {
  const { advantages } = await run([[...normals(3, 8, 5)]], { mode: 'group-std', eps: 0, rawSingleton: false });
  const mean = advantages.reduce((a, b) => a + b, 0) / 8;
  const variance = advantages.reduce((a, b) => a + (b - mean) ** 2, 0) / 7;
  expect(Math.abs(mean)).toBeLessThan(1e-6);
  expect(variance).toBeCloseTo(1, 5);
});

test('a large common offset does not hide the differences', async () => {
  const { advantages } = await run([[1000, 1001, 1000, 1001]], { mode: 'group-std', eps: 1e-6, rawSingleton: false });
  expectClose(
    advantages,
    [-1, 1, -1, 1].map((s) => (s * 0.5) / (Math.sqrt(1 / 3) + 1e-6)),
  );
});

test('sortByGroup is stable and takes any ids', () => {
  const { order, starts } = sortByGroup([7, -1, 7, 3, -1]);
  expect([...order]).toEqual([1, 4, 3, 0, 2]);
  expect([...starts]).toEqual([0, 2, 3, 5]);
});

test('the kernels behind one interface take episodes in any order and release their buffers', async () => {
  const gpu = await testGpu();
  const inUse = gpu.memory.bytesInUse;
  const kernels = gpuAdvantages(gpu);
  const result = await kernels.group(Float32Array.of(1, 5, 0, 9, 1), Int32Array.of(2, 0, 2, 0, 2), 'group-mean');
  expectClose(result, [1 / 3, -2, -2 / 3, 2, 1 / 3]);
  expect((await kernels.group(new Float32Array(0), new Int32Array(0), 'group-std')).length).toBe(0);
  expect(gpu.memory.bytesInUse).toBe(inUse);
});

test('each kernel behind the interface equals its plain version, empty sequences included', async () => {
  const gpu = await testGpu();
  const inUse = gpu.memory.bytesInUse;
  const kernels = gpuAdvantages(gpu);
  const starts = Uint32Array.of(0, 5, 5, 12, 13, 40);
  const n = 40;
  const uniform = randomSource(5);
  const mask = Uint32Array.from({ length: n }, () => Math.floor(uniform() * 3));
  const [rewards, values, ref] = [1, 2, 3].map((seed) => normals(seed, n));
  const entries = { starts, mask };
  expectClose(
    await kernels.returns({ ...entries, rewards }, 0.9),
    await cpuAdvantages.returns({ ...entries, rewards }, 0.9),
    1,
  );
  const got = await kernels.gae({ ...entries, rewards, values }, 0.9, 0.8);
  const want = await cpuAdvantages.gae({ ...entries, rewards, values }, 0.9, 0.8);
  expectClose(got.advantages, want.advantages, 1);
  expectClose(got.returns, want.returns, 1);
  expectClose(await kernels.whiten(values, mask), await cpuAdvantages.whiten(values, mask), 1);
  for (const estimator of ['k1', 'k2', 'k3'] as const)
    expectClose(
      await kernels.kl(values, ref, mask, estimator),
      await cpuAdvantages.kl(values, ref, mask, estimator),
      1,
    );
  for (const mode of ['token-truncate', 'token-mask', 'sequence-truncate', 'sequence-mask'] as const) {
    const both = { ...entries, trainer: values, sampler: ref };
    expectClose(await kernels.correction(both, mode, 1.5), await cpuAdvantages.correction(both, mode, 1.5), 1);
  }
  expect(await kernels.whiten(new Float32Array(0), new Uint32Array(0))).toEqual(new Float32Array(0));
  expect(gpu.memory.bytesInUse).toBe(inUse);
});
