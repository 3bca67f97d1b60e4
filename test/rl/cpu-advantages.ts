/** @file Group-relative advantages in plain code (dreamgym.md, 5.2), for tests of what stands above the kernel. */
import { mean, standardDeviation } from '../../src/data/statistics';
import type { AdvantageKernel } from '../../src/rl/grpo';

export const cpuAdvantages: AdvantageKernel = async (returns, groupIds, mode) => {
  const batchStd = standardDeviation(returns);
  return Float32Array.from(returns, (r, i) => {
    const group = [...returns].filter((_, j) => groupIds[j] === groupIds[i]);
    // A group of one has no baseline: mean 0, std 1.
    const centred = r - (group.length > 1 ? mean(group) : 0);
    if (mode === 'group-mean') return centred;
    const std = mode === 'batch-std' ? batchStd : group.length > 1 ? standardDeviation(group) : 1;
    return centred / (std + 1e-6);
  });
};
