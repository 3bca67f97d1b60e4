/**
 * @file Direct preference optimisation (Rafailov et al. 2023) on pairs of episodes of one task: no reward, no rollouts while
 * learning, only "this rather than that".
 *
 * A pair's loss needs the log-probabilities of both episodes before either can be learned from, and they may lie in
 * different passes. So the policy scores first, the kernel turns scores into one weight per token, and an SFT step with
 * these (signed) weights is DPO's gradient, exactly.
 */
import type { LanguageModel } from '../nn/language-model';
import { joined, offsets, split } from './credit';
import { DivergenceGuard } from './divergence';
import { miniBatchesOf, rlOptimizer } from './optimizer';
import type { ReferenceScorer } from './policy-update';
import type { Rollout, TokenStream } from './rollout';

/** Two episodes of one task, the first to be preferred. Serialisable. */
export interface PreferencePair {
  /** The task's id. */
  task: string;
  chosen: TokenStream;
  rejected: TokenStream;
}

export interface DpoSettings {
  /** How dear it is to leave the reference; 0.1 in the paper. */
  beta: number;
  /** Share of pairs believed to be the wrong way round; 0 = none. */
  labelSmoothing: number;
  learningRate: number;
  miniBatches: number;
}

export const dpoDefaults: DpoSettings = { beta: 0.1, labelSmoothing: 0, learningRate: 1e-4, miniBatches: 1 };

/** Sequences end to end, chosen and rejected in turn. */
export interface DpoBatch {
  /** u32 [2 pairs + 1]. */
  starts: Uint32Array;
  /** [n]. */
  logProbs: Float32Array;
  /** [n]. */
  refLogProbs: Float32Array;
  /** [n]: 1 = the policy's word. */
  mask: Uint32Array;
}

/** `pairStats` [pairs, 4]: loss, reward of the chosen, of the rejected, margin. */
export type DpoKernel = (
  batch: DpoBatch,
  settings: { beta: number; labelSmoothing: number },
) => Promise<{ tokenWeights: Float32Array; pairStats: Float32Array }>;

export interface DpoReport {
  pairs: number;
  steps: number;
  skipped: number;
  loss: number;
  /** Share of pairs whose chosen episode already has the larger reward. */
  accuracy: number;
  /** Mean of beta (log-ratio of chosen - log-ratio of rejected). */
  margin: number;
  gradNorm: number;
  tokens: number;
}

export interface DpoInput {
  policy: Pick<LanguageModel, 'score' | 'trainStep'>;
  /** The policy before learning. */
  reference: ReferenceScorer;
  pairs: readonly PreferencePair[];
  settings: DpoSettings;
  kernel: DpoKernel;
  shuffle: <T>(items: readonly T[]) => T[];
  /** Skipped steps that ended the update before. */
  skippedInARow?: number;
  onMiniBatch?: (done: number, total: number) => Promise<void> | void;
}

/** One pass over the pairs. Throws DreamError `training-diverged`. */
export async function dpoUpdate(input: DpoInput): Promise<DpoReport & { skippedInARow: number }> {
  const { policy, settings } = input;
  const batches = miniBatchesOf(input.shuffle(input.pairs), settings.miniBatches);
  const guard = new DivergenceGuard(input.skippedInARow);
  const optimizer = { ...rlOptimizer, learningRate: settings.learningRate };
  const totals = { loss: 0, correct: 0, margin: 0, gradNorm: 0, tokens: 0 };
  let [done, counted] = [0, 0];
  for (const [i, batch] of batches.entries()) {
    const streams = batch.flatMap(({ chosen, rejected }) => [chosen, rejected]);
    const tokens = streams.map((stream) => stream.tokens);
    const starts = offsets(tokens.map((t) => t.length));
    const mask = Uint32Array.from(streams.flatMap((s) => s.turns.map((turn, t) => (turn >= 0 && t > 0 ? 1 : 0))));
    // One after the other: they may be views of the same model.
    const logProbs = joined(await policy.score(tokens));
    const refLogProbs = joined(await input.reference(tokens));
    const { tokenWeights, pairStats } = await input.kernel({ starts, logProbs, refLogProbs, mask }, settings);
    const weights = split(tokenWeights, starts);
    const step = await policy.trainStep(
      tokens.map((t, s) => ({ tokens: t, weights: weights[s] })),
      { kind: 'sft' },
      optimizer,
    );
    guard.note(step);
    done++;
    if (step.applied) {
      counted += batch.length;
      totals.gradNorm += step.gradNorm * batch.length;
      totals.tokens += tokens.reduce((sum, t) => sum + t.length, 0);
      batch.forEach((_, p) => {
        totals.loss += pairStats[4 * p];
        totals.correct += pairStats[4 * p + 3] > 0 ? 1 : 0;
        totals.margin += pairStats[4 * p + 3];
      });
    }
    await input.onMiniBatch?.(i + 1, batches.length);
  }
  const mean = (sum: number) => (counted === 0 ? 0 : sum / counted);
  return {
    pairs: input.pairs.length,
    steps: done,
    skipped: guard.skipped,
    loss: mean(totals.loss),
    accuracy: mean(totals.correct),
    margin: mean(totals.margin),
    gradNorm: mean(totals.gradNorm),
    tokens: totals.tokens,
    skippedInARow: guard.inARow,
  };
}

/**
 * A success beside a failure of the same group, as many pairs as the smaller side has (at most `perGroup`), in order.
 * Lost episodes and groups that all won or all lost give none.
 */
export function preferencePairs(rollouts: readonly Rollout[], perGroup = Number.POSITIVE_INFINITY): PreferencePair[] {
  const groups = new Map<number, { won: Rollout[]; failed: Rollout[] }>();
  for (const rollout of rollouts) {
    const { lost, group, success } = rollout.trajectory;
    if (lost) continue;
    const sides = groups.get(group) ?? { won: [], failed: [] };
    groups.set(group, sides);
    (success ? sides.won : sides.failed).push(rollout);
  }
  return [...groups.values()].flatMap(({ won, failed }) =>
    won
      .slice(0, Math.min(failed.length, perGroup))
      .map((chosen, i) => ({ task: chosen.trajectory.task.id, chosen: chosen.stream, rejected: failed[i].stream })),
  );
}
