/** @file The learning rule and retrieval on numbers a person can follow. */
import advantagesSource from '../../../shaders/advantages.wgsl?raw';
import policyLossSource from '../../../shaders/policy-loss.wgsl?raw';
import topkSource from '../../../shaders/topk.wgsl?raw';
import { type Check, numbers, sum, table } from './check';

export function rlChecks(): Check[] {
  return [advantages(), policyLoss(), policyStats(), topK()];
}

/** Groups [1, 0, 0, 1], [1, 1, 1], [0, 2]: std of the first 1/sqrt(3), the second says nothing, the last sqrt(2). */
function advantages(): Check {
  const eps = 1e-6;
  const first = 0.5 / (1 / Math.sqrt(3) + eps);
  const last = 1 / (Math.SQRT2 + eps);
  return {
    name: 'advantages',
    source: advantagesSource,
    entry: 'group_advantages',
    workgroups: [1],
    u32: [9, 3, 0, 0],
    f32: [eps],
    bindings: [
      Float32Array.of(1, 0, 0, 1, 1, 1, 1, 0, 2),
      Uint32Array.of(0, 4, 7, 9),
      new Float32Array(1),
      new Float32Array(9),
      new Float32Array(3),
      new Uint32Array(3),
    ],
    expected: [
      { binding: 4, values: [first, -first, -first, first, 0, 0, 0, -last, last] },
      { binding: 6, values: [0, 1, 0] },
    ],
    tolerance: 1e-5,
  };
}

// Tokens: on-policy; clipped above; clipped below; dual clip; masked. Clip 0.2, dual clip 3, entropy coefficient 0.1.
const tokens = {
  logProb: [-1, -1, -1, -0.5, -2],
  old: [-1, -1.5, -0.5, -2, -1],
  advantage: [2, 1, -1, -2, 5],
  weight: [0.25, 0.25, 0.25, 0.25, 0],
  entropy: [1, 2, 0.5, 0.25, 9],
};

function policyInputs(): Float32Array<ArrayBuffer>[] {
  // The coefficient of the reference is 0, so old stands in its place.
  const { logProb, old, advantage, weight } = tokens;
  return [logProb, old, old, advantage, weight].map((list) => Float32Array.from(list));
}

const policySettings = [0.2, 0.2, 3, 0, 0.1];

function policyLoss(): Check {
  return {
    name: 'policy-loss',
    source: policyLossSource,
    entry: 'policy_loss',
    workgroups: [1],
    u32: [5, 0],
    f32: policySettings,
    bindings: [...policyInputs(), new Float32Array(5), new Float32Array(5)],
    expected: [
      { binding: 6, values: [-0.5, 0, 0, 0, 0] },
      { binding: 7, values: [-0.025, -0.025, -0.025, -0.025, 0] },
    ],
    tolerance: 1e-5,
  };
}

function policyStats(): Check {
  const active = [0, 1, 2, 3];
  const surrogate = [-2, -1.2, 0.8, 6];
  const gap = active.map((i) => tokens.logProb[i] - tokens.old[i]);
  const total = (f: (i: number) => number) => sum(active.length, f);
  const loss = total((i) => 0.25 * (surrogate[i] - 0.1 * tokens.entropy[i]));
  const kl = total((i) => Math.expm1(-gap[i]) + gap[i]);
  return {
    name: 'loss-statistics',
    source: policyLossSource,
    entry: 'policy_stats',
    workgroups: [1],
    u32: [5, 0],
    f32: policySettings,
    bindings: [...policyInputs(), Float32Array.from(tokens.entropy), new Float32Array(8)],
    expected: [{ binding: 7, values: [loss, 3.75, kl, 3, 4, 2.5, 0, 2] }],
    tolerance: 1e-5,
  };
}

function topK(): Check {
  const [queries, rows, dimension, k, chunkRows] = [4, 40, 12, 3, 16];
  const chunks = Math.ceil(rows / chunkRows);
  const query = numbers(31, queries * dimension);
  const bank = numbers(32, rows * dimension);
  bank.copyWithin(5 * dimension, 0, dimension); // rows 0 and 5 tie
  const inverseNorm = (v: Float32Array, n: number) =>
    table(n, (i) => 1 / Math.sqrt(sum(dimension, (d) => v[i * dimension + d] ** 2)));
  const queryNorm = inverseNorm(query, queries);
  const rowNorm = inverseNorm(bank, rows);
  const score = (q: number, row: number) =>
    sum(dimension, (d) => query[q * dimension + d] * bank[row * dimension + d]) * queryNorm[q] * rowNorm[row];
  // Within each chunk, best first: (score, row).
  const scores: number[] = [];
  const indices: number[] = [];
  for (let q = 0; q < queries; q++) {
    for (let chunk = 0; chunk < chunks; chunk++) {
      const ranked = Array.from(
        { length: Math.min(chunkRows, rows - chunk * chunkRows) },
        (_, i) => chunk * chunkRows + i,
      )
        .sort((a, b) => score(q, b) - score(q, a) || a - b)
        .slice(0, k);
      scores.push(...ranked.map((row) => score(q, row)));
      indices.push(...ranked);
    }
  }
  // (bits of the score, row): as integers, a score may differ in its last bits and a row not at all.
  const packed = new Uint32Array(queries * chunks * k * 2);
  const bits = new Uint32Array(Float32Array.from(scores).buffer);
  for (let i = 0; i < indices.length; i++) packed.set([bits[i], indices[i]], i * 2);
  return {
    name: 'top-k',
    source: topkSource,
    entry: 'topk_chunks',
    workgroups: [1, 1],
    u32: [queries, rows, dimension / 4, k, chunkRows, 0, 0, chunks, 0, 0],
    bindings: [
      query,
      bank,
      queryNorm,
      rowNorm,
      new Uint32Array(1),
      new Uint32Array(1),
      new Uint32Array(1),
      new Uint32Array(packed.length),
    ],
    expected: [{ binding: 8, values: packed }],
    tolerance: 1e-5,
  };
}
