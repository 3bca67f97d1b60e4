/** @file The learning rule and retrieval on numbers a person can follow. */
import advantagesSource from '../../../shaders/advantages.wgsl?raw';
import dpoLossSource from '../../../shaders/dpo-loss.wgsl?raw';
import guardSource from '../../../shaders/finite-guard.wgsl?raw';
import gaeSource from '../../../shaders/gae.wgsl?raw';
import correctionSource from '../../../shaders/importance-correction.wgsl?raw';
import policyLossSource from '../../../shaders/policy-loss.wgsl?raw';
import returnsSource from '../../../shaders/returns.wgsl?raw';
import sequenceRatioSource from '../../../shaders/sequence-ratio.wgsl?raw';
import topkSource from '../../../shaders/topk.wgsl?raw';
import valueHeadSource from '../../../shaders/value-head.wgsl?raw';
import valueLossSource from '../../../shaders/value-loss.wgsl?raw';
import { type Check, numbers, sum, table } from './check';

export function rlChecks(): Check[] {
  return [
    advantages(),
    leaveOneOut(),
    returns(),
    gae(),
    policyLoss(),
    policyStats(),
    sequenceRatio(),
    correction(),
    valueHead(),
    valueLoss(),
    dpoLoss(),
    finiteGuard(),
    topK(),
  ];
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

/** RLOO of [1, 0, 0, 1]: against the mean of the other three. */
function leaveOneOut(): Check {
  return {
    name: 'leave-one-out',
    source: advantagesSource,
    entry: 'group_advantages',
    workgroups: [1],
    u32: [5, 2, 3, 0],
    f32: [0],
    bindings: [
      Float32Array.of(1, 0, 0, 1, 7),
      Uint32Array.of(0, 4, 5),
      new Float32Array(1),
      new Float32Array(5),
      new Float32Array(2),
      new Uint32Array(2),
    ],
    expected: [{ binding: 4, values: [2 / 3, -2 / 3, -2 / 3, 2 / 3, 0] }],
    tolerance: 1e-5,
  };
}

/** Two sequences; in the first, time stands still at its third entry and nobody acts at its second. */
function returns(): Check {
  return {
    name: 'returns',
    source: returnsSource,
    entry: 'discounted_returns',
    workgroups: [1],
    u32: [2],
    f32: [0.5],
    bindings: [
      Uint32Array.of(0, 4, 5),
      Float32Array.of(1, 9, 2, 4, 3),
      Uint32Array.of(1, 0, 2, 1, 1),
      new Float32Array(5),
    ],
    expected: [{ binding: 4, values: [4, 6, 6, 4, 3] }],
    tolerance: 1e-5,
  };
}

function gae(): Check {
  return {
    name: 'gae',
    source: gaeSource,
    entry: 'gae',
    workgroups: [1],
    u32: [1, 0],
    f32: [0.5, 0.5],
    bindings: [
      Uint32Array.of(0, 3),
      Float32Array.of(1, 9, 2),
      Float32Array.of(0.5, 7, 1),
      Uint32Array.of(1, 0, 2),
      new Float32Array(3),
      new Float32Array(3),
    ],
    // Last: 2 - 1 = 1. First: 1 + 0.5 x 1 - 0.5 = 1, and 0.25 x 1 of what follows.
    expected: [
      { binding: 5, values: [1.25, 1, 1] },
      { binding: 6, values: [1.75, 8, 2] },
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
    u32: [5, 0, 3, 0],
    f32: policySettings,
    bindings: [...policyInputs(), new Float32Array(5), new Float32Array(5), new Float32Array(5)],
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
    u32: [5, 0, 3, 0],
    f32: policySettings,
    bindings: [...policyInputs(), Float32Array.from(tokens.entropy), new Float32Array(8), new Float32Array(5)],
    expected: [{ binding: 7, values: [loss, 3.75, kl, 3, 4, 2.5, 0, 2] }],
    tolerance: 1e-5,
  };
}

/** Samples of 2 and 2 tokens, the last of them masked. */
function sequenceRatio(): Check {
  return {
    name: 'sequence-ratio',
    source: sequenceRatioSource,
    entry: 'sequence_ratio',
    workgroups: [1],
    u32: [2],
    bindings: [
      Uint32Array.of(0, 2, 4),
      Float32Array.of(-1, -2, -3, -4),
      Float32Array.of(-1.5, -1.75, -2, -9),
      Float32Array.of(1, 1, 1, 0),
      new Float32Array(4),
    ],
    expected: [{ binding: 5, values: [0.125, 0.125, -1, 0] }],
    tolerance: 1e-5,
  };
}

function correction(): Check {
  return {
    name: 'importance-correction',
    source: correctionSource,
    entry: 'importance_correction',
    workgroups: [1],
    u32: [2, 0, 0],
    f32: [2],
    bindings: [
      Uint32Array.of(0, 2, 3),
      Float32Array.of(-1, -2, -3),
      Float32Array.of(-3, -1.5, -1),
      Uint32Array.of(1, 1, 0),
      new Float32Array(3),
    ],
    expected: [{ binding: 5, values: [2, Math.exp(-0.5), 0] }],
    tolerance: 1e-5,
  };
}

function valueHead(): Check {
  const [rows, width] = [3, 70];
  const hidden = numbers(41, rows * width);
  const head = numbers(42, width + 1);
  return {
    name: 'value-head',
    source: valueHeadSource,
    entry: 'value_forward',
    workgroups: [rows],
    u32: [rows, width],
    f32: [0],
    bindings: [hidden, head, new Float32Array(rows)],
    expected: [
      { binding: 3, values: table(rows, (row) => head[width] + sum(width, (d) => head[d] * hidden[row * width + d])) },
    ],
    tolerance: 1e-5,
  };
}

/** Plain error; the bound holds it back; the bound helps (plain counts); masked. */
function valueLoss(): Check {
  return {
    name: 'value-loss',
    source: valueLossSource,
    entry: 'value_loss',
    workgroups: [1],
    u32: [4, 0],
    f32: [0.5],
    bindings: [
      Float32Array.of(1, 3, 3, 5),
      Float32Array.of(1, 1, 1, 0),
      Float32Array.of(0, 3, 0, 0),
      Float32Array.of(0.5, 1, 1, 0),
      new Float32Array(4),
    ],
    expected: [{ binding: 5, values: [0.5, 0, 3, 0] }],
    tolerance: 1e-5,
  };
}

function dpoLoss(): Check {
  // beta 0.5: rewards 0.5 x 1 and 0.5 x -1, margin 1.
  const wrong = 1 / (1 + Math.E);
  return {
    name: 'dpo-loss',
    source: dpoLossSource,
    entry: 'dpo_loss',
    workgroups: [1],
    u32: [1],
    f32: [0.5, 0],
    bindings: [
      Uint32Array.of(0, 2, 4),
      Float32Array.of(-1, -9, -2, -1),
      Float32Array.of(-2, -1, -1.5, -0.5),
      Uint32Array.of(1, 0, 1, 1),
      new Float32Array(4),
      new Float32Array(4),
    ],
    expected: [
      { binding: 5, values: [0.5 * wrong, 0, -0.5 * wrong, -0.5 * wrong] },
      { binding: 6, values: [Math.log1p(Math.exp(-1)), 0.5, -0.5, 1] },
    ],
    tolerance: 1e-5,
  };
}

/** A loss that is not a number makes the norm infinite; the check compares bits, for infinity has no distance. */
function finiteGuard(): Check {
  return {
    name: 'finite-guard',
    source: guardSource,
    entry: 'finite_guard',
    workgroups: [1],
    u32: [0],
    bindings: [Uint32Array.of(0x7fc00000), Uint32Array.of(0x3f800000)],
    expected: [{ binding: 2, values: [0x7f800000] }],
    tolerance: 0,
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
