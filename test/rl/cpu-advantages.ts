/** @file The advantage kernels in plain code (test/reference), for tests of what stands above them. */
import type { AdvantageKernels } from '../../src/rl/advantage-kernels';
import { sortByGroup } from '../../src/rl/kernels/group-advantages';
import { advantages } from '../reference/advantages';
import { gae, whiten } from '../reference/gae';
import { importanceCorrection } from '../reference/importance-correction';
import { klEstimate } from '../reference/kl';
import { discountedReturns } from '../reference/returns';

function sequencesOf(starts: Uint32Array): [number, number][] {
  return Array.from({ length: starts.length - 1 }, (_, s) => [starts[s], starts[s + 1]]);
}

export const cpuAdvantages: AdvantageKernels = {
  async group(returns, groupIds, mode) {
    const { order, starts } = sortByGroup(groupIds);
    const groups = sequencesOf(starts).map(([from, to]) => [...order.slice(from, to)].map((i) => returns[i]));
    const sorted = advantages(groups, { mode, eps: 1e-6, rawSingleton: false }).advantages.flat();
    const result = new Float32Array(returns.length);
    order.forEach((episode, i) => {
      result[episode] = sorted[i];
    });
    return result;
  },
  async returns({ starts, mask, rewards }, gamma) {
    return Float32Array.from(
      sequencesOf(starts).flatMap(([a, b]) =>
        discountedReturns([...rewards.slice(a, b)], [...mask.slice(a, b)], gamma),
      ),
    );
  },
  async gae({ starts, mask, rewards, values }, gamma, lambda) {
    const each = sequencesOf(starts).map(([a, b]) =>
      gae([...rewards.slice(a, b)], [...values.slice(a, b)], [...mask.slice(a, b)], gamma, lambda),
    );
    return {
      advantages: Float32Array.from(each.flatMap((e) => e.advantages)),
      returns: Float32Array.from(each.flatMap((e) => e.returns)),
    };
  },
  async whiten(values, mask) {
    return Float32Array.from(whiten([...values], [...mask]));
  },
  async kl(logProbs, refLogProbs, mask, estimator) {
    return Float32Array.from(logProbs, (lp, t) => (mask[t] === 0 ? 0 : klEstimate(estimator, lp, refLogProbs[t])));
  },
  async correction({ starts, mask, trainer, sampler }, mode, cap) {
    return Float32Array.from(
      sequencesOf(starts).flatMap(([a, b]) =>
        importanceCorrection([...trainer.slice(a, b)], [...sampler.slice(a, b)], [...mask.slice(a, b)], mode, cap),
      ),
    );
  },
};
