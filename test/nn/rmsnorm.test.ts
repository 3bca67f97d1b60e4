import { describe, expect, test } from 'vitest';
import { Reduce } from '../../src/nn/reduce';
import { RmsNorm } from '../../src/nn/rmsnorm';
import { testGpu } from '../gpu';
import { expectClose, normals } from '../numbers';
import { rmsNorm, rmsNormBackward } from '../reference/rmsnorm';
import { runKernel } from './run-kernel';
import { dot, slopes } from './slopes';

const eps = 1e-5;

function data(t: number, d: number) {
  const x = normals(t + d, t * d, 2);
  // A row of zeros and a tiny one: eps decides.
  if (t > 2) {
    x.fill(0, 0, d);
    for (let i = d; i < 2 * d; i++) x[i] *= 1e-3;
  }
  return {
    x,
    weight: normals(t + d + 1, d).map((w) => 1 + 0.3 * w),
    dy: normals(t + d + 2, t * d),
    y: new Float32Array(t * d),
    scale: new Float32Array(t),
    dx: normals(t + d + 3, t * d),
    dweight: normals(t + d + 4, d),
  };
}

async function run(t: number, d: number, frozen = false) {
  const gpu = await testGpu();
  const norm = new RmsNorm(gpu, new Reduce(gpu), eps);
  return runKernel(gpu, data(t, d), (rec, b) => {
    norm.forward(rec, b.x, b.weight, b.y, b.scale, t, d);
    norm.backward(rec, b.x, b.weight, b.dy, b.scale, b.dx, frozen ? null : b.dweight, t, d);
  });
}

describe.each([
  [1, 4],
  [5, 16],
  [64, 32],
  [65, 132],
  [200, 128],
])('%i rows of width %i', (t, d) => {
  test('forward equals the reference', async () => {
    const { x, weight } = data(t, d);
    const want = rmsNorm(x, weight, t, d, eps);
    const got = await run(t, d);
    expectClose(got.y, want.y);
    expectClose(got.scale, want.scale);
  });

  test('gradients are added and equal the reference', async () => {
    const before = data(t, d);
    const want = rmsNormBackward(before.x, before.weight, before.dy, t, d, eps);
    const got = await run(t, d);
    for (let row = 0; row < t; row++) {
      // The two terms of dx may nearly cancel; they are as large as the row's scale.
      const part = (x: ArrayLike<number>) => Array.from(x).slice(row * d, (row + 1) * d);
      const sums = part(want.dx).map((x, i) => x + before.dx[row * d + i]);
      expectClose(part(got.dx), sums, Math.max(1, 3 * got.scale[row]));
    }
    expectClose(
      got.dweight,
      want.dweight.map((x, i) => x + before.dweight[i]),
      Math.sqrt(t) * 2,
    );
  });

  test('a frozen weight keeps its gradient', async () => {
    const got = await run(t, d, true);
    expect(got.dweight).toEqual(data(t, d).dweight);
    expect(got.dx).toEqual((await run(t, d)).dx);
  });
});

test('the reference gradient is the slope of the reference', () => {
  const [t, d] = [3, 12];
  const { x, weight, dy } = { ...data(t, d), x: normals(1, t * d, 2) };
  const { dx, dweight } = rmsNormBackward(x, weight, dy, t, d, eps);
  const byX = slopes((v) => dot(rmsNorm(v, weight, t, d, eps).y, dy), x);
  const byWeight = slopes((v) => dot(rmsNorm(x, v, t, d, eps).y, dy), weight);
  expectClose(dx, byX, 1, 1e-7);
  expectClose(dweight, byWeight, 1, 1e-7);
});
