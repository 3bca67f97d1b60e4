import { describe, expect, test } from 'vitest';
import { Kl, type KlEstimator } from '../../../src/rl/kernels/kl';
import { testGpu } from '../../gpu';
import { expectClose, normals } from '../../numbers';
import { klEstimate, klGradient } from '../../reference/kl';

async function run(estimator: KlEstimator, logProbs: Float32Array, refLogProbs: Float32Array, weights: Float32Array) {
  const gpu = await testGpu();
  const kernel = new Kl(gpu);
  await gpu.ready();
  const n = logProbs.length;
  const buffers = {
    logProbs: gpu.upload(logProbs, 'log-probs'),
    refLogProbs: gpu.upload(refLogProbs, 'reference'),
    weights: gpu.upload(weights, 'weights'),
    kl: gpu.alloc(Math.max(4, n * 4), 'kl'),
    gradLogProb: gpu.alloc(Math.max(4, n * 4), 'gradient'),
  };
  const rec = gpu.record('test');
  kernel.record(rec, { n, ...buffers }, estimator);
  rec.submit();
  const result = { kl: await gpu.readF32(buffers.kl, n), grad: await gpu.readF32(buffers.gradLogProb, n) };
  for (const buffer of Object.values(buffers)) buffer.release();
  return result;
}

/** Gaps from rounding size to far outside the clamp. */
function data(n: number) {
  const logProbs = normals(1, n).map((x) => -Math.abs(x));
  const gaps = normals(2, n).map((x, i) => x * [1e-3, 0.05, 0.5, 3, 15][i % 5]);
  return {
    logProbs,
    refLogProbs: logProbs.map((lp, i) => lp + gaps[i]),
    weights: normals(3, n).map((x, i) => (i % 7 === 0 ? 0 : Math.abs(x))),
  };
}

describe.each(['k1', 'k2', 'k3'] as const)('%s', (estimator) => {
  const { logProbs, refLogProbs, weights } = data(1000);

  test('value and gradient match the reference', async () => {
    const { kl, grad } = await run(estimator, logProbs, refLogProbs, weights);
    // Purely relative: the kernel's k3 has no cancellation near 0.
    expectClose(
      kl,
      [...logProbs].map((lp, i) => weights[i] * klEstimate(estimator, lp, refLogProbs[i])),
      1e-12,
    );
    expectClose(
      grad,
      [...logProbs].map((lp, i) => weights[i] * klGradient(estimator, lp, refLogProbs[i])),
      1e-12,
    );
  });

  test('the gradient is the slope of the value', async () => {
    const { grad } = await run(estimator, logProbs, refLogProbs, weights);
    const h = 1e-5;
    const slope = [...logProbs].map((lp, i) => {
      const up = klEstimate(estimator, lp + h, refLogProbs[i]);
      return (weights[i] * (up - klEstimate(estimator, lp - h, refLogProbs[i]))) / (2 * h);
    });
    expectClose(grad, slope, 1e-2, 1e-4);
  });

  test('masked tokens are zero whatever they hold', async () => {
    const nan = Float32Array.of(NaN, Infinity, -1);
    const { kl, grad } = await run(estimator, nan, nan, new Float32Array(3));
    expect([...kl, ...grad]).toEqual(Array(6).fill(0));
  });

  test('is the same to the bit twice', async () => {
    const first = await run(estimator, logProbs, refLogProbs, weights);
    expect(await run(estimator, logProbs, refLogProbs, weights)).toEqual(first);
  });

  test('no token, no work', async () => {
    expect((await run(estimator, new Float32Array(0), new Float32Array(0), new Float32Array(0))).kl.length).toBe(0);
  });
});

test('k3 is never negative, capped at 10, and flat where capped', async () => {
  const ref = Float32Array.of(0, 30, -30, 3, 1e-6);
  const { kl, grad } = await run('k3', new Float32Array(5), ref, new Float32Array(5).fill(1));
  expect(Math.min(...kl)).toBeGreaterThanOrEqual(0);
  expect(kl[1]).toBe(10);
  expect(kl[2]).toBe(10);
  expect(kl[3]).toBe(10);
  expect([...grad.slice(1, 4)]).toEqual([0, 0, 0]);
  expect(kl[4]).toBeGreaterThan(0);
});
