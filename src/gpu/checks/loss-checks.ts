/** @file The losses, their weights, the critic and the guard on numbers a person can follow. */
import dpoLossSource from '../../../shaders/dpo-loss.wgsl?raw';
import guardSource from '../../../shaders/finite-guard.wgsl?raw';
import correctionSource from '../../../shaders/importance-correction.wgsl?raw';
import policyLossSource from '../../../shaders/policy-loss.wgsl?raw';
import sequenceRatioSource from '../../../shaders/sequence-ratio.wgsl?raw';
import valueHeadSource from '../../../shaders/value-head.wgsl?raw';
import valueLossSource from '../../../shaders/value-loss.wgsl?raw';
import { type Check, numbers, sum, table } from './check';

export function lossChecks(): Check[] {
  return [
    policyLoss(),
    policyStats(),
    sequenceRatio(),
    correction(),
    valueHead(),
    valueLoss(),
    dpoLoss(),
    finiteGuard(),
  ];
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
