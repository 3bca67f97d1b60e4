/**
 * @file Demonstrations of any world, told exactly as a rollout would be, with the loss on the agent's own words; and the steps of
 * imitation that run before the first iteration.
 */
import type { Trajectory } from '../../data/trajectory';
import type { LanguageModel, TrainStats } from '../../nn/language-model';
import type { Domain } from '../domain';
import type { ChatTurns } from '../text-household/chat-turns';
import type { TextSettings } from '../text-household/settings';
import { demonstratedTurn } from './policy';

/** Demonstrations of one step. */
const batchSize = 2;
/** Peak rate of the adapter; LoRA takes ten times what the base would. Rises over a tenth of the steps, then falls. */
const peakRate = 1e-3;
const riseShare = 0.1;
/** For players that say nothing of what they think. */
const silentThought = 'I go on.';

export interface Demonstration {
  tokens: number[];
  /** 1 on the agent's own words, else 0. */
  weights: number[];
}

/** Turns beyond `contextLength` are left out, and so is the last observation: nobody acts on it. */
export function demonstration(
  domain: Pick<Domain, 'dialect' | 'admissible'>,
  turns: ChatTurns,
  settings: TextSettings,
  { task, firstObservation, turns: played }: Trajectory,
  contextLength: number,
): Demonstration {
  const role = domain.dialect.policy;
  const possible = (count: number) => domain.admissible?.(firstObservation, played.slice(0, count));
  const tokens = role.opening(task, firstObservation, possible(0));
  const weights = tokens.map(() => 0);
  for (const [i, { thought, action, observation }] of played.entries()) {
    // As the policy would choose it: players write names as they are printed, lists of actions in lower case.
    const offered = possible(i)?.find((each) => each.toLowerCase() === action.toLowerCase());
    const words = demonstratedTurn(turns, settings, thought || silentThought, offered ?? action);
    if (tokens.length + words.length > contextLength) break;
    tokens.push(...words);
    for (const _ of words) weights.push(1);
    if (i === played.length - 1) break;
    const reply = role.reply(words, observation, possible(i + 1));
    if (tokens.length + reply.length > contextLength) break;
    tokens.push(...reply);
    for (const _ of reply) weights.push(0);
  }
  return { tokens, weights };
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
