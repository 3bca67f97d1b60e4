import { expect, test } from 'vitest';
import { duration, ProgressBar } from '../../src/cli/progress';

function stream(isTTY: boolean) {
  const written: string[] = [];
  return { isTTY, columns: 80, written, write: (text: string) => written.push(text) };
}

test('a pipe gets nothing', () => {
  const out = stream(false);
  const bar = new ProgressBar(out, 'training');
  bar.update(0.5);
  bar.clear();
  expect(out.written).toEqual([]);
});

test('a terminal gets one line, at most ten times a second, with the time left', () => {
  const out = stream(true);
  let time = 0;
  const bar = new ProgressBar(out, 'training', () => time);
  bar.update(0);
  time = 50;
  bar.update(0.1);
  time = 10_000;
  bar.update(0.25, 'reward 0.5');
  expect(out.written).toHaveLength(2);
  expect(out.written[1]).toContain('training [#####---------------]  25% 30 s left  reward 0.5');
  bar.clear();
  expect(out.written.at(-1)).toBe('\r\u001b[2K');
});

test('the last update is always drawn and fits the terminal', () => {
  const out = stream(true);
  const bar = new ProgressBar(out, 'training', () => 0);
  bar.update(0.99);
  bar.update(1, 'x'.repeat(200));
  expect(out.written).toHaveLength(2);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the codes are what is removed
  expect(out.written[1].replace(/\r\u001b\[2K/, '').length).toBe(79);
});

test('durations read naturally', () => {
  expect([0.4, 42, 185, 7800].map(duration)).toEqual(['0 s', '42 s', '3 min 5 s', '2 h 10 min']);
});
