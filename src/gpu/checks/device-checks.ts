/** @file What every kernel silently relies on: arithmetic, memory, barriers, exact integers. */
import source from '../../../shaders/self-test.wgsl?raw';
import { type Check, numbers, pcg, sum } from './check';

export function deviceChecks(): Check[] {
  const x = numbers(1, 200, 4);
  const words = Uint32Array.from({ length: 1 << 16 }, (_, i) => pcg(i));
  const groups = 32;
  return [
    {
      name: 'arithmetic',
      source,
      entry: 'arithmetic',
      workgroups: [4],
      u32: [x.length],
      bindings: [x, new Float32Array(x.length * 8)],
      expected: [
        {
          binding: 2,
          values: [...x].flatMap((a) => [
            a * a - 1,
            (a + 2) / (Math.abs(a) + 3),
            Math.sqrt(Math.abs(a)),
            1 / Math.sqrt(Math.abs(a) + 0.5),
            Math.exp(a),
            Math.log(Math.abs(a) + 3),
            Math.floor(Math.fround(Math.abs(a) * 1000)) + a,
            (a > 1.5 ? Math.max(a, 2) : Math.min(a, 1)) + Math.floor(a),
          ]),
        },
      ],
      tolerance: 1e-5,
    },
    {
      name: 'memory',
      source,
      entry: 'memory',
      workgroups: [words.length / 256],
      u32: [words.length],
      bindings: [words, new Uint32Array(words.length)],
      expected: [{ binding: 2, values: words.map((_, i) => words[Math.imul(i, 40503) & (words.length - 1)] + i) }],
      tolerance: 0,
    },
    {
      name: 'barriers',
      source,
      entry: 'barriers',
      workgroups: [groups],
      u32: [groups],
      bindings: [words.subarray(0, groups * 256), new Uint32Array(groups)],
      expected: [
        { binding: 2, values: Uint32Array.from({ length: groups }, (_, g) => sum(256, (i) => words[g * 256 + i])) },
      ],
      tolerance: 0,
    },
    {
      name: 'integer-hash',
      source,
      entry: 'hash',
      workgroups: [64],
      u32: [4096],
      bindings: [words.subarray(0, 4096), new Uint32Array(4096)],
      expected: [{ binding: 2, values: words.slice(0, 4096).map(pcg) }],
      tolerance: 0,
    },
  ];
}
