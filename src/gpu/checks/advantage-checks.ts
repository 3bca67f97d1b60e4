/** @file Credit on numbers a person can follow: advantages and returns. */
import advantagesSource from '../../../shaders/advantages.wgsl?raw';
import gaeSource from '../../../shaders/gae.wgsl?raw';
import returnsSource from '../../../shaders/returns.wgsl?raw';
import type { Check } from './check';

export function advantageChecks(): Check[] {
  return [advantages(), leaveOneOut(), returns(), gae()];
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
