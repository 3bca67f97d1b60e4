/** @file Group-relative advantages in double precision: what shaders/advantages.wgsl must compute. */
import type { AdvantageSettings } from '../../src/rl/kernels/group-advantages';

const mean = (x: readonly number[]) => x.reduce((a, b) => a + b, 0) / x.length;

function unbiasedStd(x: readonly number[]): number {
  if (x.length < 2) return 0;
  const centre = mean(x);
  return Math.sqrt(x.reduce((sum, v) => sum + (v - centre) ** 2, 0) / (x.length - 1));
}

/** `groups`: the returns of each group. */
export function advantages(
  groups: readonly (readonly number[])[],
  settings: AdvantageSettings,
): { advantages: number[][]; groupStd: number[]; zeroVariance: boolean[] } {
  const batchStd = unbiasedStd(groups.flat());
  const zeroVariance = groups.map((group) => group.every((r) => r === group[0]));
  const groupStd = groups.map((group, g) => (zeroVariance[g] ? 0 : unbiasedStd(group)));
  const result = groups.map((group, g) => {
    const singleton = group.length === 1;
    const std = settings.mode === 'batch-std' ? batchStd : singleton ? 1 : groupStd[g];
    const scale = settings.mode === 'group-mean' || settings.mode === 'leave-one-out' ? 1 : std + settings.eps;
    if (singleton) return [settings.rawSingleton ? group[0] / scale : 0];
    if (settings.mode === 'leave-one-out') {
      // r minus the mean of the others, in the words of the paper.
      return group.map((r, i) => (zeroVariance[g] ? 0 : r - mean(group.filter((_, j) => j !== i))));
    }
    return group.map((r) => (zeroVariance[g] ? 0 : (r - mean(group)) / scale));
  });
  return { advantages: result, groupStd, zeroVariance };
}
