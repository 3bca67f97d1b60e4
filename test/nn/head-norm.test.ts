import { describe, expect, test } from 'vitest';
import { HeadNorm } from '../../src/nn/head-norm';
import { testGpu } from '../gpu';
import { expectClose, normals } from '../numbers';
import { headNorm, headNormBackward } from '../reference/head-norm';
import { runKernel } from './run-kernel';
import { dot, sampleEntries, slopes } from './slopes';
import { tinyConfig } from './tiny-models';

describe.each([
  { t: 5, heads: 4, kvHeads: 2, headDim: 8 },
  { t: 33, heads: 3, kvHeads: 1, headDim: 64 },
])('$t rows, $heads + $kvHeads heads of $headDim', ({ t, heads, kvHeads, headDim }) => {
  const width = (heads + 2 * kvHeads) * headDim;
  const shape = { queryHeads: heads, heads: heads + kvHeads, headDim, width, eps: 1e-5 };
  const raw = normals(1, t * width);
  const weight = normals(2, 2 * headDim, 0.3).map((x) => 1 + x);
  const dy = normals(3, t * width);

  async function run() {
    const gpu = await testGpu();
    const kernel = new HeadNorm(gpu, { ...tinyConfig, heads, kvHeads, headDim });
    const data = { raw, weight, qkv: raw.slice(), scale: new Float32Array(t * shape.heads), dqkv: dy.slice() };
    return runKernel(gpu, data, (rec, b) => {
      kernel.forward(rec, b.raw, b.weight, b.qkv, b.scale, t);
      kernel.backward(rec, b.raw, b.weight, b.dqkv, b.scale, t);
    });
  }

  test('forward and backward equal the reference; values pass to the bit', async () => {
    const got = await run();
    expectClose(got.qkv, headNorm(raw, weight, shape), 1);
    expectClose(got.dqkv, headNormBackward(raw, weight, dy, shape), 1, 1e-5);
    for (let row = 0; row < t; row++) {
      const values = [row * width + shape.heads * headDim, (row + 1) * width] as const;
      expect(got.qkv.slice(...values)).toEqual(raw.slice(...values));
      expect(got.dqkv.slice(...values)).toEqual(dy.slice(...values));
    }
  });

  test('the reference gradient is the slope of the reference', () => {
    const entries = sampleEntries(4, raw.length, 20);
    const got = headNormBackward(raw, weight, dy, shape);
    const want = slopes((x) => dot(headNorm(x, weight, shape), dy), raw, entries);
    expectClose(
      entries.map((i) => got[i]),
      want,
      1,
      1e-6,
    );
  });
});
