import { describe, expect, it } from 'vitest';
import { bfloatToFloat, floatToHalf, halfAbove, halfBelow, halfToFloat } from '../../src/models/half';

describe('half precision', () => {
  it('knows the values the standard names', () => {
    expect(halfToFloat(0x3c00)).toBe(1);
    expect(halfToFloat(0xc000)).toBe(-2);
    expect(halfToFloat(0x7bff)).toBe(65504);
    expect(halfToFloat(0x0001)).toBe(2 ** -24);
    expect(halfToFloat(0x03ff)).toBe(1023 * 2 ** -24);
    expect(halfToFloat(0x7c00)).toBe(Number.POSITIVE_INFINITY);
    expect(halfToFloat(0x7e00)).toBeNaN();
    expect(Object.is(halfToFloat(0x8000), -0)).toBe(true);
    expect(bfloatToFloat(0x3f80)).toBe(1);
    expect(bfloatToFloat(0xc2f7)).toBe(-123.5);
  });

  it('gives every half back as it was', () => {
    for (let bits = 0; bits < 1 << 16; bits++) {
      const value = halfToFloat(bits);
      if (!Number.isNaN(value) && floatToHalf(value) !== bits) expect(floatToHalf(value)).toBe(bits);
    }
    expect(halfToFloat(floatToHalf(Number.NaN))).toBeNaN();
  });

  it('rounds to the nearest, ties to even', () => {
    for (let bits = 0; bits < 0x7bff; bits++) {
      const [low, high] = [halfToFloat(bits), halfToFloat(bits + 1)];
      const middle = (low + high) / 2; // exact in f32
      const even = bits % 2 === 0 ? bits : bits + 1;
      if (floatToHalf(middle) !== even) expect(floatToHalf(middle)).toBe(even);
      if (floatToHalf(-middle) !== (even | 0x8000)) expect(floatToHalf(-middle)).toBe(even | 0x8000);
      const below = floatToHalf(Math.fround(middle - (high - low) / 8));
      const above = floatToHalf(Math.fround(middle + (high - low) / 8));
      if (below !== bits || above !== bits + 1) expect([below, above]).toEqual([bits, bits + 1]);
    }
    expect(floatToHalf(65519)).toBe(0x7bff);
    expect(floatToHalf(65520)).toBe(0x7c00);
    expect(floatToHalf(-1e30)).toBe(0xfc00);
  });

  it('finds the halves on either side', () => {
    for (const value of [0, 1, -1, 1.0001, -1.0001, 1e-9, -1e-9, 3e-6, -3e-6, 60001, -60001].map(Math.fround)) {
      const [below, above] = [halfToFloat(halfBelow(value)), halfToFloat(halfAbove(value))];
      expect(below).toBeLessThanOrEqual(value);
      expect(above).toBeGreaterThanOrEqual(value);
      expect(above - below).toBeLessThanOrEqual(Math.max(2 ** -24, Math.abs(value) * 2 ** -10));
    }
  });
});
