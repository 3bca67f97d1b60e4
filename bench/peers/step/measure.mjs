/** @file How a step is timed, in Node and in the page alike. */
import { shapes } from './problem.mjs';

/** Steps whose losses are compared; they also compile every kernel and fill every pool. */
const warmUps = 3;

/**
 * @param {(shape: import('./problem.mjs').Shape) => Promise<import('./problem.mjs').Contestant>} prepare
 * @param {string} size
 * @param {number} seconds Steps are timed for about this long, at least 3 and at most 20 of them.
 */
export async function measureStep(prepare, size, seconds) {
  const shape = shapes[size];
  const began = performance.now();
  const contestant = await prepare(shape);
  const losses = [];
  console.error(`prepared in ${secondsSince(began)} s`);
  for (let i = 0; i < warmUps; i++) {
    losses.push(await contestant.step());
    console.error(`step ${i + 1} done at ${secondsSince(began)} s, loss ${losses[i].toFixed(4)}`);
  }
  const warmUpMs = performance.now() - began;
  const times = [];
  const start = performance.now();
  while (times.length < 3 || (times.length < 20 && performance.now() - start < seconds * 1000)) {
    const from = performance.now();
    losses.push(await contestant.step());
    times.push(performance.now() - from);
  }
  const medianMs = [...times].sort((a, b) => a - b)[times.length >> 1];
  return {
    medianMs,
    tokensPerSecond: (shape.batch * shape.length) / (medianMs / 1000),
    timesMs: times.map((ms) => Math.round(ms * 10) / 10),
    warmUpMs: Math.round(warmUpMs),
    losses,
  };
}

/** @param {number} began */
const secondsSince = (began) => ((performance.now() - began) / 1000).toFixed(1);
