/** @file The optimiser of the learning methods: AdamW's numbers and how the rate moves over a run. */
import type { OptimizerSettings } from '../nn/language-model';

/** Everything but the learning rate; the recipe's values. No weight decay: a short RL phase should not shrink the model. */
export const rlOptimizer: Omit<OptimizerSettings, 'learningRate'> = {
  beta1: 0.9,
  beta2: 0.95,
  eps: 1e-8,
  weightDecay: 0,
  maxGradNorm: 1,
};

/**
 * The rate of an iteration (from 0). It rises over the first three, because Adam's second moments are noise in the first
 * steps, and falls linearly over the last third of a run: gradients of a hundred episodes are noisy, and the smaller last
 * steps average that noise out of what is kept (at a constant rate, success went up and down by five points at the end).
 */
export function scheduledRate(learningRate: number, iteration: number, iterations = Number.POSITIVE_INFINITY): number {
  const rise = (iteration + 1) / 3;
  const fall = (iterations - iteration) / (iterations / 3);
  return learningRate * Math.min(1, rise, iterations === Number.POSITIVE_INFINITY ? 1 : fall);
}

/** Splits into `parts` nearly equal, non-empty slices; fewer when there are not enough items. */
export function miniBatchesOf<T>(items: readonly T[], parts: number): T[][] {
  const count = Math.min(parts, items.length);
  return Array.from({ length: count }, (_, i) =>
    items.slice(Math.floor((i * items.length) / count), Math.floor(((i + 1) * items.length) / count)),
  );
}
