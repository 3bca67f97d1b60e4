import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ago, bytes, chance, duration, interval, number, percent, points, rate } from '../../src/ui/text/format';
import { visible, visibleLine } from '../../src/ui/text/visible';

test('a rate is written with its interval and its size', () => {
  expect(rate({ rate: 0.486, low: 0.417, high: 0.555, episodes: 200 })).toBe('49% (42–56%, 200 tasks)');
  expect(interval({ low: 0, high: 1 })).toBe('0–100%');
  expect(points(0.22, 0.49)).toBe('+27 points');
  expect(points(0.49, 0.22)).toBe('−27 points');
});

test('percentages: rare is not nothing, unknown is said', () => {
  expect(percent(0)).toBe('0%');
  expect(percent(0.004)).toBe('0.4%');
  expect(percent(1)).toBe('100%');
  expect(percent(Number.NaN)).toBe('?');
});

test('numbers keep three digits', () => {
  expect(number(0.012345)).toBe('0.0123');
  expect(number(48_210.4)).toBe('48,210');
  expect(number(-1.5)).toBe('−1.5');
  expect(number(0.00003)).toBe('3.0e−5');
  expect(number(0)).toBe('0');
  expect(number(Number.POSITIVE_INFINITY)).toBe('?');
});

test('sizes and times are as exact as they need to be', () => {
  expect(bytes(512)).toBe('512 B');
  expect(bytes(325_058_560)).toBe('310 MiB');
  expect(bytes(1.5 * 2 ** 30)).toBe('1.5 GiB');
  expect(duration(0.2)).toBe('1 s');
  expect(duration(200)).toBe('3 min');
  expect(duration(4800)).toBe('1 h 20 min');
  expect(duration(7200)).toBe('2 h');
  expect(duration(-1)).toBe('?');
  const now = Date.parse('2026-01-02T00:00:00Z');
  expect(ago('2026-01-01T23:57:00Z', now)).toBe('3 min ago');
  expect(ago('2025-12-31T00:00:00Z', now)).toBe('2 days ago');
  expect(ago('nonsense', now)).toBe('at an unknown time');
});

test('a chance is the exponential of its log-probability, never above one', () => {
  expect(chance(0)).toBe('100%');
  expect(chance(Math.log(0.05))).toBe('5%');
  expect(chance(3)).toBe('100%');
});

test('characters that hide or reorder text become visible', () => {
  expect(visible('a\u0000b')).toBe('a\u2400b');
  expect(visible('\u001b[31m')).toBe('\u241b[31m');
  expect(visible('user\u202Egnp.exe')).toBe('user‹U+202E›gnp.exe');
  expect(visible('in\u200Bvisible')).toBe('in‹U+200B›visible');
  expect(visible('\uD800')).toBe('‹U+D800›');
  expect(visible('two\nlines')).toBe('two\nlines');
  expect(visibleLine('two\nlines')).toBe('two\u240alines');
  expect(visible('<b>é 日本 🙂</b>')).toBe('<b>é 日本 🙂</b>');
  expect(visible('x'.repeat(50), 10)).toBe(`${'x'.repeat(10)}…`);
});

test('nothing invisible survives, whatever the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(visibleLine(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    }),
  );
});
