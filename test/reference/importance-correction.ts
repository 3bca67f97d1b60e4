/** @file Bounded importance weights of one sequence in double precision. */
import type { CorrectionMode } from '../../src/rl/advantage-kernels';

export function importanceCorrection(
  trainer: readonly number[],
  sampler: readonly number[],
  mask: readonly number[],
  mode: CorrectionMode,
  cap: number,
): number[] {
  const gap = trainer.map((lp, t) => (mask[t] ? lp - sampler[t] : 0));
  const total = gap.reduce((a, b) => a + b, 0);
  return gap.map((own, t) => {
    if (!mask[t]) return 0;
    const ratio = Math.exp(Math.min(20, Math.max(-20, mode.startsWith('sequence') ? total : own)));
    if (mode.endsWith('truncate')) return Math.min(ratio, cap);
    return ratio > cap ? 0 : ratio;
  });
}
