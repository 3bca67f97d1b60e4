import { describe, expect, test } from 'vitest';
import { PolicyLoss, type PolicyLossSettings, readLossStats } from '../../../src/rl/kernels/policy-loss';
import { testGpu } from '../../gpu';
import { expectClose, normals, randomSource } from '../../numbers';
import { clipped, type PolicyToken, policyGradient, policyLoss, policyStats } from '../../reference/policy-loss';

const recipe: PolicyLossSettings = { clipLow: 0.2, clipHigh: 0.28, dualClip: 3, klCoef: 0, entropyCoef: 0 };
const everything: PolicyLossSettings = { ...recipe, klCoef: 0.05, entropyCoef: 0.01 };

/** Tokens on every side of every clip, a fifth of them masked. */
function tokens(seed: number, n: number): PolicyToken[] {
  const uniform = randomSource(seed);
  const lp = normals(seed + 1, n);
  const gap = normals(seed + 2, n);
  const ref = normals(seed + 3, n);
  const advantage = normals(seed + 4, n);
  return Array.from({ length: n }, (_, i) => {
    const logProb = Math.fround(-Math.abs(lp[i]));
    return {
      logProb,
      oldLogProb: Math.fround(logProb - gap[i] * [1e-3, 0.1, 0.5, 2, 12][i % 5]),
      refLogProb: Math.fround(logProb + ref[i] * [1e-3, 0.3, 2, 12][i % 4]),
      advantage: i % 11 === 0 ? 0 : advantage[i],
      weight: uniform() < 0.2 ? 0 : Math.fround(uniform() / n),
      entropy: Math.fround(uniform() * 3),
    };
  });
}

async function run(
  batch: readonly PolicyToken[],
  settings: PolicyLossSettings | 'sft',
  options: { noRef?: boolean; twice?: boolean } = {},
) {
  const gpu = await testGpu();
  const kernels = new PolicyLoss(gpu);
  await gpu.ready();
  const n = batch.length;
  const column = (key: keyof PolicyToken) =>
    gpu.upload(
      Float32Array.from(batch, (t) => t[key] ?? 0),
      key,
    );
  const buffers = {
    logProbs: column('logProb'),
    oldLogProbs: column('oldLogProb'),
    refLogProbs: column('refLogProb'),
    advantages: column('advantage'),
    weights: column('weight'),
    entropy: column('entropy'),
    gradLogProb: gpu.alloc(Math.max(4, n * 4), 'gradient'),
    gradEntropy: gpu.alloc(Math.max(4, n * 4), 'entropy gradient'),
    stats: gpu.upload(new Float32Array(8).fill(123), 'stats'),
  };
  const rec = gpu.record('test');
  for (const accumulate of options.twice ? [false, true] : [false]) {
    const b = { n, ...buffers, accumulate, refLogProbs: options.noRef ? undefined : buffers.refLogProbs };
    if (settings === 'sft') kernels.recordSft(rec, b);
    else kernels.record(rec, b, settings);
  }
  rec.submit();
  const result = {
    gradLogProb: await gpu.readF32(buffers.gradLogProb, n),
    gradEntropy: await gpu.readF32(buffers.gradEntropy, n),
    stats: await gpu.readF32(buffers.stats, 8),
  };
  for (const buffer of Object.values(buffers)) buffer.release();
  return result;
}

describe.each([
  ['the recipe', recipe],
  ['KL and entropy', everything],
  ['no dual clip', { ...recipe, dualClip: 0 }],
  ['symmetric clip', { ...everything, clipHigh: 0.2, klCoef: 1 }],
  ['KL k1', { ...everything, klEstimator: 'k1' as const }],
  ['KL k2', { ...everything, klEstimator: 'k2' as const }],
])('%s', (_, settings) => {
  const batch = tokens(7, 2500);

  test('gradients equal the reference', async () => {
    const { gradLogProb, gradEntropy } = await run(batch, settings);
    batch.forEach((t, i) => {
      // Surrogate and KL may nearly cancel; each is exact to 1e-5 of itself.
      const surrogate = Math.abs(policyGradient(t, { ...settings, klCoef: 0 }));
      const kl = Math.abs(policyGradient({ ...t, advantage: 0 }, settings));
      expect(Math.abs(gradLogProb[i] - policyGradient(t, settings))).toBeLessThanOrEqual(1e-5 * (surrogate + kl));
    });
    expectClose(
      gradEntropy,
      batch.map((t) => -settings.entropyCoef * t.weight),
      1e-12,
    );
  });

  test('gradients are the slopes of the reference loss', async () => {
    const { gradLogProb, gradEntropy } = await run(batch, settings);
    const h = 1e-6;
    batch.forEach((t, i) => {
      const slope = (key: 'logProb' | 'entropy') =>
        (policyLoss({ ...t, [key]: t[key] + h }, settings) - policyLoss({ ...t, [key]: t[key] - h }, settings)) /
        (2 * h);
      const unit = t.weight || 1;
      expect(Math.abs(gradLogProb[i] - slope('logProb')) / unit).toBeLessThan(
        1e-4 * (1 + Math.abs(slope('logProb')) / unit),
      );
      expect(Math.abs(gradEntropy[i] - slope('entropy')) / unit).toBeLessThan(1e-6);
    });
  });

  test('statistics equal the reference', async () => {
    const { stats } = await run(batch, settings);
    const want = policyStats(batch, settings);
    const size = batch.reduce((sum, t) => sum + Math.abs(policyLoss(t, settings)), 0);
    expect(Math.abs(stats[0] - want[0])).toBeLessThan(1e-5 * size);
    expectClose(stats.slice(1), want.slice(1), 1e-2);
    expect(stats[3]).toBeGreaterThan(0);
  });

  test('is the same to the bit twice', async () => {
    expect(await run(batch, settings)).toEqual(await run(batch, settings));
  });
});

test('the data reach every branch', () => {
  const kinds = new Set(
    tokens(7, 2500).map(
      (t) => `${clipped(t, recipe)} ${Math.sign(t.advantage)} ${Math.abs(t.logProb - t.oldLogProb) > 20}`,
    ),
  );
  for (const kind of ['no 1 false', 'no -1 false', 'above 1 false', 'above -1 false', 'below -1 false', 'no 1 true']) {
    expect(kinds).toContain(kind);
  }
});

test('on-policy: ratio 1, gradient -A w, nothing clipped', async () => {
  const batch = tokens(3, 40).map((t) => ({ ...t, oldLogProb: t.logProb }));
  const { gradLogProb, stats } = await run(batch, recipe);
  expectClose(
    gradLogProb,
    batch.map((t) => -t.advantage * t.weight),
    1e-12,
  );
  expect(readLossStats(stats)).toMatchObject({ kl: 0, clipFraction: 0, logProbGap: 0, refKl: 0 });
});

test('the log-ratio is clamped at 20 and its gradient ends there', async () => {
  const token = { logProb: -25, oldLogProb: 0, refLogProb: 0, advantage: 1, weight: 1, entropy: 0 };
  const { gradLogProb, stats } = await run([token, { ...token, logProb: -19 }], recipe);
  expect(gradLogProb[0]).toBe(0);
  expect(gradLogProb[1]).toBeLessThan(0);
  expectClose([stats[0]], [-(Math.exp(-20) + Math.exp(-19))], 1e-12);
});

test('masked tokens are ignored whatever they hold', async () => {
  const good = tokens(5, 64).map((t) => ({ ...t, weight: t.weight || 0.01 }));
  const bad = { logProb: NaN, oldLogProb: Infinity, refLogProb: NaN, advantage: NaN, weight: 0, entropy: NaN };
  const alone = await run(good, everything);
  const padded = await run([...good, ...Array<PolicyToken>(64).fill(bad)], everything);
  expect(padded.stats).toEqual(alone.stats);
  expect(padded.gradLogProb.slice(0, 64)).toEqual(alone.gradLogProb);
  expect([...padded.gradLogProb.slice(64), ...padded.gradEntropy.slice(64)]).toEqual(Array(128).fill(0));
});

test('without a reference the KL term is off', async () => {
  const batch = tokens(9, 100);
  const without = await run(batch, everything, { noRef: true });
  expect(without).toEqual(await run(batch, { ...everything, klCoef: 0 }));
});

test('nothing to learn from: zero statistics', async () => {
  const { stats } = await run([], everything);
  expect([...stats]).toEqual(Array(8).fill(0));
  expect(readLossStats(stats)).toMatchObject({ loss: 0, tokens: 0, entropy: 0 });
});

test('micro-batches add up', async () => {
  const batch = tokens(13, 300);
  const once = await run(batch, everything);
  const twice = await run(batch, everything, { twice: true });
  expect([...twice.stats]).toEqual([...once.stats].map((x) => 2 * x));
});

test('SFT: loss -w log p, gradient -w, no entropy gradient', async () => {
  const batch = tokens(21, 777);
  const { gradLogProb, gradEntropy, stats } = await run(batch, 'sft');
  expect([...gradLogProb].map((g) => g + 0)).toEqual(batch.map((t) => 0 - t.weight));
  expect([...gradEntropy]).toEqual(batch.map(() => 0));
  const active = batch.filter((t) => t.weight !== 0);
  const want = [
    active.reduce((sum, t) => sum - t.weight * t.logProb, 0),
    active.reduce((sum, t) => sum + t.entropy, 0),
    0,
    0,
    active.length,
    0,
    0,
    0,
  ];
  expectClose(stats, want, 1e-3);
  expect(await run(batch, 'sft')).toEqual({ gradLogProb, gradEntropy, stats });
});
