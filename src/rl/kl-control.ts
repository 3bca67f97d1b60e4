/**
 * @file The KL coefficient as a thermostat (Ziegler et al. 2019; verl's adaptive controller):
 *   coef <- coef (1 + clip(KL / target - 1, -0.2, 0.2) episodes / horizon)
 * Its only state is the coefficient, which a run keeps among its metrics.
 */

export function nextKlCoef(
  coef: number,
  kl: number,
  { klTarget, klHorizon }: { klTarget: number; klHorizon: number },
  episodes: number,
): number {
  if (klTarget <= 0 || episodes === 0 || !Number.isFinite(kl)) return coef;
  const error = Math.min(0.2, Math.max(-0.2, kl / klTarget - 1));
  return Math.max(0, coef * (1 + (error * episodes) / klHorizon));
}
