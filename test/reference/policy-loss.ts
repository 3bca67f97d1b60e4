/** @file The clipped policy loss of one token in double precision, straight from the formula, and its gradient. */
import type { PolicyLossSettings } from '../../src/rl/kernels/policy-loss';
import { klEstimate, klGradient } from './kl';

export interface PolicyToken {
  logProb: number;
  oldLogProb: number;
  refLogProb: number;
  advantage: number;
  weight: number;
  entropy: number;
  /** Sequence-level importance: the mean log-ratio of the token's sample, which counts in the place of the token's own. */
  sampleLogRatio?: number;
}

const logRatio = (t: PolicyToken) => t.sampleLogRatio ?? t.logProb - t.oldLogProb;

const clamp = (x: number, low: number, high: number) => Math.min(high, Math.max(low, x));

/** Weighted loss of one token; 0 where the weight is 0. */
export function policyLoss(t: PolicyToken, s: PolicyLossSettings): number {
  if (t.weight === 0) return 0;
  const ratio = Math.exp(clamp(logRatio(t), -20, 20));
  let loss = Math.max(-t.advantage * ratio, -t.advantage * clamp(ratio, 1 - s.clipLow, 1 + s.clipHigh));
  if (t.advantage < 0 && s.dualClip > 0) loss = Math.min(loss, -t.advantage * s.dualClip);
  const kl = s.klCoef === 0 ? 0 : s.klCoef * klEstimate(s.klEstimator ?? 'k3', t.logProb, t.refLogProb);
  return t.weight * (loss + kl - s.entropyCoef * t.entropy);
}

export function clipped(t: PolicyToken, s: PolicyLossSettings): 'no' | 'below' | 'above' {
  const ratio = Math.exp(clamp(logRatio(t), -20, 20));
  if (t.advantage > 0 && ratio > 1 + s.clipHigh) return 'above';
  if (t.advantage < 0 && ratio < 1 - s.clipLow) return 'below';
  if (t.advantage < 0 && s.dualClip > 0 && ratio > s.dualClip) return 'above';
  return 'no';
}

/** dL / d log-prob. */
export function policyGradient(t: PolicyToken, s: PolicyLossSettings): number {
  if (t.weight === 0) return 0;
  const x = logRatio(t);
  const inside = Math.abs(x) <= 20 && clipped(t, s) === 'no';
  const kl = s.klCoef === 0 ? 0 : s.klCoef * klGradient(s.klEstimator ?? 'k3', t.logProb, t.refLogProb);
  return t.weight * ((inside ? -t.advantage * Math.exp(x) : 0) + kl);
}

/** The eight sums of the kernel's statistics. */
export function policyStats(tokens: readonly PolicyToken[], s: PolicyLossSettings): number[] {
  const active = tokens.filter((t) => t.weight !== 0);
  const sum = (f: (t: PolicyToken) => number) => active.reduce((total, t) => total + f(t), 0);
  return [
    sum((t) => policyLoss(t, s)),
    sum((t) => t.entropy),
    sum((t) => klEstimate('k3', t.logProb, t.oldLogProb)),
    sum((t) => (clipped(t, s) === 'no' ? 0 : 1)),
    active.length,
    sum((t) => Math.abs(t.logProb - t.oldLogProb)),
    s.klCoef === 0 ? 0 : sum((t) => klEstimate(s.klEstimator ?? 'k3', t.logProb, t.refLogProb)),
    sum((t) => (clipped(t, s) === 'above' ? 1 : 0)),
  ];
}
