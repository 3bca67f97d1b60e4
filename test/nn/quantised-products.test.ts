import { describe, expect, test } from 'vitest';
import type { GpuBuffer } from '../../src/gpu/buffers';
import type { Gpu } from '../../src/gpu/device';
import type { Recorder } from '../../src/gpu/recorder';
import type { ScaleForm } from '../../src/models/weights';
import { Matmul } from '../../src/nn/matmul';
import { QuantisedLinear } from '../../src/nn/quantised-linear';
import { type QuantisedForm, QuantisedMatrix } from '../../src/nn/quantised-matrix';
import { QuantisedProducts } from '../../src/nn/quantised-products';
import { testGpu } from '../gpu';
import { expectClose, normals } from '../numbers';
import { linear, linearBackward } from '../reference/matmul';
import { dequantise, randomRows } from '../reference/quantised-matrix';
import { runKernel } from './run-kernel';
import { dot, sampleEntries, slopes } from './slopes';

const forms: [QuantisedForm, ScaleForm][] = [
  ['q4', 'half'],
  ['q4', 'single'],
  ['q8', 'half'],
  ['q8', 'single'],
];

interface Shape {
  rows: number;
  columns: number;
  m: number;
  /** Rows that fit one buffer: several slabs where there are more. */
  slabRows?: number;
  add?: boolean;
  alpha?: number;
}

/** A written matrix and its weights in double precision. */
function matrixOf(gpu: Gpu, form: QuantisedForm, scales: ScaleForm, { rows, columns, slabRows = rows }: Shape) {
  const given = randomRows(rows * 1000 + columns, rows, columns, form, scales);
  const rowBytes = (columns / 32) * (form === 'q4' ? 16 : 32);
  const matrix = new QuantisedMatrix(gpu, 'test', rows, columns, form, scales, slabRows * rowBytes);
  matrix.write(0, given);
  return { matrix, weights: dequantise(given, scales) };
}

/** Every way to the same product. */
const ways = [
  { variant: 'plain', fusedRows: 1000 },
  { variant: 'subgroup', fusedRows: 1000 },
  { variant: 'plain', fusedRows: 0 },
] as const;
type Way = (typeof ways)[number];

function setup(gpu: Gpu, form: QuantisedForm, scales: ScaleForm, shape: Shape, way: Way = ways[0]) {
  const { matrix, weights } = matrixOf(gpu, form, scales, shape);
  // A scratch buffer of a few rows: large products come in several pieces.
  const products = new QuantisedProducts(gpu, new Matmul(gpu), 64 * shape.columns * 4);
  Object.assign(products, way);
  products.prepare(matrix);
  const dispose = () => {
    matrix.dispose();
    products.dispose();
  };
  return { matrix, weights, products, dispose };
}

type Direction = 'forward' | 'backward';

async function product(gpu: Gpu, direction: Direction, form: QuantisedForm, scales: ScaleForm, shape: Shape, way: Way) {
  const { rows, columns, m, add = false, alpha = 1 } = shape;
  const { matrix, weights, products, dispose } = setup(gpu, form, scales, shape, way);
  const [inputs, outputs] = direction === 'forward' ? [columns, rows] : [rows, columns];
  const data = { x: normals(m + 1, m * inputs), y: normals(m + 2, m * outputs) };
  const { y } = await runKernel(gpu, data, (rec, { x, y }) => products[direction](rec, matrix, x, y, m, add, alpha));
  dispose();
  const plain =
    direction === 'forward'
      ? linear(data.x, weights, m, columns, rows)
      : linearBackward(new Float64Array(m * columns), weights, data.x, m, columns, rows).dx;
  return { got: y, expected: plain.map((value, i) => alpha * value + (add ? data.y[i] : 0)), terms: inputs };
}

const shapes: Shape[] = [
  // One row, each tile, tiles not full, more than one tile.
  ...[1, 3, 4, 7, 8, 13, 16].map((m): Shape => ({ rows: 36, columns: 96, m })),
  { rows: 40, columns: 32, m: 21 },
  // Rows and columns that fill no workgroup, one, one and a bit.
  { rows: 4, columns: 32, m: 2 },
  { rows: 32, columns: 128, m: 2 },
  { rows: 68, columns: 160, m: 5 },
  // Slabs.
  { rows: 200, columns: 64, m: 3, slabRows: 64 },
  { rows: 260, columns: 64, m: 9, slabRows: 130 },
  { rows: 36, columns: 64, m: 3, add: true },
  { rows: 36, columns: 64, m: 3, alpha: -0.75 },
  { rows: 200, columns: 64, m: 6, slabRows: 64, add: true, alpha: 1.7 },
  { rows: 300, columns: 160, m: 20, slabRows: 128, add: true, alpha: 0.3 },
];

const name = ({ rows, columns, m, slabRows, add, alpha }: Shape) =>
  `${m} x ${columns} by ${rows}${slabRows ? `, slabs of ${slabRows}` : ''}${add ? ', added' : ''}${alpha ? `, times ${alpha}` : ''}`;

describe.each(forms)('%s, scales %s', (form, scales) => {
  // Code width and scales are read independently: every shape for two forms, some for the other two, is quicker to compile.
  const all = (form === 'q4') === (scales === 'half');
  const chosen = all ? shapes : shapes.filter(({ m }) => m === 3);
  test.each(chosen.map((shape) => [name(shape), shape] as const))('%s: equals the reference', async (_, shape) => {
    const gpu = await testGpu();
    for (const direction of ['forward', 'backward'] as const) {
      const results: Float32Array[] = [];
      for (const way of ways) {
        const { got, expected, terms } = await product(gpu, direction, form, scales, shape, way);
        expectClose(got, expected, Math.sqrt(terms) * 2);
        results.push(got);
      }
      // Whatever a device picks, the bits are the same.
      expect(results[1]).toEqual(results[0]);
      expect(results[2]).toEqual(results[0]);
    }
  });

  test('embeddings are gathered from every slab', async () => {
    const gpu = await testGpu();
    const shape = { rows: 200, columns: 96, m: 0, slabRows: 64 };
    const { matrix, weights, products, dispose } = setup(gpu, form, scales, shape);
    const tokens = Uint32Array.from([0, 199, 64, 63, 128, 7, 7, 191, 192]);
    const data = { tokens, y: new Float32Array(tokens.length * shape.columns) };
    const { y } = await runKernel(gpu, data, (rec, { tokens, y }) =>
      products.gather(rec, matrix, tokens, y, data.tokens.length),
    );
    dispose();
    const expected = [...tokens].flatMap((token) => [
      ...weights.slice(token * shape.columns, (token + 1) * shape.columns),
    ]);
    // A product and a sum: two roundings where the driver does not fuse them.
    expectClose(y, expected, 1, 2e-7);
  });
});

test('every row of x is computed alike, whatever the number of rows', async () => {
  const gpu = await testGpu();
  const run = async (m: number) => {
    const shape = { rows: 136, columns: 224, m, slabRows: 64 };
    const { matrix, products, dispose } = setup(gpu, 'q4', 'half', shape, ways[1]);
    const x = normals(5, 33 * 224).slice(0, m * 224);
    const dy = normals(6, 33 * 136).slice(0, m * 136);
    const data = { x, y: new Float32Array(m * 136), dy, dx: new Float32Array(m * 224) };
    const result = await runKernel(gpu, data, (rec, { x, y, dy, dx }) => {
      products.forward(rec, matrix, x, y, m);
      products.backward(rec, matrix, dy, dx, m);
    });
    dispose();
    return result;
  };
  const whole = await run(33);
  for (const m of [1, 3, 8]) {
    const part = await run(m);
    expect(part.y).toEqual(whole.y.slice(0, m * 136));
    expect(part.dx).toEqual(whole.dx.slice(0, m * 224));
  }
});

test.each([3, 20])('backward of %i rows is the slope of forward', async (m) => {
  const gpu = await testGpu();
  const shape: Shape = { rows: 72, columns: 64, m, slabRows: 64 };
  const { got } = await product(gpu, 'backward', 'q4', 'half', shape, ways[m % 2]);
  const { weights, dispose } = setup(gpu, 'q4', 'half', shape);
  dispose();
  const dy = normals(m + 1, m * shape.rows); // as in `product`
  const x = normals(77, m * shape.columns);
  const entries = sampleEntries(3, x.length, 40);
  const loss = (at: ArrayLike<number>) => dot(linear(at, weights, m, shape.columns, shape.rows), dy);
  expectClose(
    entries.map((i) => got[i]),
    slopes(loss, x, entries),
    Math.sqrt(shape.rows) * 2,
  );
});

test('the same product twice gives the same bits', async () => {
  const gpu = await testGpu();
  for (const direction of ['forward', 'backward'] as const) {
    const run = () => product(gpu, direction, 'q8', 'single', { rows: 132, columns: 96, m: 21 }, ways[1]);
    expect((await run()).got).toEqual((await run()).got);
  }
});

test('a long product is sent in bounded pieces and stays the same', async () => {
  const gpu = await testGpu();
  const shape: Shape = { rows: 300, columns: 64, m: 20 };
  const { got } = await product(gpu, 'forward', 'q4', 'half', shape, ways[1]);
  const usual = gpu.workPerSubmit;
  gpu.workPerSubmit = 2 * 20 * 64 * 100; // a third of the matrix
  const { got: cut } = await product(gpu, 'forward', 'q4', 'half', shape, ways[1]);
  gpu.workPerSubmit = usual;
  expect(cut).toEqual(got);
});

test('tuning chooses by time and leaves nothing behind', async () => {
  const gpu = await testGpu();
  const { products, dispose } = setup(gpu, 'q4', 'single', { rows: 64, columns: 64, m: 1 });
  await gpu.ready();
  const inUse = gpu.memory.bytesInUse;
  const milliseconds = await products.choose();
  const faster = (milliseconds['4 rows, subgroup'] ?? Infinity) < milliseconds['4 rows, plain'];
  expect(products.variant).toBe(faster ? 'subgroup' : 'plain');
  const fused = milliseconds['64 rows, fused'] < milliseconds['64 rows, unpacked'];
  expect(products.fusedRows).toBe(fused ? Infinity : 16);
  products.dispose(); // the scratch buffer stays until then
  expect(gpu.memory.bytesInUse).toBe(inUse);
  dispose();
});

test('a quantised layer is a projection', async () => {
  const gpu = await testGpu();
  const shape: Shape = { rows: 68, columns: 96, m: 6 };
  const { matrix, weights, products, dispose } = setup(gpu, 'q4', 'half', shape);
  const layer = new QuantisedLinear(products, matrix);
  expect([layer.inputs, layer.outputs]).toEqual([96, 68]);
  const data = {
    x: normals(1, 6 * 96),
    y: normals(2, 6 * 68),
    dy: normals(3, 6 * 68),
    dx: normals(4, 6 * 96),
  };
  const record = (rec: Recorder, { x, y, dy, dx }: Record<keyof typeof data, GpuBuffer>) => {
    layer.forward(rec, x, y, 6, true);
    layer.backward(rec, x, dy, dx, 6, true);
  };
  const result = await runKernel(gpu, data, record);
  dispose();
  const y = linear(data.x, weights, 6, 96, 68).map((value, i) => value + data.y[i]);
  const { dx } = linearBackward(data.x, weights, data.dy, 6, 96, 68);
  expectClose(result.y, y, 20);
  expectClose(
    result.dx,
    dx.map((value, i) => value + data.dx[i]),
    17,
  );
});
