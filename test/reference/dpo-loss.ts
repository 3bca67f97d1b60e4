/** @file DPO of one pair in double precision, with the slope of each token. */

export interface DpoSide {
  logProbs: readonly number[];
  refLogProbs: readonly number[];
  mask: readonly number[];
}

const softplus = (x: number) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

function logRatio({ logProbs, refLogProbs, mask }: DpoSide): number {
  return logProbs.reduce((sum, lp, t) => (mask[t] ? sum + lp - refLogProbs[t] : sum), 0);
}

export function dpo(chosen: DpoSide, rejected: DpoSide, beta: number, smoothing: number) {
  const rewards = [beta * logRatio(chosen), beta * logRatio(rejected)];
  const h = rewards[0] - rewards[1];
  return {
    loss: (1 - smoothing) * softplus(-h) + smoothing * softplus(h),
    rewards,
    margin: h,
    /** dL / d log-prob of a chosen token; the rejected ones have its negative. */
    slope: beta * (-(1 - smoothing) * sigmoid(-h) + smoothing * sigmoid(h)),
  };
}
