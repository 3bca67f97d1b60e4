import { expect, test } from 'vitest';
import { lossTokens, packSequences, uploadPack } from '../../src/nn/packing';
import { testGpu } from '../gpu';

test('whole sequences, in order, as many as fit; a long one alone; empty ones nowhere', () => {
  const sequences = [[1, 2], [], [3, 4, 5], [6], Array(9).fill(7), [8], [9, 9, 9, 9]];
  const packs = packSequences(sequences, 5);
  expect(packs.map((pack) => pack.sequences)).toEqual([[0, 2], [3], [4], [5, 6]]);
  expect(packs.map((pack) => pack.starts)).toEqual([[0, 2], [0], [0], [0, 1]]);
  expect(packs.map((pack) => [...pack.tokens])).toEqual([[1, 2, 3, 4, 5], [6], sequences[4], [8, 9, 9, 9, 9]]);
  expect(packSequences([[], []], 5)).toEqual([]);
});

test('what bears loss: the row before each weighted token, with its numbers', () => {
  const sequences = [
    { tokens: [9, 9], weights: [1, 1] }, // in another pack
    {
      tokens: [4, 5, 6, 7],
      weights: [0.5, 0, 0.25, 1],
      oldLogProbs: [0, -1, -2, -3],
      refLogProbs: [0, -4, -5, -6],
      advantages: [0, 1, 2, 3],
    },
    { tokens: [8, 9], weights: [0, -1] },
  ];
  const pack = { tokens: Uint32Array.of(4, 5, 6, 7, 8, 9), starts: [0, 4], sequences: [1, 2] };
  expect(lossTokens(pack, sequences)).toEqual({
    n: 3,
    rows: [1, 2, 4],
    targets: [6, 7, 9],
    weights: [0.25, 1, -1],
    old: [-2, -3, 0],
    reference: [-5, -6, 0],
    advantages: [2, 3, 0],
    // Without a critic: nothing to aim at, weighted like the words. Two samples: words 0 and 1, and word 2.
    oldValues: [0, 0, 0],
    returns: [0, 0, 0],
    valueWeights: [0.25, 1, -1],
    samples: [0, 2, 3],
  });
});

test('on the device: bases and positions, ends, tokens sorted', async () => {
  const gpu = await testGpu();
  const pack = { tokens: Uint32Array.of(2, 0, 2, 1, 0), starts: [0, 3], sequences: [0, 1] };
  const held: Parameters<typeof uploadPack>[3] = [];
  const batch = uploadPack(gpu, pack, 3, held);
  expect(batch).toMatchObject({ t: 5, meanKeys: 9 / 5 });
  expect([...(await gpu.readU32(batch.tokens, 5))]).toEqual([2, 0, 2, 1, 0]);
  expect([...(await gpu.readU32(batch.rows, 10))]).toEqual([0, 0, 0, 1, 0, 2, 3, 0, 3, 1]);
  expect([...(await gpu.readU32(batch.ends, 5))]).toEqual([3, 3, 3, 5, 5]);
  expect([...(await gpu.readU32(batch.order, 5))]).toEqual([1, 4, 3, 0, 2]);
  expect([...(await gpu.readU32(batch.starts, 4))]).toEqual([0, 2, 3, 5]);
  for (const buffer of held) buffer.release();
});
