import { describe, expect, test } from 'vitest';
import type { TopKKernel } from '../../../src/dream/retrieval';
import { anyKey, gpuTopK, maxTopK, type TopKRequest } from '../../../src/rl/kernels/topk';
import { testGpu } from '../../gpu';
import { expectClose, normals, randomSource } from '../../numbers';
import { cosine, topK as reference } from '../../reference/topk';

async function run(request: TopKRequest, blockBytes?: number) {
  return gpuTopK(await testGpu(), blockBytes)(request);
}

function request(seed: number, queries: number, rows: number, dimension: number, k: number): TopKRequest {
  return { queries: normals(seed, queries * dimension), rows: normals(seed + 1, rows * dimension, 4), dimension, k };
}

/** Same scores everywhere; same rows unless two scores are closer than rounding. */
async function expectReference(asked: TopKRequest, blockBytes?: number) {
  const got = await run(asked, blockBytes);
  const want = reference(asked);
  expectClose(got.scores, want.scores, 0.1);
  got.indices.forEach((row, i) => {
    if (row === want.indices[i]) return;
    expect(row).toBeGreaterThanOrEqual(0);
    const q = Math.floor(i / asked.k);
    expect(Math.abs(cosine(asked.queries, q, asked.rows, row, asked.dimension) - want.scores[i])).toBeLessThan(1e-6);
  });
  for (let q = 0; q < got.indices.length / asked.k; q++) {
    const rows = [...got.indices.slice(q * asked.k, (q + 1) * asked.k)].filter((row) => row >= 0);
    expect(new Set(rows).size).toBe(rows.length);
  }
  return got;
}

describe('matches the reference', () => {
  test.each([
    [1, 1, 4, 1],
    [3, 5, 7, 4],
    [17, 1000, 128, 4],
    [64, 300, 32, maxTopK],
    [2, 64, 16, 3],
    [9, 65, 16, 3],
  ])('%i queries, %i rows, dimension %i, k %i', async (queries, rows, dimension, k) => {
    await expectReference(request(queries + rows, queries, rows, dimension, k));
  });

  test('with a mask', async () => {
    const asked = request(5, 10, 203, 24, 4);
    const uniform = randomSource(6);
    asked.allowed = Uint8Array.from({ length: 10 * 203 }, () => (uniform() < 0.1 ? 1 : 0));
    asked.allowed.fill(0, 0, 203);
    asked.allowed.fill(0, 203, 406);
    asked.allowed[203 + 202] = 255;
    const { indices } = await expectReference(asked);
    expect([...indices.slice(0, 8)]).toEqual([-1, -1, -1, -1, 202, -1, -1, -1]);
  });

  test('with keys', async () => {
    const asked = request(8, 12, 500, 24, 5);
    asked.rowKeys = Uint32Array.from({ length: 500 }, (_, i) => i % 40);
    asked.queryKeys = Uint32Array.from({ length: 12 }, (_, i) => (i === 3 ? anyKey : i === 4 ? 99 : i));
    const { indices } = await expectReference(asked);
    expect([...indices.slice(0, 5)].map((row) => row % 40)).toEqual([0, 0, 0, 0, 0]);
    expect([...indices.slice(20, 25)]).toEqual([-1, -1, -1, -1, -1]);
  });

  test('in blocks, with mask and keys: the same to the bit as in one piece', async () => {
    const asked = request(10, 6, 777, 20, 6);
    const uniform = randomSource(7);
    asked.allowed = Uint8Array.from({ length: 6 * 777 }, () => (uniform() < 0.5 ? 1 : 0));
    asked.rowKeys = Uint32Array.from({ length: 777 }, (_, i) => i % 3);
    asked.queryKeys = Uint32Array.of(0, 1, 2, anyKey, 0, 1);
    const whole = await expectReference(asked);
    expect(await run(asked, 101 * 20 * 4)).toEqual(whole);
    expect(await run(asked, 64 * 20 * 4)).toEqual(whole);
  });
});

test('equal scores go to the smaller row index, across chunks and blocks', async () => {
  const dimension = 8;
  const vector = normals(1, dimension);
  const rows = new Float32Array(400 * dimension);
  // Row 50 is the best; all others are equal to each other.
  for (let row = 0; row < 400; row++) rows.set(normals(2, dimension), row * dimension);
  rows.set(vector, 50 * dimension);
  const asked = { queries: vector, rows, dimension, k: 5 };
  const expected = [50, 0, 1, 2, 3];
  expect([...(await run(asked)).indices]).toEqual(expected);
  expect([...(await run(asked, 33 * dimension * 4)).indices]).toEqual(expected);
});

test('length does not matter, a zero vector scores 0', async () => {
  const asked = {
    queries: Float32Array.of(0, 2),
    rows: Float32Array.of(0, 0, 0, 1e-3, -5, 0, 0, -1),
    dimension: 2,
    k: 4,
  };
  const { indices, scores } = await run(asked);
  expect([...indices]).toEqual([1, 0, 2, 3]);
  expectClose(scores, [1, 0, 0, -1], 1);
});

test('nothing asked, nothing stored, nothing wanted', async () => {
  expect(await run(request(1, 0, 5, 4, 2))).toEqual({ indices: new Int32Array(0), scores: new Float32Array(0) });
  expect([...(await run(request(1, 2, 0, 4, 2))).indices]).toEqual([-1, -1, -1, -1]);
  expect((await run(request(1, 2, 5, 4, 0))).indices.length).toBe(0);
});

test('too large a k is refused in words', async () => {
  await expect(run(request(1, 1, 5, 4, maxTopK + 1))).rejects.toMatchObject({ code: 'top-k-range' });
});

test('is the same to the bit twice, and gives its buffers back', async () => {
  const gpu = await testGpu();
  const inUse = gpu.memory.bytesInUse;
  const asked = request(30, 8, 900, 64, 4);
  expect(await run(asked)).toEqual(await run(asked));
  expect(gpu.memory.bytesInUse).toBe(inUse);
});

test('fits the retrieval of the dream layer', async () => {
  const kernel: TopKKernel = gpuTopK(await testGpu());
  const { indices } = await kernel({
    queries: Float32Array.of(1, 0),
    rows: Float32Array.of(0, 1, 1, 0),
    dimension: 2,
    k: 1,
    allowed: Uint8Array.of(1, 1),
  });
  expect([...indices]).toEqual([1]);
});
