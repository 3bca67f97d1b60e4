/** @file Gradients of the losses over several tokens: kernels against central differences of the losses themselves. */
import { expect, test } from 'vitest';
import { gpuDpo } from '../../../src/rl/kernels/dpo-loss';
import { PolicyLoss } from '../../../src/rl/kernels/policy-loss';
import { testGpu } from '../../gpu';
import { slopes } from '../../nn/slopes';
import { expectClose, normals, randomSource } from '../../numbers';
import { dpo } from '../../reference/dpo-loss';
import { policyLoss } from '../../reference/policy-loss';
import { valueLoss } from '../../reference/value-loss';

test('GSPO: where a sample’s tokens weigh and count alike, the gradient is that of its one ratio', async () => {
  const gpu = await testGpu();
  const kernels = new PolicyLoss(gpu);
  await gpu.ready();
  const settings = {
    clipLow: 0.2,
    clipHigh: 0.28,
    dualClip: 3,
    klCoef: 0,
    entropyCoef: 0,
    importance: 'sequence' as const,
  };
  const starts = [0, 6, 7, 20];
  const n = 20;
  const logProbs = normals(1, n).map((x) => -Math.abs(x));
  const gap = normals(2, n, 0.1);
  const old = logProbs.map((lp, t) => lp - gap[t]);
  const sampleOf = Array.from({ length: n }, (_, t) => starts.findLastIndex((s) => s <= t));
  const size = (j: number) => starts[j + 1] - starts[j];
  const advantages = Float32Array.from(sampleOf, (j) => [1.5, -0.7, -1][j]);
  const weights = Float32Array.from(sampleOf, (j) => 1 / (3 * size(j)));
  const up = (x: Float32Array) => gpu.upload(x, 'tokens');
  const b = {
    logProbs: up(logProbs),
    oldLogProbs: up(old),
    advantages: up(advantages),
    weights: up(weights),
    entropy: up(new Float32Array(n)),
    gradLogProb: gpu.alloc(n * 4, 'gradient'),
    gradEntropy: gpu.alloc(n * 4, 'entropy gradient'),
    stats: gpu.alloc(32, 'stats'),
  };
  const perSample = {
    samples: 3,
    starts: gpu.upload(Uint32Array.from(starts), 'starts'),
    logRatio: gpu.alloc(n * 4, 'log ratio'),
  };
  const rec = gpu.record('slopes');
  kernels.record(rec, { n, ...b, perSample }, settings);
  rec.submit();
  const loss = (lp: Float64Array): number =>
    sampleOf.reduce((sum, j, t) => {
      let mean = 0;
      for (let i = starts[j]; i < starts[j + 1]; i++) mean += (lp[i] - old[i]) / size(j);
      const token = { logProb: lp[t], oldLogProb: old[t], refLogProb: 0, advantage: advantages[t] };
      return sum + policyLoss({ ...token, weight: weights[t], entropy: 0, sampleLogRatio: mean }, settings);
    }, 0);
  const want = slopes(loss, logProbs);
  const got = await gpu.readF32(b.gradLogProb, n);
  expect(want.every((slope) => slope !== 0)).toBe(true);
  expectClose(got, want, 1e-3, 1e-5);
  for (const buffer of [...Object.values(b), perSample.starts, perSample.logRatio]) buffer.release();
});

test('the critic’s clipped error', async () => {
  const gpu = await testGpu();
  const kernels = new PolicyLoss(gpu);
  kernels.prepareValue();
  await gpu.ready();
  const n = 200;
  const [values, oldValues, returns] = [1, 2, 3].map((seed) => normals(seed, n));
  const uniform = randomSource(4);
  const weights = Float32Array.from({ length: n }, () => (uniform() < 0.2 ? 0 : uniform()));
  const up = (x: Float32Array) => gpu.upload(x, 'values');
  const b = {
    values: up(values),
    oldValues: up(oldValues),
    returns: up(returns),
    weights: up(weights),
    gradValues: gpu.alloc(n * 4, 'gradient'),
    stats: gpu.alloc(16, 'stats'),
  };
  const rec = gpu.record('slopes');
  kernels.recordValue(rec, { n, ...b }, { valueClip: 0.3 });
  rec.submit();
  const loss = (v: Float64Array): number =>
    v.reduce(
      (sum, value, t) =>
        sum + valueLoss({ value, oldValue: oldValues[t], return: returns[t], weight: weights[t] }, 0.3),
      0,
    );
  expectClose(await gpu.readF32(b.gradValues, n), slopes(loss, values), 1e-1);
  for (const buffer of Object.values(b)) buffer.release();
});

test('DPO over its pairs', async () => {
  const lengths = [5, 8, 3, 70];
  const starts = [0];
  for (const length of lengths) starts.push(starts.at(-1)! + length);
  const n = starts.at(-1)!;
  const logProbs = normals(5, n).map((x) => -Math.abs(x));
  const refLogProbs = normals(6, n).map((x) => -Math.abs(x));
  const uniform = randomSource(7);
  const mask = Uint32Array.from({ length: n }, () => (uniform() < 0.3 ? 0 : 1));
  const settings = { beta: 0.2, labelSmoothing: 0.05 };
  const loss = (lp: Float64Array): number => {
    const side = (s: number) => {
      const cut = (x: ArrayLike<number>) => Array.from(x).slice(starts[s], starts[s + 1]);
      return { logProbs: cut(lp), refLogProbs: cut(refLogProbs), mask: cut(mask) };
    };
    return [0, 1].reduce((sum, p) => sum + dpo(side(2 * p), side(2 * p + 1), 0.2, 0.05).loss / 2, 0);
  };
  const batch = { starts: Uint32Array.from(starts), logProbs, refLogProbs, mask };
  const { tokenWeights } = await gpuDpo(await testGpu())(batch, settings);
  expectClose(
    tokenWeights.map((w) => -w),
    slopes(loss, logProbs),
    1e-2,
  );
});
