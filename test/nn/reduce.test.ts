import { describe, expect, test } from 'vitest';
import { Reduce } from '../../src/nn/reduce';
import { testGpu } from '../gpu';
import { expectClose, normals } from '../numbers';
import { sumRows, sumSquares } from '../reference/reduce';
import { runKernel } from './run-kernel';

describe.each([
  [1, 1],
  [1, 64],
  [3, 65],
  [40, 7],
  [200, 300],
])('%i rows of %i', (rows, n) => {
  test('column sums are added and equal the reference', async () => {
    const gpu = await testGpu();
    const reduce = new Reduce(gpu);
    const data = { x: normals(rows + n, rows * n), y: normals(n, n) };
    const { y } = await runKernel(gpu, data, (rec, { x, y }) => reduce.sumRows(rec, x, y, rows, n));
    const want = sumRows(data.x, rows, n).map((sum, i) => sum + data.y[i]);
    expectClose(y, want, Math.sqrt(rows));
  });
});

describe.each([1, 63, 64, 65, 1000, 16_384, 16_385, 100_003])('%i numbers', (n) => {
  test('the sum of squares is added, equals the reference, and is the same to the bit twice', async () => {
    const gpu = await testGpu();
    const reduce = new Reduce(gpu);
    const data = { x: normals(n, n), y: Float32Array.of(0.5) };
    const run = () => runKernel(gpu, data, (rec, { x, y }) => reduce.sumSquares(rec, x, y, n));
    const { y } = await run();
    expectClose(y, [0.5 + sumSquares(data.x)]);
    expect((await run()).y).toEqual(y);
  });
});

test('what is not finite shows', async () => {
  const gpu = await testGpu();
  const reduce = new Reduce(gpu);
  for (const [bad, shown] of [
    [Number.NaN, Number.NaN],
    [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
    [1e30, Number.POSITIVE_INFINITY],
  ]) {
    const x = normals(1, 500);
    x[321] = bad;
    const { y } = await runKernel(gpu, { x, y: new Float32Array(1) }, (rec, b) =>
      reduce.sumSquares(rec, b.x, b.y, 500),
    );
    expect(y[0]).toBe(shown);
  }
});
