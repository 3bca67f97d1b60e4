import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { halfToFloat } from '../../src/models/half';
import { dequantiseRows, quantiseRows, requireFinite } from '../../src/models/quantise';

const rows = fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 })).chain(([count, blocks]) =>
  fc.record({
    columns: fc.constant(blocks * 32),
    values: fc
      .array(fc.float({ min: -8, max: 8, noNaN: true }), {
        minLength: count * blocks * 32,
        maxLength: count * blocks * 32,
      })
      .map((list) => Float32Array.from(list)),
  }),
);

describe.each(['q4', 'q8'] as const)('%s', (form) => {
  it.each(['half', 'single'] as const)('is within half a step of every weight (%s scales)', (scales) => {
    fc.assert(
      fc.property(rows, ({ values, columns }) => {
        const quantised = quantiseRows(values, columns, form, scales);
        expect(quantised.codes.length).toBe((values.length / 32) * (form === 'q4' ? 4 : 8));
        expect(quantised.scales.length).toBe((values.length / 32) * (scales === 'half' ? 1 : 2));
        const singles = new Float32Array(quantised.scales.buffer);
        const back = dequantiseRows(quantised, columns);
        let worst = 0; // one expectation a run: thousands are slow
        for (let i = 0; i < values.length; i++) {
          const block = Math.floor(i / 32);
          const scale = scales === 'half' ? halfToFloat(quantised.scales[block]) : singles[block * 2];
          // f32 rounding of the sum and of the scale itself, besides half a step.
          worst = Math.max(worst, Math.abs(back[i] - values[i]) - scale * 0.50002);
        }
        expect(worst).toBeLessThanOrEqual(2e-6);
      }),
      { numRuns: 60 },
    );
  });

  it('does not change what it has rounded before', () => {
    const values = Float32Array.from({ length: 64 }, (_, i) => Math.sin(i * 7.1));
    const once = quantiseRows(values, 64, form, 'half');
    expect(quantiseRows(dequantiseRows(once, 64), 64, form, 'half').codes).toEqual(once.codes);
  });

  it('keeps the place of every weight', () => {
    const levels = form === 'q4' ? 15 : 255;
    const values = Float32Array.from({ length: 32 }, (_, k) => (k === 31 ? levels : (k * 11) % levels));
    const { codes } = quantiseRows(values, 32, form, 'single');
    const perWord = form === 'q4' ? 8 : 4;
    for (let k = 0; k < 32; k++) {
      const code = (codes[Math.floor(k / perWord)] >>> ((32 / perWord) * (k % perWord))) & levels;
      expect(code).toBe(values[k]);
    }
  });

  it('keeps a constant block and zeros exactly', () => {
    const values = new Float32Array(64).fill(0.75, 32);
    for (const scales of ['half', 'single'] as const)
      expect(dequantiseRows(quantiseRows(values, 64, form, scales), 64)).toEqual(values);
  });

  it('names the tensor whose values are not usable', () => {
    const values = new Float32Array(32);
    values[5] = Number.NaN;
    const problem = expect.objectContaining({ code: 'bad-weights', message: expect.stringContaining('blk.0') });
    expect(() => quantiseRows(values, 32, form, 'single', 'blk.0 of m.gguf')).toThrow(problem);
    expect(() => requireFinite(values, 'blk.0 of m.gguf')).toThrow(problem);
    values[5] = 1e9;
    expect(() => quantiseRows(values, 32, form, 'half', 'blk.0 of m.gguf')).toThrow(problem);
    expect(quantiseRows(values, 32, form, 'single').form).toBe(form);
    expect(() => quantiseRows(new Float32Array(33), 33, form, 'single')).toThrow(
      expect.objectContaining({ code: 'wrong-shape' }),
    );
  });
});

it('reads the pack2x16float order: scale in the low half', () => {
  const codes = new Uint32Array([0x76543210, 0xfedcba98, 0, 0]);
  const values = dequantiseRows({ form: 'q4', codes, scales: new Uint32Array([0x3c00 | (0xc000 << 16)]) }, 32);
  expect([...values.subarray(0, 18)]).toEqual([...Array(16).keys()].map((k) => k - 2).concat([-2, -2]));
});
