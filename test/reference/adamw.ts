/** @file One AdamW step over all parameters with global-norm clipping, in double precision. */
import type { OptimizerSettings } from '../../src/nn/language-model';

export interface AdamWState {
  weight: Float64Array;
  moment1: Float64Array;
  moment2: Float64Array;
  /** False for norm vectors. */
  decayed: boolean;
}

/** Updates the states in place; returns the norm of all gradients. A norm that is not finite changes nothing. */
export function adamw(
  states: readonly AdamWState[],
  gradients: readonly ArrayLike<number>[],
  settings: OptimizerSettings,
  step: number,
): number {
  const { learningRate, beta1, beta2, eps, weightDecay, maxGradNorm } = settings;
  const norm = Math.sqrt(gradients.reduce((sum, g) => sum + Array.from(g).reduce((s, x) => s + x * x, 0), 0));
  if (!Number.isFinite(norm)) return norm;
  const clip = maxGradNorm > 0 ? Math.min(1, maxGradNorm / norm) : 1;
  states.forEach(({ weight, moment1, moment2, decayed }, s) => {
    for (let i = 0; i < weight.length; i++) {
      const g = gradients[s][i] * clip;
      moment1[i] = beta1 * moment1[i] + (1 - beta1) * g;
      moment2[i] = beta2 * moment2[i] + (1 - beta2) * g * g;
      const m = moment1[i] / (1 - beta1 ** step);
      const v = moment2[i] / (1 - beta2 ** step);
      weight[i] -= learningRate * (m / (Math.sqrt(v) + eps) + (decayed ? weightDecay * weight[i] : 0));
    }
  });
  return norm;
}
