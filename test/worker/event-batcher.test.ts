import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { EventBatcher } from '../../src/worker/event-batcher';
import type { RunEvent } from '../../src/worker/protocol';
import { metricsAt } from '../store/snapshots';

const progress = (fraction: number): RunEvent => ({
  type: 'progress',
  progress: { phase: 'learning', iteration: 1, iterations: 9, fraction, secondsLeft: null, detail: '' },
});
const iteration = (i: number): RunEvent => ({ type: 'iteration', metrics: metricsAt(i), rollouts: [] });

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it('delivers at most ten times a second and loses nothing but outdated progress', () => {
  const events = new EventBatcher();
  const times: number[] = [];
  const received: RunEvent[] = [];
  events.subscribe((event) => {
    if (times.at(-1) !== performance.now()) times.push(performance.now());
    received.push(event);
  });
  for (let ms = 0; ms < 3000; ms++) {
    events.push(progress(ms));
    if (ms % 70 === 0) events.push(iteration(ms));
    vi.advanceTimersByTime(1);
  }
  vi.advanceTimersByTime(200);
  expect(times.length).toBeGreaterThan(20);
  for (let i = 1; i < times.length; i++) expect(times[i] - times[i - 1]).toBeGreaterThanOrEqual(99);
  expect(received.flatMap((e) => (e.type === 'iteration' ? e.metrics.iteration : []))).toEqual(
    Array.from({ length: 43 }, (_, i) => i * 70),
  );
  expect(received.at(-1)).toEqual(progress(2999));
  const fractions = received.flatMap((e) => (e.type === 'progress' ? e.progress.fraction : []));
  expect(fractions.length).toBeLessThan(120);
  expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
});

it('a listener that fails is forgotten; the others go on', async () => {
  const events = new EventBatcher();
  const received: RunEvent[] = [];
  const failing = vi.fn(() => Promise.reject(new Error('the page is gone')));
  events.subscribe(failing);
  events.subscribe((event) => received.push(event));
  events.push(iteration(1));
  await vi.advanceTimersByTimeAsync(200);
  events.push(iteration(2));
  await vi.advanceTimersByTimeAsync(200);
  expect(failing).toHaveBeenCalledTimes(1);
  expect(received).toHaveLength(2);
});
