import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mean, populationVariance, standardDeviation, wilson } from '../../src/data/statistics';

describe('the Wilson interval', () => {
  it('agrees with published values', () => {
    // R: binom::binom.confint(40, 100, methods = "wilson") and (0, 10), (10, 10).
    const some = wilson(40, 100);
    expect(some.low).toBeCloseTo(0.3094, 4);
    expect(some.high).toBeCloseTo(0.498, 3);
    expect(wilson(0, 10)).toMatchObject({ rate: 0, low: 0 });
    expect(wilson(0, 10).high).toBeCloseTo(0.2775, 4);
    expect(wilson(10, 10)).toMatchObject({ rate: 1, high: 1 });
    expect(wilson(10, 10).low).toBeCloseTo(0.7225, 4);
    expect(wilson(0, 0)).toEqual({ rate: 0, low: 0, high: 1 });
  });

  it('contains the rate and stays within [0, 1]', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), fc.double({ min: 0, max: 1, noNaN: true }), (trials, share) => {
        const { rate, low, high } = wilson(Math.round(share * trials), trials);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(1);
        expect(low).toBeLessThanOrEqual(rate);
        expect(high).toBeGreaterThanOrEqual(rate);
      }),
    );
  });
});

describe('moments', () => {
  it('of few values', () => {
    expect([mean([]), populationVariance([]), standardDeviation([5])]).toEqual([0, 0, 0]);
    expect(mean([1, 0, 0, 1])).toBe(0.5);
    expect(populationVariance([1, 0, 0, 1])).toBe(0.25);
    expect(standardDeviation(Float32Array.of(2, 4))).toBeCloseTo(Math.SQRT2);
  });
});
