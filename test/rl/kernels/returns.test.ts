import { expect, test } from 'vitest';
import { Returns } from '../../../src/rl/kernels/returns';
import { testGpu } from '../../gpu';
import { expectClose } from '../../numbers';
import { discountedReturns } from '../../reference/returns';
import { part, type Ragged, ragged } from './sequences';

async function run(data: Ragged, gamma: number): Promise<Float32Array> {
  const gpu = await testGpu();
  const kernel = new Returns(gpu);
  await gpu.ready();
  const n = data.rewards.length;
  const buffers = {
    starts: gpu.upload(Uint32Array.from(data.starts), 'starts'),
    rewards: gpu.upload(data.rewards, 'rewards'),
    mask: gpu.upload(data.mask, 'mask'),
    returns: gpu.alloc(Math.max(4, n * 4), 'returns'),
  };
  const rec = gpu.record('test');
  kernel.record(rec, { sequences: data.lengths.length, ...buffers }, gamma);
  rec.submit();
  const result = await gpu.readF32(buffers.returns, n);
  for (const buffer of Object.values(buffers)) buffer.release();
  return result;
}

const lengths = [5, 0, 1, 33, 12, 0, 64, 2, ...Array(80).fill(7)];

test.each([
  [0.95, false],
  [0.95, true],
  [1, true],
  [0, true],
])('matches the reference (gamma %f, masked %s)', async (gamma, masked) => {
  const data = ragged(17, lengths, masked);
  const got = await run(data, gamma);
  const want = lengths.flatMap((_, s) =>
    discountedReturns(part(data.rewards, data, s), part(data.mask, data, s), gamma),
  );
  expectClose(got, want, 0.1);
});

test('masked steps carry the running return: neither reward nor discount', async () => {
  const data: Ragged = {
    lengths: [4],
    starts: [0, 4],
    rewards: Float32Array.of(0, 100, 0, 1),
    values: new Float32Array(4),
    mask: Uint32Array.of(1, 0, 1, 1),
  };
  expect([...(await run(data, 0.5))]).toEqual([0.25, 0.5, 0.5, 1]);
});

test('nothing to do: no sequence, or only empty ones', async () => {
  expect((await run(ragged(1, [], false), 0.9)).length).toBe(0);
  expect((await run(ragged(1, [0, 0], false), 0.9)).length).toBe(0);
});

test('is the same to the bit twice', async () => {
  const data = ragged(4, lengths, true);
  expect(await run(data, 0.97)).toEqual(await run(data, 0.97));
});
