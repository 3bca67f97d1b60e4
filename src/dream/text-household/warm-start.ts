/**
 * @file Imitation before reinforcement: a few steps of supervised learning on demonstrations, so that a small model acts at
 * all and its rewards begin to differ. GRPO has nothing to learn from groups that always fail.
 *
 * It runs before the first iteration and is a function of the run's seed; its result is what the run keeps as its
 * beginning, so a resumed run does not repeat it.
 */
import type { LanguageModel, TrainStats } from '../../nn/language-model';
import type { ChatTurns } from './chat-turns';
import { type Demonstration, type DemonstrationOptions, demonstrations } from './demonstrations';
import type { TextSettings } from './settings';

/** Demonstrations of one step. */
const batchSize = 2;
/** Peak rate of the adapter; LoRA takes ten times what the base would. Rises over a tenth of the steps, then falls. */
const peakRate = 1e-3;
const riseShare = 0.1;

export interface WarmStartOptions extends DemonstrationOptions {
  /** A safe point after every step: may wait, or throw to stop. */
  onStep?: (done: number, total: number, stats: TrainStats) => Promise<void> | void;
}

/** Trains `policy` for `settings.warmStart` steps; resolves with the loss (nats a token) of each. */
export async function warmStart(
  policy: Pick<LanguageModel, 'trainStep'>,
  turns: ChatTurns,
  settings: TextSettings,
  options: WarmStartOptions,
): Promise<number[]> {
  return imitate(policy, demonstrations(turns, settings, options), settings.warmStart, options.onStep);
}

/**
 * Trains `policy` for `steps` steps; resolves with the loss (nats a token) of each, fewer when the demonstrations end.
 * `onStep` is a safe point: may wait, or throw to stop.
 */
export async function imitate(
  policy: Pick<LanguageModel, 'trainStep'>,
  source: Iterator<Demonstration, unknown>,
  steps: number,
  onStep?: (done: number, total: number, stats: TrainStats) => Promise<void> | void,
): Promise<number[]> {
  const losses: number[] = [];
  for (let step = 0; step < steps; step++) {
    const batch: Demonstration[] = [];
    while (batch.length < batchSize) {
      const next = source.next();
      if (next.done) break;
      batch.push(next.value);
    }
    if (batch.length === 0) break;
    const own = batch.reduce((sum, { weights }) => sum + weights.reduce((a, b) => a + b, 0), 0);
    const rise = (step + 1) / Math.max(1, steps * riseShare);
    const fall = (steps - step) / (steps * (1 - riseShare));
    const stats = await policy.trainStep(
      batch.map(({ tokens, weights }) => ({ tokens, weights: weights.map((weight) => weight / own) })),
      { kind: 'sft' },
      {
        learningRate: peakRate * Math.min(1, rise, fall),
        beta1: 0.9,
        beta2: 0.95,
        eps: 1e-8,
        weightDecay: 0,
        maxGradNorm: 1,
      },
    );
    losses.push(stats.loss);
    await onStep?.(step + 1, steps, stats);
  }
  return losses;
}
