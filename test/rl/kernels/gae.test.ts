import { describe, expect, test } from 'vitest';
import { Gae } from '../../../src/rl/kernels/gae';
import { testGpu } from '../../gpu';
import { expectClose } from '../../numbers';
import { gae as reference, whiten } from '../../reference/gae';
import { discountedReturns } from '../../reference/returns';
import { part, type Ragged, ragged } from './sequences';

async function run(data: Ragged, gamma: number, lambda: number, whitened = false) {
  const gpu = await testGpu();
  const kernels = new Gae(gpu);
  await gpu.ready();
  const n = data.rewards.length;
  const buffers = {
    starts: gpu.upload(Uint32Array.from(data.starts), 'starts'),
    rewards: gpu.upload(data.rewards, 'rewards'),
    values: gpu.upload(data.values, 'values'),
    mask: gpu.upload(data.mask, 'mask'),
    advantages: gpu.alloc(Math.max(4, n * 4), 'advantages'),
    returns: gpu.alloc(Math.max(4, n * 4), 'returns'),
    moments: gpu.alloc(8, 'moments'),
  };
  const rec = gpu.record('test');
  kernels.record(rec, { sequences: data.lengths.length, ...buffers }, { gamma, lambda });
  if (whitened) kernels.recordWhiten(rec, { n, ...buffers });
  rec.submit();
  const result = {
    advantages: await gpu.readF32(buffers.advantages, n),
    returns: await gpu.readF32(buffers.returns, n),
  };
  for (const buffer of Object.values(buffers)) buffer.release();
  return result;
}

/** The reference over all sequences, concatenated. */
function expected(data: Ragged, gamma: number, lambda: number) {
  const each = data.lengths.map((_, s) =>
    reference(part(data.rewards, data, s), part(data.values, data, s), part(data.mask, data, s), gamma, lambda),
  );
  return { advantages: each.flatMap((e) => e.advantages), returns: each.flatMap((e) => e.returns) };
}

const lengths = [9, 0, 1, 40, 3, 128, 0, ...Array(70).fill(11)];

describe.each([
  [1, 1],
  [0.95, 0.9],
  [0.99, 0],
  [0, 0.95],
])('gamma %f, lambda %f', (gamma, lambda) => {
  test.each([false, true])('matches the reference (masked %s)', async (masked) => {
    const data = ragged(23, lengths, masked);
    const got = await run(data, gamma, lambda);
    const want = expected(data, gamma, lambda);
    // With gamma = lambda = 1 a value is the sum of up to 128 terms of size 1, so it is known to 1e-5 of such a term.
    expectClose(got.advantages, want.advantages, 1);
    expectClose(got.returns, want.returns, 1);
  });

  test('whitening matches the reference', async () => {
    const data = ragged(29, lengths, true);
    const got = await run(data, gamma, lambda, true);
    const raw = expected(data, gamma, lambda);
    expectClose(got.advantages, whiten(raw.advantages, [...data.mask]), 1);
    expectClose(got.returns, raw.returns, 1);
  });
});

test('observation entries change nothing for the acting ones', async () => {
  const data = ragged(31, [60], true);
  data.mask[59] = 0;
  const acting = [...data.mask.keys()].filter((t) => data.mask[t] === 1);
  const short: Ragged = {
    lengths: [acting.length],
    starts: [0, acting.length],
    rewards: Float32Array.from(acting, (t) => data.rewards[t]),
    values: Float32Array.from(acting, (t) => data.values[t]),
    mask: new Uint32Array(acting.length).fill(1),
  };
  const long = await run(data, 0.9, 0.8);
  const dense = await run(short, 0.9, 0.8);
  expect(acting.map((t) => long.advantages[t])).toEqual([...dense.advantages]);
  expect(long.advantages[59]).toBe(0);
});

test('lambda 1: returns are the discounted returns', async () => {
  const data = ragged(37, [25], false);
  const { returns } = await run(data, 0.9, 1);
  expectClose(returns, discountedReturns([...data.rewards], [...data.mask], 0.9), 1);
});

test('whitening of nothing, of one and of equal entries is finite', async () => {
  const one = ragged(2, [3], false);
  one.mask.set([0, 1, 0]);
  const none = { ...one, mask: new Uint32Array(3) };
  expect([...(await run(none, 0.9, 0.9, true)).advantages]).toEqual([0, 0, 0]);
  expect([...(await run(one, 0.9, 0.9, true)).advantages]).toEqual([0, 0, 0]);
});

test('is the same to the bit twice', async () => {
  const data = ragged(41, lengths, true);
  expect(await run(data, 0.95, 0.9, true)).toEqual(await run(data, 0.95, 0.9, true));
});
