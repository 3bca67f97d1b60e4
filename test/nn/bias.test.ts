import { expect, test } from 'vitest';
import { Bias } from '../../src/nn/bias';
import { testGpu } from '../gpu';
import { expectClose, normals } from '../numbers';
import { addBias } from '../reference/bias';
import { runKernel } from './run-kernel';
import { dot, slopes } from './slopes';

test.each([
  [1, 4],
  [7, 132],
  [33, 256],
])('every one of %i rows of %i gets the bias', async (t, d) => {
  const data = { bias: normals(1, d), y: normals(2, t * d) };
  const gpu = await testGpu();
  const kernel = new Bias(gpu);
  const got = await runKernel(gpu, data, (rec, { bias, y }) => kernel.record(rec, bias, y, t, d));
  expectClose(got.y, addBias(data.bias, data.y), 1);
  expect(got.bias).toEqual(data.bias);
});

test('the gradient of y passes through: the slope of the reference is 1', () => {
  const y = normals(3, 12);
  const dy = normals(4, 12);
  const got = slopes((x) => dot(addBias(normals(1, 4), x), dy), y);
  expectClose(got, dy, 1, 1e-7);
});
