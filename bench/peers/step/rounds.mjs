/** @file A round of the training comparison: one step. */
import { shapes } from './problem.mjs';

/** They compile every kernel and fill every pool; their losses are compared. */
const warmUps = 3;

/**
 * @param {(shape: import('./problem.mjs').Shape) => Promise<import('./problem.mjs').Contestant>} prepare
 * @param {string} size
 * @returns {Promise<import('../host/contest.mjs').Opened>}
 */
export async function openStep(prepare, size) {
  const began = performance.now();
  const contestant = await prepare(shapes[size]);
  const losses = [];
  for (let i = 0; i < warmUps; i++) losses.push(await contestant.step());
  return {
    first: { warmUpMs: Math.round(performance.now() - began), losses },
    async round() {
      const start = performance.now();
      const loss = await contestant.step();
      return { ms: performance.now() - start, loss };
    },
  };
}
