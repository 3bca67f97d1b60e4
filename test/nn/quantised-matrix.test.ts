import { expect, test } from 'vitest';
import type { ScaleForm } from '../../src/models/weights';
import { type QuantisedForm, QuantisedMatrix } from '../../src/nn/quantised-matrix';
import { testGpu } from '../gpu';
import { randomRows, sliceRows } from '../reference/quantised-matrix';

test.each<[QuantisedForm, ScaleForm]>([
  ['q4', 'half'],
  ['q8', 'single'],
])('rows written in any pieces lie where they belong (%s, %s)', async (form, scales) => {
  const gpu = await testGpu();
  const [rows, columns] = [200, 64];
  const given = randomRows(1, rows, columns, form, scales);
  const matrix = new QuantisedMatrix(
    gpu,
    'test',
    rows,
    columns,
    form,
    scales,
    64 * (columns / 32) * (form === 'q4' ? 16 : 32),
  );
  expect(matrix.slabs.map(({ first, count }) => [first, count])).toEqual([
    [0, 64],
    [64, 64],
    [128, 64],
    [192, 8],
  ]);
  // Within a slab, over a border, over two borders, and out of order.
  for (const [first, count] of [
    [170, 30],
    [0, 10],
    [10, 60],
    [70, 100],
  ]) {
    matrix.write(first, sliceRows(given, columns, first, count));
  }
  const codes: number[] = [];
  const words: number[] = [];
  for (const slab of matrix.slabs) {
    codes.push(...(await gpu.readU32(slab.codes)));
    words.push(...(await gpu.readU32(slab.scales)));
  }
  expect(codes).toEqual([...given.codes]);
  expect(words).toEqual([...given.scales]);
  matrix.dispose();
});

test('bytes are counted, given back, and known before', async () => {
  const gpu = await testGpu();
  const before = gpu.memory.bytesInUse;
  // 5 bits a weight with half scales, 6 with single ones.
  expect(QuantisedMatrix.bytesFor(100, 3200, 'q4', 'half')).toBe((100 * 3200 * 5) / 8);
  expect(QuantisedMatrix.bytesFor(100, 3200, 'q4', 'single')).toBe((100 * 3200 * 6) / 8);
  expect(QuantisedMatrix.bytesFor(100, 3200, 'q8', 'half')).toBe((100 * 3200 * 9) / 8);
  expect(QuantisedMatrix.bytesFor(100, 3200, 'q8', 'single')).toBe((100 * 3200 * 10) / 8);
  const matrix = new QuantisedMatrix(gpu, 'test', 100, 3200, 'q4', 'half');
  expect(matrix.bytes).toBe(gpu.memory.bytesInUse - before);
  expect(matrix.bytes).toBeGreaterThanOrEqual(200_000);
  expect(matrix.bytes).toBeLessThan(200_000 * 1.07);
  matrix.dispose();
  expect(gpu.memory.bytesInUse).toBe(before);
});

test('no buffer exceeds the limit', async () => {
  const gpu = await testGpu();
  const matrix = new QuantisedMatrix(gpu, 'test', 1000, 320, 'q8', 'half', 100_000);
  for (const { codes, scales } of matrix.slabs) {
    expect(codes.bytes).toBeLessThanOrEqual(100_000);
    expect(scales.bytes).toBeLessThanOrEqual(100_000);
  }
  expect(matrix.slabs.reduce((total, { count }) => total + count, 0)).toBe(1000);
  matrix.dispose();
});

test('shapes and rows that do not fit are refused', async () => {
  const gpu = await testGpu();
  const make = (rows: number, columns: number, limit?: number) => () =>
    new QuantisedMatrix(gpu, 'test', rows, columns, 'q4', 'half', limit);
  expect(make(4, 33)).toThrowError(expect.objectContaining({ code: 'bad-weights' }));
  expect(make(6, 32)).toThrowError(expect.objectContaining({ code: 'bad-weights' }));
  expect(make(0, 32)).toThrowError(expect.objectContaining({ code: 'bad-weights' }));
  expect(make(128, 64, 1000)).toThrowError(expect.objectContaining({ code: 'gpu-buffer-too-large' }));
  const matrix = make(8, 64)();
  const rows = randomRows(2, 8, 64, 'q4', 'half');
  const refused = expect.objectContaining({ code: 'bad-weights' });
  expect(() => matrix.write(1, rows)).toThrowError(refused);
  expect(() => matrix.write(-1, rows)).toThrowError(refused);
  expect(() => matrix.write(0, randomRows(2, 8, 64, 'q8', 'half'))).toThrowError(refused);
  expect(() => matrix.write(0, randomRows(2, 8, 64, 'q4', 'single'))).toThrowError(refused);
  expect(() => matrix.write(0, { form: 'f32', values: new Float32Array(512) })).toThrowError(refused);
  matrix.dispose();
});
