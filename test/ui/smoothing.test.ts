import fc from 'fast-check';
import { expect, test } from 'vitest';
import { drawable, smooth, thinned } from '../../src/ui/charts/smoothing';

test('smoothing corrects its bias: a constant stays what it is, from the first point on', () => {
  for (const value of smooth([5, 5, 5, 5], 0.9)) expect(value).toBeCloseTo(5, 12);
});

test('no smoothing is the identity', () => {
  expect(smooth([1, -2, 3], 0)).toEqual([1, -2, 3]);
});

test('gaps stay gaps and are not counted as zero', () => {
  const smoothed = smooth([1, null, 1, Number.NaN, 1], 0.5);
  expect(smoothed[1]).toBeNull();
  expect(smoothed[3]).toBeNull();
  expect(smoothed[4]).toBeCloseTo(1, 12);
});

test('a weight of one is capped: the line still follows the run', () => {
  const line = smooth(
    Array.from({ length: 2000 }, (_, i) => (i < 1000 ? 0 : 1)),
    1,
  );
  expect(line[1999]).toBeGreaterThan(0.99);
});

test('thinning keeps the ends and the extremes', () => {
  const values = Array.from({ length: 5000 }, (_, i) => Math.sin(i / 100));
  values[2345] = 99;
  values[4001] = -99;
  const kept = thinned([values], values.length, 200);
  expect(kept.length).toBeLessThanOrEqual(202);
  for (const index of [0, 2345, 4001, 4999]) expect(kept).toContain(index);
});

test('lines are smoothed before they are thinned out', () => {
  const length = 4000;
  const xs = Array.from({ length }, (_, i) => i);
  const raw = xs.map((i) => Math.sin(i / 50) + ((i * 7919) % 13) / 13);
  const drawn = drawable(xs, [raw], 0.9, 300);
  const full = smooth(raw, 0.9);
  expect(drawn.xs.length).toBeLessThan(400);
  for (const [row, x] of drawn.xs.entries()) {
    expect(drawn.smoothed[0][row]).toBe(full[x]);
    expect(drawn.raw[0][row]).toBe(raw[x]);
  }
});

test('thinned indices are sorted, unique and inside, for any lines', () => {
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.double({ noNaN: true })), { maxLength: 400 }),
      fc.integer({ min: 2, max: 50 }),
      (line, limit) => {
        const kept = thinned([line], line.length, limit);
        expect(new Set(kept).size).toBe(kept.length);
        expect(kept).toEqual([...kept].sort((a, b) => a - b));
        expect(kept.every((i) => i >= 0 && i < line.length)).toBe(true);
      },
    ),
  );
});
