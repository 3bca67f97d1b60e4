import { describe, expect, test } from 'vitest';
import type { Gpu } from '../../src/gpu/device';
import { Matmul, type MatmulVariant } from '../../src/nn/matmul';
import { testGpu } from '../gpu';
import { expectClose, normals } from '../numbers';
import { matmul, matmulTn, transpose } from '../reference/matmul';
import { runKernel } from './run-kernel';

interface Product {
  layout: 'nn' | 'tn';
  m: number;
  k: number;
  n: number;
  add?: boolean;
  alpha?: number;
}

function data({ m, k, n }: Product) {
  const seed = m * 10_000 + k * 100 + n;
  return { a: normals(seed, m * k), b: normals(seed + 1, k * n), y: normals(seed + 2, m * n) };
}

async function run(gpu: Gpu, variant: MatmulVariant, product: Product) {
  const { layout, m, k, n, add = false, alpha = 1 } = product;
  const kernels = new Matmul(gpu);
  kernels.variant = variant;
  const { y } = await runKernel(gpu, data(product), (rec, { a, b, y }) => {
    kernels[layout](rec, a, b, y, m, k, n, add, alpha);
  });
  return y;
}

function expected(product: Product): Float64Array {
  const { layout, m, k, n, add = false, alpha = 1 } = product;
  const { a, b, y } = data(product);
  return (layout === 'nn' ? matmul : matmulTn)(a, b, m, k, n).map((x, i) => alpha * x + (add ? y[i] : 0));
}

const products: Product[] = [
  // One row (a stream decoding alone), rows that fill no workgroup, exactly one, one more.
  ...[1, 3, 8, 9, 37].map((m): Product => ({ layout: 'nn', m, k: 24, n: 20 })),
  // Columns that fill no workgroup, exactly one, one vec4 more.
  ...[4, 64, 68, 132].map((n): Product => ({ layout: 'nn', m: 11, k: 16, n })),
  ...[4, 8, 300].map((k): Product => ({ layout: 'nn', m: 10, k, n: 12 })),
  { layout: 'nn', m: 13, k: 32, n: 40, add: true },
  { layout: 'nn', m: 13, k: 32, n: 40, alpha: -0.75 },
  { layout: 'nn', m: 13, k: 32, n: 40, add: true, alpha: 1.7 },
  { layout: 'nn', m: 65, k: 64, n: 192 },
  // k counts tokens: any number.
  ...[1, 2, 3, 4, 5, 7, 31, 301].map((k): Product => ({ layout: 'tn', m: 12, k, n: 20 })),
  ...[4, 8, 36].map((m): Product => ({ layout: 'tn', m, k: 9, n: 68 })),
  { layout: 'tn', m: 20, k: 13, n: 8, add: true },
  { layout: 'tn', m: 20, k: 13, n: 8, alpha: 0.3 },
  { layout: 'tn', m: 20, k: 13, n: 8, add: true, alpha: -2 },
  { layout: 'tn', m: 192, k: 67, n: 64 },
];

const name = ({ layout, m, k, n, add, alpha }: Product) =>
  `${layout} ${m} x ${k} x ${n}${add ? ', added' : ''}${alpha ? `, times ${alpha}` : ''}`;

describe.each(products.map((product) => [name(product), product] as const))('%s', (_, product) => {
  test('equals the reference', async () => {
    const got = await run(await testGpu(), 'plain', product);
    // k terms of size 1: known to 1e-5 of the root of their number.
    expectClose(got, expected(product), Math.sqrt(product.k) * 2);
  });

  test('the variant with subgroups gives the same bits', async () => {
    const gpu = await testGpu();
    expect(await run(gpu, 'subgroup', product)).toEqual(await run(gpu, 'plain', product));
  });
});

test('every row is computed alike, whatever the number of rows', async () => {
  const gpu = await testGpu();
  const [k, n] = [64, 24];
  const kernels = new Matmul(gpu);
  const [a, b] = [normals(1, 33 * k), normals(2, k * n)];
  const product = async (m: number) => {
    const all = { a: a.slice(0, m * k), b, y: new Float32Array(m * n) };
    return (await runKernel(gpu, all, (rec, { a, b, y }) => kernels.nn(rec, a, b, y, m, k, n))).y;
  };
  const whole = await product(33);
  for (const m of [1, 2, 8, 17]) expect(await product(m)).toEqual(whole.slice(0, m * n));
});

test('a part of a buffer can stand for a matrix', async () => {
  const gpu = await testGpu();
  const [m, k, n] = [24, 16, 64];
  const kernels = new Matmul(gpu);
  const all = { a: normals(3, m * k), b: normals(4, k * n), y: new Float32Array(m * n) };
  const { y } = await runKernel(gpu, all, (rec, { a, b, y }) => {
    kernels.nn(rec, a, b, y, 16, k, n);
    kernels.nn(rec, [a, 16 * k * 4, 8 * k * 4], b, [y, 16 * n * 4, 8 * n * 4], 8, k, n);
  });
  expectClose(y, matmul(all.a, all.b, m, k, n), 4);
});

test.each(['plain', 'subgroup'] as const)('ranges of columns can stand for matrices (%s)', async (variant) => {
  const gpu = await testGpu();
  const [m, k, n, aRow, yRow] = [13, 16, 68, 80, 140];
  const kernels = new Matmul(gpu);
  kernels.variant = variant;
  const all = { a: normals(6, m * aRow), b: normals(7, k * n), y: normals(8, m * yRow) };
  const from = 64; // the first column of either range
  const { y } = await runKernel(gpu, all, (rec, { a, b, y }) => {
    const range = (x: typeof a, row: number) => [x, from * 4, (m * row - from) * 4] as const;
    kernels.nn(rec, range(a, aRow), b, range(y, yRow), m, k, n, true, 1, { aRow, yRow });
  });
  const columns = (x: Float32Array, row: number, count: number) =>
    Float32Array.from({ length: m * count }, (_, i) => x[Math.floor(i / count) * row + from + (i % count)]);
  const product = matmul(columns(all.a, aRow, k), all.b, m, k, n);
  const expected = Float64Array.from(all.y);
  for (let i = 0; i < m * n; i++) expected[Math.floor(i / n) * yRow + from + (i % n)] += product[i];
  expectClose(y, expected, 8);
});

test.each([
  [1, 4],
  [4, 1],
  [63, 65],
  [64, 128],
  [130, 20],
])('transpose %i x %i', async (m, n) => {
  const gpu = await testGpu();
  const kernels = new Matmul(gpu);
  const all = { x: normals(5, m * n), y: new Float32Array(m * n) };
  const { y } = await runKernel(gpu, all, (rec, { x, y }) => kernels.transpose(rec, x, y, m, n));
  expect([...y]).toEqual([...transpose(all.x, m, n)]);
});

test('tuning picks a variant by time and leaves nothing behind', async () => {
  const gpu = await testGpu();
  const kernels = new Matmul(gpu);
  await gpu.ready();
  const inUse = gpu.memory.bytesInUse;
  const { variant, milliseconds } = await kernels.tune();
  expect(kernels.variant).toBe(variant);
  expect(gpu.memory.bytesInUse).toBe(inUse);
  if (kernels.hasSubgroupVariant) {
    const faster = milliseconds.subgroup < milliseconds.plain ? 'subgroup' : 'plain';
    expect(variant).toBe(faster);
  } else expect(variant).toBe('plain');
});
