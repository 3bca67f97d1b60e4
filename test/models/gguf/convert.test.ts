import { describe, expect, it } from 'vitest';
import { convertRows } from '../../../src/models/gguf/convert';
import { storedTypes } from '../../../src/models/gguf/stored-types';
import { dequantiseRows } from '../../../src/models/quantise';
import type { Rows } from '../../../src/models/weights';
import { dequantise, randomWeights, types } from './reference';

const columns = 512;
const typeOf = (name: string) => [...storedTypes.values()].find((type) => type.name === name)!;
/** ggml has -0 where the two-term form gives 0. */
const plain = (values: Float32Array) => values.map((value) => value + 0);
const floatsOf = (rows: Rows) => plain(dequantiseRows(rows, columns));

describe.each(Object.keys(types))('%s', (name) => {
  const type = typeOf(name);
  const bytes = randomWeights(name, 3 * columns, 7);
  const expected = plain(dequantise(name, bytes));
  const convert = (form: Rows['form'], scales: 'half' | 'single') =>
    convertRows(bytes, type, columns, form, scales, name);

  it('becomes the same f32 as by the reference, bit for bit', () => {
    const rows = convert('f32', 'single');
    expect(rows.form).toBe('f32');
    expect(floatsOf(rows)).toEqual(expected);
  });

  it('keeps its values in the form it names', () => {
    const rows = convert(type.form, type.scales);
    if (rows.form !== 'f32') expect(rows.scales.length).toBe(((3 * columns) / 32) * (type.scales === 'half' ? 1 : 2));
    if (name !== 'Q6_K') return expect(floatsOf(rows)).toEqual(expected);
    // Sub-scales over 16 weights: rounded to half of a 255th of the block's range.
    expect(worstPerRange(floatsOf(rows), expected)).toBeLessThanOrEqual(1 / 509);
  });

  it('becomes wider forms without loss, narrower ones by rounding', () => {
    for (const form of ['q4', 'q8'] as const) {
      for (const scales of ['half', 'single'] as const) {
        const rows = convert(form, scales);
        const holds =
          name !== 'Q6_K' &&
          type.form !== 'f32' &&
          (form === 'q8' || type.form === 'q4') &&
          (scales === 'single' || type.scales === 'half');
        if (holds) expect(floatsOf(rows)).toEqual(expected);
        // Half a step, and what rounding minimum and scale to f16 adds.
        else expect(worstPerRange(floatsOf(rows), expected)).toBeLessThan(form === 'q4' ? 1 / 29 : 1 / 450);
      }
    }
  });

  it('q8 has the codes of q4', () => {
    if (type.form !== 'q4') return;
    const narrow = convert('q4', type.scales);
    const wide = convert('q8', type.scales);
    if (narrow.form === 'f32' || wide.form === 'f32') throw new Error('not quantised');
    expect(wide.scales).toEqual(narrow.scales);
    const bytesOf = new Uint8Array(wide.codes.buffer);
    for (let i = 0; i < 64; i++) expect(bytesOf[i]).toBe((narrow.codes[i >> 3] >>> (4 * (i & 7))) & 15);
  });

  it('names the tensor that holds what is not a number', () => {
    const damaged = bytes.slice();
    const at = types[name].halves[0] ?? types[name].bytes - 2;
    damaged.set([0xff, 0x7f], at); // NaN as f16, and as the upper half of an f32
    for (const form of ['f32', 'q4', 'q8'] as const) {
      expect(() => convertRows(damaged, type, columns, form, type.scales, 'blk.3')).toThrow(
        expect.objectContaining({ code: 'bad-weights', message: expect.stringContaining('blk.3') }),
      );
    }
  });
});

it('serves bytes that start anywhere', () => {
  for (const name of Object.keys(types)) {
    const bytes = randomWeights(name, columns, 3);
    const shifted = new Uint8Array(bytes.length + 3);
    shifted.set(bytes, 3);
    const rows = convertRows(shifted.subarray(3), typeOf(name), columns, 'f32', 'single', name);
    expect(floatsOf(rows)).toEqual(plain(dequantise(name, bytes)));
  }
});

it('refuses scales that leave f16, and serves them in f32', () => {
  const bytes = randomWeights('Q8_0', columns, 3);
  bytes.set([0x00, 0x70], 0); // 8192; its minimum is -128 times that
  const convert = (scales: 'half' | 'single') => convertRows(bytes, typeOf('Q8_0'), columns, 'q8', scales, 'blk.3');
  expect(() => convert('half')).toThrow(expect.objectContaining({ code: 'bad-weights' }));
  expect(floatsOf(convert('single'))).toEqual(plain(dequantise('Q8_0', bytes)));
});

/** Largest error in units of its block's range (and of f16's precision, which is all a constant block has). */
function worstPerRange(actual: Float32Array, expected: Float32Array): number {
  let worst = 0;
  for (let first = 0; first < expected.length; first += 32) {
    const block = expected.subarray(first, first + 32);
    const span = Math.max(...block) - Math.min(...block) + Math.max(...block.map(Math.abs)) / 64;
    for (let k = 0; k < 32; k++) worst = Math.max(worst, Math.abs(actual[first + k] - block[k]) / span);
  }
  return worst;
}
