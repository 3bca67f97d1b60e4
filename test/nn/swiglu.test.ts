import { describe, test } from 'vitest';
import { SwiGlu } from '../../src/nn/swiglu';
import { testGpu } from '../gpu';
import { expectClose, normals } from '../numbers';
import { swiglu, swigluBackward } from '../reference/swiglu';
import { runKernel } from './run-kernel';
import { dot, slopes } from './slopes';

async function run(gu: Float32Array, dy: Float32Array, t: number, f: number) {
  const gpu = await testGpu();
  const kernel = new SwiGlu(gpu);
  const all = { gu, dy, y: new Float32Array(t * f), dgu: new Float32Array(t * f * 2) };
  return runKernel(gpu, all, (rec, b) => {
    kernel.forward(rec, b.gu, b.y, t, f);
    kernel.backward(rec, b.gu, b.dy, b.dgu, t, f);
  });
}

describe.each([
  [1, 4],
  [7, 28],
  [33, 256],
  [3, 260],
])('%i rows of %i', (t, f) => {
  test('forward and backward equal the reference', async () => {
    const [gu, dy] = [normals(t + f, t * 2 * f, 3), normals(t * f, t * f)];
    const got = await run(gu, dy, t, f);
    expectClose(got.y, swiglu(gu, t, f));
    expectClose(got.dgu, swigluBackward(gu, dy, t, f), 0.1);
  });
});

test('the reference gradient is the slope of the reference', () => {
  const [gu, dy] = [normals(1, 3 * 16, 3), normals(2, 3 * 8)];
  const slope = slopes((v) => dot(swiglu(v, 3, 8), dy), gu);
  expectClose(swigluBackward(gu, dy, 3, 8), slope, 1, 1e-7);
});

test('large gates neither overflow nor lose their gradient', async () => {
  const gates = [-200, -90, -30, 0, 30, 90, 200, 1e4];
  const gu = Float32Array.from([...gates, ...gates.map(() => 2)]);
  const { y, dgu } = await run(gu, new Float32Array(8).fill(1), 1, 8);
  const silu = [0, 0, 0, 0, 30, 90, 200, 1e4];
  expectClose(
    y,
    silu.map((x) => 2 * x),
    1,
  );
  expectClose(dgu, [0, 0, 0, 1, 2, 2, 2, 2, ...silu], 1);
});
