/**
 * @file Supervised fine-tuning: -w log p of the tokens that are to be learned. The mask is the stream's: the world's words
 * (turn -1) bear no loss, the others do. For an experience model these are its reasoning and the next state (DreamGym,
 * Eq. 5); for a policy a demonstrator's actions.
 */
import type { LanguageModel, TrainStats } from '../nn/language-model';
import { type Aggregation, lossWeights, type SampleUnit } from './aggregation';
import { DivergenceGuard } from './divergence';
import { miniBatchesOf, rlOptimizer } from './optimizer';
import type { TokenStream } from './rollout';

export interface SftSettings {
  learningRate: number;
  miniBatches: number;
  aggregation: Aggregation;
  sampleUnit: SampleUnit;
}

export const sftDefaults: SftSettings = {
  learningRate: 3e-4,
  miniBatches: 1,
  aggregation: 'token-mean',
  sampleUnit: 'episode',
};

export interface SftReport {
  steps: number;
  skipped: number;
  /** Mean -log p per learned token (token-mean), in nats. */
  loss: number;
  gradNorm: number;
  /** Tokens read. */
  tokens: number;
  skippedInARow: number;
}

export interface SftInput {
  policy: Pick<LanguageModel, 'trainStep'>;
  streams: readonly Pick<TokenStream, 'tokens' | 'logProbs' | 'turns'>[];
  settings: SftSettings;
  shuffle: <T>(items: readonly T[]) => T[];
  skippedInARow?: number;
  onMiniBatch?: (done: number, total: number) => Promise<void> | void;
}

/** One pass over the streams; those without a token to learn are left out. Throws DreamError `training-diverged`. */
export async function sftUpdate(input: SftInput): Promise<SftReport> {
  const { policy, settings } = input;
  const taught = input.streams.filter(({ turns }) => turns.some((turn, t) => turn >= 0 && t > 0));
  const batches = miniBatchesOf(input.shuffle(taught), settings.miniBatches);
  const guard = new DivergenceGuard(input.skippedInARow);
  const optimizer = { ...rlOptimizer, learningRate: settings.learningRate };
  const applied: TrainStats[] = [];
  for (const [i, batch] of batches.entries()) {
    // The horizon is sequence-sum-norm's alone: the longest sample, so that weights are at most a mean's.
    const horizon = Math.max(...batch.map(({ tokens }) => tokens.length));
    const weights = lossWeights(batch, settings.aggregation, settings.sampleUnit, horizon);
    const step = await policy.trainStep(
      batch.map(({ tokens }, s) => ({ tokens, weights: weights[s] })),
      { kind: 'sft' },
      optimizer,
    );
    guard.note(step);
    if (step.applied) applied.push(step);
    await input.onMiniBatch?.(i + 1, batches.length);
  }
  const mean = (pick: (s: TrainStats) => number) =>
    applied.length === 0 ? 0 : applied.reduce((sum, s) => sum + pick(s), 0) / applied.length;
  return {
    steps: batches.length,
    skipped: guard.skipped,
    loss: mean((s) => s.loss),
    gradNorm: mean((s) => s.gradNorm),
    tokens: taught.reduce((sum, { tokens }) => sum + tokens.length, 0),
    skippedInARow: guard.inARow,
  };
}
