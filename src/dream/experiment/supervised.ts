/**
 * @file Supervised stages: a number of updates on sequences, the same course of the learning rate for all of them.
 *
 * Rows that differ in what they learn from must not differ in how: warm-up over a tenth of the updates, then linear to
 * zero, AdamW as in pretraining. `updates` x `tokensPerUpdate` is the budget that Early Experience keeps equal.
 */

import { DreamError } from '../../data/errors';
import type { WorldSize } from '../../envs/household';
import type { LanguageModel, TrainSequence } from '../../nn/language-model';
import { DivergenceGuard } from '../../rl/divergence';
import { rlOptimizer } from '../../rl/optimizer';
import { policySequences } from '../offline';
import { Draws, deriveSeed } from '../random';
import type { StageContext, StageReport } from './stage';

/** Tokens with their loss weights (0 = not learned), before they are scaled to a mean over the update. */
export interface WeightedSequence {
  tokens: ArrayLike<number>;
  weights: ArrayLike<number>;
}

interface Budget {
  updates: number;
  tokensPerUpdate: number;
  learningRate: number;
}

const size: WorldSize = 'small';

/** Share of the peak rate at update `i` of `n`. */
export function courseOfRate(i: number, n: number): number {
  const warmup = Math.max(1, Math.ceil(n / 10));
  return i < warmup ? (i + 1) / warmup : (n - i) / Math.max(1, n - warmup);
}

/** Updates from `next`, which gives sequence after sequence without end. Returns the mean loss of the last tenth. Throws `training-diverged`. */
export async function learn(
  model: Pick<LanguageModel, 'trainStep'>,
  next: () => WeightedSequence,
  budget: Budget,
  onProgress: StageContext['onProgress'],
): Promise<{ loss: number; tokens: number; skipped: number }> {
  const { updates, tokensPerUpdate, learningRate } = budget;
  const guard = new DivergenceGuard();
  let tokens = 0;
  const tail: number[] = [];
  for (let i = 0; i < updates; i++) {
    await onProgress(i / updates, `update ${i + 1} of ${updates}`);
    const batch: WeightedSequence[] = [];
    for (let length = 0; length < tokensPerUpdate; length += batch.at(-1)!.tokens.length) batch.push(next());
    tokens += batch.reduce((sum, one) => sum + one.tokens.length, 0);
    const total = batch.reduce((sum, { weights }) => sum + Array.from(weights).reduce((a, b) => a + b, 0), 0);
    const sequences = batch.map(
      (one): TrainSequence => ({
        tokens: Array.from(one.tokens),
        weights: Float32Array.from(one.weights, (weight) => weight / total),
      }),
    );
    const optimizer = { ...rlOptimizer, learningRate: learningRate * courseOfRate(i, updates) };
    const stats = await model.trainStep(sequences, { kind: 'sft' }, optimizer);
    guard.note(stats);
    if (stats.applied && i >= Math.min(updates - 1, updates * 0.9)) tail.push(stats.loss);
  }
  return { loss: tail.reduce((a, b) => a + b, 0) / Math.max(1, tail.length), tokens, skipped: guard.skipped };
}

/** Endless draws from a list, each once before any twice. Throws `no-data` for an empty one. */
export function endless<T>(items: readonly T[], seed: number, what: string): () => T {
  if (items.length === 0)
    throw new DreamError('no-data', `There is nothing to learn from: no ${what}.`, 'Ask for more tasks or updates.');
  let round = 0;
  let order: T[] = [];
  return () => {
    if (order.length === 0) order = new Draws(deriveSeed(seed, 'order', round++)).shuffled(items);
    return order.pop()!;
  };
}

/** Successful demonstrations of the warm start's own demonstrator that the warm start has not seen. */
export function demonstrations(episodes: number, seed: number): WeightedSequence[] {
  return policySequences(size, { episodes, seed: deriveSeed(seed, 'demonstrations') });
}

/** Tokens of a demonstration, about: enough of them are made to last for the budget. */
const demonstrationTokens = 150;

export async function runSft(context: StageContext, stage: Budget): Promise<StageReport> {
  const episodes = Math.ceil((stage.updates * stage.tokensPerUpdate) / demonstrationTokens);
  const sequences = demonstrations(episodes, context.seed);
  const { loss, tokens, skipped } = await learn(
    context.policy,
    endless(sequences, context.seed, 'demonstrations'),
    stage,
    context.onProgress,
  );
  return {
    updates: stage.updates,
    realTransitions: transitionsIn(sequences),
    dreamedTransitions: 0,
    facts: { loss, tokens, skipped, episodes: sequences.length },
  };
}

/** Turns of the agent: spans of learned tokens. */
export function transitionsIn(sequences: readonly WeightedSequence[]): number {
  let turns = 0;
  for (const { weights } of sequences)
    for (let t = 0; t < weights.length; t++) if (weights[t] > 0 && (t === 0 || weights[t - 1] === 0)) turns++;
  return turns;
}
