import { describe, expect, test } from 'vitest';
import type { RopeScaling } from '../../src/nn/config';
import { Rope, rotaryFrequencies } from '../../src/nn/rope';
import { testGpu } from '../gpu';
import { expectClose, normals } from '../numbers';
import { rope as reference, stretched } from '../reference/rope';
import { runKernel } from './run-kernel';
import { dot, slopes } from './slopes';

interface Shape {
  heads: number;
  /** Heads that do not turn: the values. */
  rest: number;
  headDim: number;
  theta: number;
  /** Beyond 1024 the kernel reads a table. */
  context?: number;
  scaling?: RopeScaling;
}

const llama3 = { factor: 32, lowFreqFactor: 1, highFreqFactor: 4, originalContextLength: 512 };

const positions = [0, 1, 2, 0, 5, 17, 63, 511, 2047];

function data({ heads, rest, headDim }: Shape) {
  const rows = Uint32Array.from(positions.flatMap((position, i) => [1000 + i, position]));
  return { rows, x: normals(headDim + heads, positions.length * (heads + rest) * headDim) };
}

async function run(shape: Shape, directions: readonly (1 | -1)[]) {
  const gpu = await testGpu();
  const { heads, rest, headDim, theta } = shape;
  const kernel = new Rope(gpu, {
    ropeTheta: theta,
    headDim,
    contextLength: shape.context ?? 1024,
    ropeScaling: shape.scaling,
  });
  const width = (heads + rest) * headDim;
  const { x } = await runKernel(gpu, data(shape), (rec, { rows, x }) => {
    for (const direction of directions) kernel.record(rec, rows, x, positions.length, heads, headDim, width, direction);
  });
  return x;
}

describe.each<Shape>([
  { heads: 1, rest: 0, headDim: 8, theta: 10_000 },
  { heads: 6, rest: 2, headDim: 16, theta: 10_000 },
  { heads: 5, rest: 1, headDim: 32, theta: 500_000 },
  { heads: 3, rest: 3, headDim: 64, theta: 100 },
  { heads: 3, rest: 1, headDim: 64, theta: 10_000, context: 2048 },
  { heads: 2, rest: 1, headDim: 64, theta: 500_000, context: 2048, scaling: llama3 },
])('$heads heads of $headDim, theta $theta, context $context', (shape) => {
  const full = { ...shape, width: (shape.heads + shape.rest) * shape.headDim };

  test.each([1, -1] as const)('direction %i equals the reference', async (direction) => {
    const got = await run(shape, [direction]);
    const want = reference(data(shape).x, positions, full, direction);
    // An angle of 2047 radians is known in f32 to 1e-4.
    const near = positions.findIndex((position) => position > 64) * full.width;
    expectClose(got.slice(0, near), want.slice(0, near), 1, 2e-5);
    expectClose(got, want, 1, shape.context ? 2e-6 : 1e-3);
  });

  test('turned there and back is where it was; the values stay to the bit', async () => {
    const { x } = data(shape);
    expectClose(await run(shape, [1, -1]), x, 1);
    const turned = await run(shape, [1]);
    for (let row = 0; row < positions.length; row++) {
      const values = [(row + 1) * full.width - shape.rest * shape.headDim, (row + 1) * full.width];
      expect(turned.slice(...values)).toEqual(x.slice(...values));
    }
    expect(turned.slice(0, full.width)).toEqual(x.slice(0, full.width)); // position 0 does not turn
  });

  test('the way back is the gradient', () => {
    const { x } = data(shape);
    const dy = normals(9, x.length);
    const entries = [0, 3, full.width + 1, 4 * full.width + 2, x.length - 1];
    const slope = slopes((v) => dot(reference(v, positions, full), dy), x, entries);
    const back = reference(dy, positions, full, -1);
    expectClose(
      entries.map((i) => back[i]),
      slope,
      1,
      1e-7,
    );
  });
});

test('scores depend on the distance of two tokens only', async () => {
  const gpu = await testGpu();
  const headDim = 16;
  const kernel = new Rope(gpu, { ropeTheta: 10_000, headDim, contextLength: 1024 });
  const [q, k] = [normals(1, headDim), normals(2, headDim)];
  const score = async (queryPosition: number, keyPosition: number) => {
    const all = { rows: Uint32Array.of(0, queryPosition, 0, keyPosition), x: Float32Array.of(...q, ...k) };
    const { x } = await runKernel(gpu, all, (rec, { rows, x }) =>
      kernel.record(rec, rows, x, 2, 1, headDim, headDim, 1),
    );
    return dot(x.subarray(0, headDim), x.subarray(headDim));
  };
  const want = await score(7, 0);
  for (const shift of [1, 13, 200]) expect(Math.abs((await score(7 + shift, shift)) - want)).toBeLessThan(1e-4);
  expect(Math.abs((await score(8, 0)) - want)).toBeGreaterThan(1e-2);
});

test('Llama 3 stretches the slow pairs, keeps the fast ones and blends between', () => {
  const config = { ropeTheta: 500_000, headDim: 128, contextLength: 4096 };
  const plain = rotaryFrequencies(config);
  const scaling = { factor: 32, lowFreqFactor: 1, highFreqFactor: 4, originalContextLength: 8192 };
  const got = rotaryFrequencies({ ...config, ropeScaling: scaling });
  expectClose(
    got,
    plain.map((frequency) => stretched(frequency, scaling)),
    1,
    1e-15,
  );
  expect(got[0]).toBe(plain[0]);
  expect(got[63]).toBe(plain[63] / 32);
  expect(got.filter((frequency, i) => frequency !== plain[i] && frequency !== plain[i] / 32).length).toBeGreaterThan(2);
});
