/** @file KL estimators per token in double precision, with gradients by the policy's log-probability. */
import type { KlEstimator } from '../../src/rl/kernels/kl';

const clamp = (x: number, low: number, high: number) => Math.min(high, Math.max(low, x));

export function klEstimate(estimator: KlEstimator, logProb: number, refLogProb: number): number {
  const d = refLogProb - logProb;
  if (estimator === 'k1') return -d;
  if (estimator === 'k2') return 0.5 * d * d;
  const c = clamp(d, -20, 20);
  return Math.min(10, Math.expm1(c) - c);
}

export function klGradient(estimator: KlEstimator, logProb: number, refLogProb: number): number {
  const d = refLogProb - logProb;
  if (estimator === 'k1') return 1;
  if (estimator === 'k2') return -d;
  if (Math.abs(d) > 20 || Math.expm1(d) - d > 10) return 0;
  return -Math.expm1(d);
}
