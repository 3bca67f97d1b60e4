import { beforeAll, describe, expect, test } from 'vitest';
import type { SamplingOptions } from '../../src/nn/language-model';
import { maskRow, NOTHING_DRAWN, Sampler } from '../../src/nn/sampler';
import { testGpu } from '../gpu';
import { expectClose, normals } from '../numbers';
import { draw, logProb, probabilities, type SamplerSettings, support, uniform01 } from '../reference/sampler';
import { runKernel } from './run-kernel';

interface Row {
  logits: ArrayLike<number>;
  stream: number;
  position: number;
}

const never = 0xffff_ffff;
/** Vocabularies of this size use the wide kernel: every test runs with both. */
let wideFrom = 4096;
const plain: SamplerSettings = { temperature: 1, topK: 0, topP: 1 };

/** One draw of every row: tokens, log-probabilities, and the rows' state after it. */
async function sample(rows: readonly Row[], settings: SamplerSettings, seed = 1, more: Partial<SamplingOptions> = {}) {
  const gpu = await testGpu();
  const kernel = new Sampler(gpu, wideFrom);
  const n = rows.length;
  const vocab = rows[0].logits.length;
  const all = {
    logits: Float32Array.from(rows.flatMap(({ logits }) => Array.from(logits))),
    rows: Uint32Array.from(rows.flatMap(({ position }, i) => [i * 100, position])),
    meta: Uint32Array.from(rows.flatMap(({ stream }) => [stream, never, 0, 0])),
    current: new Uint32Array(n),
    drawn: new Uint32Array(2 * n),
    mask: Uint32Array.from(rows.flatMap(() => Array.from(maskRow(settings.allowed ?? null, vocab)))),
  };
  const { allowed, ...shape } = settings;
  const options = { ...shape, seed, stopTokens: [], maxNewTokens: 1, ...more };
  const got = await runKernel(gpu, all, (rec, { mask, ...b }) =>
    kernel.record(rec, allowed ? { ...b, mask } : b, n, vocab, 0, options),
  );
  const bits = new Float32Array(got.drawn.buffer);
  return {
    ...got,
    tokens: rows.map((_, i) => got.drawn[2 * i]),
    logProbs: rows.map((_, i) => bits[2 * i + 1]),
  };
}

/** Many draws from one distribution: the streams differ. */
function streams(logits: ArrayLike<number>, count: number): Row[] {
  return Array.from({ length: count }, (_, stream) => ({ logits, stream, position: 10 }));
}

/** Pearson's statistic over all tokens with an expectation of at least 5. */
function chiSquare(tokens: readonly number[], p: ArrayLike<number>): { statistic: number; freedom: number } {
  const counts = new Float64Array(p.length);
  for (const token of tokens) counts[token]++;
  let statistic = 0;
  let freedom = -1;
  for (let i = 0; i < p.length; i++) {
    const expected = p[i] * tokens.length;
    if (expected < 5) continue;
    statistic += (counts[i] - expected) ** 2 / expected;
    freedom++;
  }
  return { statistic, freedom };
}

/** A statistic above this happens by chance once in ten thousand tests (Wilson-Hilferty). */
const critical = (freedom: number) => freedom * (1 - 2 / (9 * freedom) + 3.72 * Math.sqrt(2 / (9 * freedom))) ** 3;

const shapes: SamplerSettings[] = [
  plain,
  { temperature: 0.4, topK: 0, topP: 1 },
  { temperature: 2.5, topK: 0, topP: 1 },
  { temperature: 1, topK: 5, topP: 1 },
  { temperature: 1, topK: 1, topP: 1 },
  { temperature: 1, topK: 0, topP: 0.7 },
  { temperature: 1.5, topK: 0, topP: 0.95 },
  { temperature: 0.7, topK: 12, topP: 0.8 },
  { temperature: 3, topK: 4, topP: 0.9 },
  { temperature: 1, topK: 0, topP: 1, minP: 0.1 },
  { temperature: 2, topK: 0, topP: 0.9, minP: 0.3 },
  { temperature: 1, topK: 0, topP: 1, allowed: [1, 5, 11] },
  { temperature: 1.5, topK: 3, topP: 0.8, allowed: [0, 2, 3, 7, 9, 12] },
];
const name = ({ temperature, topK, topP, minP, allowed }: SamplerSettings) =>
  `temperature ${temperature}, top-k ${topK}, top-p ${topP}, min-p ${minP ?? 0}, ${allowed ? `among ${allowed}` : 'any'}`;

describe.each([
  ['one thread a row', 4096],
  ['a workgroup a row', 0],
])('%s', (_, from) => {
  beforeAll(() => {
    wideFrom = from;
  });

  describe.each(shapes.map((shape) => [name(shape), shape] as const))('%s', (_, shape) => {
    test('draws exactly what the reference draws', async () => {
      const rows = Array.from({ length: 1500 }, (_, i) => ({
        logits: normals(i, 40, 0.5 + (i % 6)),
        stream: i * 7919,
        position: (i * 31) % 500,
      }));
      const { tokens, logProbs } = await sample(rows, shape, 11);
      let different = 0;
      rows.forEach(({ logits, stream, position }, i) => {
        const p = probabilities(logits, shape);
        const u = uniform01(11, stream, position);
        expect(support(logits, shape)).toContain(tokens[i]);
        // A draw on the border of two tokens may fall to either by rounding.
        const near = [-1e-5, 0, 1e-5].map((shift) => draw(p, Math.min(1 - 1e-9, Math.max(0, u + shift))));
        expect(near).toContain(tokens[i]);
        if (tokens[i] !== near[1]) different++;
        expect(Math.abs(logProbs[i] - logProb(logits, tokens[i]))).toBeLessThan(2e-5);
      });
      expect(different).toBeLessThan(3);
    });

    test('is distributed as the reference says, and covers the whole support', async () => {
      const logits = normals(77, 24, 1.2);
      const p = probabilities(logits, shape);
      const { tokens } = await sample(streams(logits, 12_000), shape, 5);
      const { statistic, freedom } = chiSquare(tokens, p);
      if (freedom > 0) expect(statistic).toBeLessThan(critical(freedom));
      const likely = support(logits, shape).filter((i) => p[i] > 1e-3);
      expect([...new Set(tokens)].filter((i) => p[i] > 1e-3).sort((a, b) => a - b)).toEqual(likely);
      expect(tokens.every((token) => p[token] > 0)).toBe(true);
    });
  });

  test('seed, stream and position each make the draw anew', async () => {
    const logits = normals(3, 16);
    const p = probabilities(logits, plain);
    const bySeed: number[] = [];
    for (let seed = 0; seed < 40; seed++) bySeed.push(...(await sample(streams(logits, 100), plain, seed)).tokens);
    const positions = Array.from({ length: 4000 }, (_, position) => ({ logits, stream: 3, position }));
    for (const tokens of [bySeed, (await sample(positions, plain, 8)).tokens]) {
      const { statistic, freedom } = chiSquare(tokens, p);
      expect(statistic).toBeLessThan(critical(freedom));
      // Neighbours are independent: pairs are distributed as products.
      const pairs = tokens.slice(1).map((token, i) => tokens[i] * 16 + token);
      const products = Array.from({ length: 256 }, (_, i) => p[Math.floor(i / 16)] * p[i % 16]);
      const joint = chiSquare(pairs, products);
      expect(joint.statistic).toBeLessThan(critical(joint.freedom));
    }
  });

  test('a draw depends on nothing else in the batch', async () => {
    const rows = Array.from({ length: 70 }, (_, i) => ({ logits: normals(i, 20), stream: i % 9, position: i }));
    const together = await sample(rows, shapes[7], 4);
    for (const i of [0, 31, 32, 69]) {
      const alone = await sample([rows[i]], shapes[7], 4);
      expect(alone.tokens[0]).toBe(together.tokens[i]);
      expect(alone.logProbs[0]).toBe(together.logProbs[i]);
    }
  });

  describe('greedy', () => {
    test('takes the largest logit, the first of equals, whatever the seed', async () => {
      const rows = Array.from({ length: 200 }, (_, i) => ({ logits: normals(i, 32, 3), stream: i, position: i }));
      const greedy = { temperature: 0, topK: 3, topP: 0.5 };
      const { tokens, logProbs } = await sample(rows, greedy, 1);
      expect((await sample(rows, greedy, 2)).tokens).toEqual(tokens);
      rows.forEach(({ logits }, i) => {
        expect(tokens[i]).toBe(logits.indexOf(Math.max(...logits)));
        expect(Math.abs(logProbs[i] - logProb(logits, tokens[i]))).toBeLessThan(2e-5);
      });
      const equal = { logits: [1, 4, 2, 4], stream: 0, position: 0 };
      expect((await sample([equal], greedy)).tokens).toEqual([1]);
    });
  });

  test('equal logits on the edge of top-k all stay', async () => {
    const logits = [3, 1, 2, 2, 0, 2, -1, -2];
    const { tokens } = await sample(streams(logits, 800), { ...plain, topK: 2 });
    expect([...new Set(tokens)].sort()).toEqual([0, 2, 3, 5]);
  });

  test('far logits: no overflow, no impossible token', async () => {
    const logits = [-1e4, 500, 499, -3e4, -1e30, -Infinity, 498, 0];
    const { tokens, logProbs } = await sample(streams(logits, 500), plain);
    expect([...new Set(tokens)].sort()).toEqual([1, 2, 6]);
    tokens.forEach((token, i) => {
      expect(Math.abs(logProbs[i] - logProb(logits, token))).toBeLessThan(1e-4);
    });
  });

  test('the largest random number does not fall off the end to an impossible token', async () => {
    // All positions of a few streams until the 24 bits are all ones.
    let [stream, position] = [0, 0];
    while (uniform01(1, stream, position) < 1 - 2 ** -24) {
      position = (position + 1) % 100_000;
      if (position === 0) stream++;
    }
    for (let seed = 0; seed < 30; seed++) {
      const logits = [...normals(seed, 300), -200, -300];
      const { tokens } = await sample([{ logits, stream, position }], plain);
      expect(tokens[0]).toBeLessThan(300);
    }
  });

  describe('ends', () => {
    async function steps(limits: readonly number[], stopTokens: readonly number[], count: number) {
      const gpu = await testGpu();
      const kernel = new Sampler(gpu, wideFrom);
      const n = limits.length;
      const vocab = 8;
      const row = normals(1, vocab); // the same logits in every step: draws differ by position
      const all = {
        logits: Float32Array.from(limits.flatMap(() => [...row])),
        rows: Uint32Array.from(limits.flatMap((_, i) => [i * 50, 5])),
        meta: Uint32Array.from(limits.flatMap((limit, i) => [i, limit, 0, 0])),
        current: new Uint32Array(n).fill(99),
        drawn: new Uint32Array(count * n * 2),
      };
      const options = { temperature: 2, seed: 6, stopTokens, maxNewTokens: 0 };
      const got = await runKernel(gpu, all, (rec, b) => {
        for (let step = 0; step < count; step++) kernel.record(rec, b, n, vocab, step, options);
      });
      const tokens = limits.map((_, i) => Array.from({ length: count }, (_, step) => got.drawn[(step * n + i) * 2]));
      return { ...got, tokens };
    }

    test('a row ends at its limit and stays as it was', async () => {
      const { tokens, rows, meta } = await steps([7, 8, 30], [], 4);
      // Logits of position 5 give the token of position 6; 7 is the first forbidden one.
      expect(tokens.map((row) => row.filter((token) => token !== NOTHING_DRAWN).length)).toEqual([1, 2, 4]);
      expect([...rows]).toEqual([0, 6, 50, 7, 100, 9]);
      expect([2, 6, 10].map((i) => meta[i])).toEqual([1, 1, 0]);
    });

    test('a row ends with any of four stop tokens', async () => {
      const free = await steps([never, never, never, never], [], 12);
      for (const stops of [[3], [0, 6], [1, 2, 4, 7]]) {
        const { tokens, current } = await steps([never, never, never, never], stops, 12);
        tokens.forEach((row, i) => {
          const end = free.tokens[i].findIndex((token) => stops.includes(token));
          const length = end < 0 ? 12 : end + 1;
          const want = free.tokens[i].map((token, step) => (step < length ? token : NOTHING_DRAWN));
          expect(row).toEqual(want);
          expect(current[i]).toBe(free.tokens[i][length - 1]);
        });
      }
    });
  });

  test('log-probabilities of the plain draw average to minus the entropy', async () => {
    const logits = normals(5, 24, 1.5);
    const p = probabilities(logits, plain);
    const { logProbs } = await sample(streams(logits, 12_000), plain, 3);
    const entropy = -p.reduce((sum, x) => sum + x * Math.log(x), 0);
    const mean = logProbs.reduce((a, b) => a + b, 0) / logProbs.length;
    expectClose([mean], [-entropy], 1, 0.03);
  });
});
