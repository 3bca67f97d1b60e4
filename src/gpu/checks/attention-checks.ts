/** @file Attention and its gradient on two ragged sequences, two query heads sharing one key-value head. */
import source from '../../../shaders/attention.wgsl?raw';
import keyValue from '../../../shaders/key-value.wgsl?raw';
import { type Check, numbers, sum } from './check';

const [heads, headDim] = [2, 8];
const width = (heads + 2) * headDim;
const scale = 1 / Math.sqrt(headDim);
/** (first row of the sequence, position) of sequences of 4 and 3 tokens. */
const rows = [0, 0, 0, 0, 4, 4, 4].map((base, token) => [base, token - base] as const);
const ends = [4, 4, 4, 4, 7, 7, 7];
const t = rows.length;
const qkv = numbers(9, t * width, 2);
const dO = numbers(18, t * heads * headDim);

const q = (token: number, head: number, i: number) => qkv[token * width + head * headDim + i];
const key = (token: number, i: number) => qkv[token * width + heads * headDim + i];
const value = (token: number, i: number) => qkv[token * width + (heads + 1) * headDim + i];

function solve() {
  const o = new Float32Array(t * heads * headDim);
  const lse = new Float32Array(t * heads);
  const delta = new Float32Array(t * heads);
  const dqkv = new Float64Array(t * width);
  rows.forEach(([base, position], token) => {
    for (let head = 0; head < heads; head++) {
      const at = token * heads + head;
      const keys = Array.from({ length: position + 1 }, (_, j) => base + j);
      const scores = keys.map((j) => scale * sum(headDim, (i) => q(token, head, i) * key(j, i)));
      const mass = sum(scores.length, (j) => Math.exp(scores[j]));
      const p = scores.map((s) => Math.exp(s) / mass);
      lse[at] = Math.log(mass);
      for (let i = 0; i < headDim; i++) o[at * headDim + i] = sum(keys.length, (j) => p[j] * value(keys[j], i));
      // dL/dp_j = dO . v_j; the softmax turns it into dL/ds_j = p_j (dL/dp_j - sum_k p_k dL/dp_k).
      const dp = keys.map((j) => sum(headDim, (i) => dO[at * headDim + i] * value(j, i)));
      const mean = sum(keys.length, (j) => p[j] * dp[j]);
      delta[at] = mean;
      keys.forEach((j, n) => {
        const ds = p[n] * (dp[n] - mean) * scale;
        for (let i = 0; i < headDim; i++) {
          dqkv[token * width + head * headDim + i] += ds * key(j, i);
          dqkv[j * width + heads * headDim + i] += ds * q(token, head, i);
          dqkv[j * width + (heads + 1) * headDim + i] += p[n] * dO[at * headDim + i];
        }
      });
    }
  });
  return { o, lse, delta, dqkv };
}

export function attentionChecks(): Check[] {
  const { o, lse, delta, dqkv } = solve();
  const common = {
    source: `const HEAD4 = ${headDim / 4}u;\nconst GROUP = ${heads}u;\n${keyValue}${source}`,
    workgroups: [1] as const,
    u32: [t, 1, width / 4, width / 4, (heads * headDim) / 4, ((heads + 1) * headDim) / 4],
    f32: [scale],
    tolerance: 1e-5,
  };
  const positions = Uint32Array.from(rows.flat());
  const isQuery = (at: number) => at % width < heads * headDim;
  return [
    {
      ...common,
      name: 'attention',
      entry: 'attention_forward',
      bindings: [qkv, qkv, positions, new Float32Array(o.length), new Float32Array(lse.length)],
      expected: [
        { binding: 4, values: o },
        { binding: 5, values: lse },
      ],
    },
    {
      ...common,
      name: 'attention-query-gradient',
      entry: 'attention_backward_dq',
      bindings: [qkv, positions, o, dO, lse, new Float32Array(t * width), new Float32Array(t * heads)],
      expected: [
        { binding: 6, values: dqkv.map((x, at) => (isQuery(at) ? x : 0)) },
        { binding: 7, values: delta },
      ],
    },
    {
      ...common,
      name: 'attention-key-gradient',
      entry: 'attention_backward_dkv',
      bindings: [qkv, Uint32Array.from(ends), dO, lse, delta, new Float32Array(t * width)],
      expected: [{ binding: 6, values: dqkv.map((x, at) => (isQuery(at) ? 0 : x)) }],
    },
  ];
}
