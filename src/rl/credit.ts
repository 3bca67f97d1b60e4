/**
 * @file Who is praised for a reward: the advantage estimators, each a few calls of kernels over all episodes at once.
 *
 * An episode is a stream of tokens; the world's words between the policy's are masked. Rewards stand at the last token of
 * the turn that earned them. Discounts count turns, not words: inside a turn time stands still (mask 2).
 */
import type { AdvantageKernels, GroupBaseline } from './advantage-kernels';
import type { LearnerSettings } from './algorithms';
import { anchorKeys } from './anchors';
import { explainedVariance } from './critic';
import { denseIds, discountedReturn } from './groups';
import type { Rollout, TokenStream } from './rollout';

export interface Credit {
  /** Per stream and token; 0 on the world's words. */
  advantages: Float32Array[];
  /** The critic's lesson, where there is a critic. */
  value?: { old: Float32Array[]; returns: Float32Array[]; explainedVariance: number | null };
}

export interface CreditInput {
  rollouts: readonly Rollout[];
  settings: Pick<
    LearnerSettings,
    'advantage' | 'normalization' | 'discount' | 'stepDiscount' | 'stepWeight' | 'gaeLambda' | 'valueLevel'
  >;
  kernels: AdvantageKernels;
  /** Price of each token (KL in the reward), per stream. */
  prices?: readonly Float32Array[];
  /** The critic's V per stream; `gae` needs them. */
  values?: readonly Float32Array[];
  /** Streams that will bear no loss: they take no part in whitening. */
  muted: readonly boolean[];
}

export function estimateCredit(input: CreditInput): Promise<Credit> {
  switch (input.settings.advantage) {
    case 'group':
      return ofEpisodes(input, input.settings.normalization);
    case 'leave-one-out':
      return ofEpisodes(input, 'leave-one-out');
    case 'whitened-group':
      return whitened(input, ofEpisodes(input, 'group-mean'));
    case 'whitened-returns':
      return whitened(input, followingReturns(input));
    case 'anchor-groups':
      return ofAnchors(input);
    case 'gae':
      return input.settings.valueLevel === 'turn' ? turnGae(input) : tokenGae(input);
  }
}

/** Advantage of each rollout against its group: [rollouts]. */
function episodeAdvantages({ rollouts, settings, kernels, prices }: CreditInput, baseline: GroupBaseline) {
  const returns = Float32Array.from(rollouts, ({ trajectory }, i) => {
    const price = prices?.[i].reduce((a, b) => a + b, 0) ?? 0;
    return discountedReturn(trajectory, settings.discount) - price;
  });
  return kernels.group(returns, denseIds(rollouts.map((r) => r.trajectory.group)), baseline);
}

/** The same for every token of an episode. */
async function ofEpisodes(input: CreditInput, baseline: GroupBaseline): Promise<Credit> {
  const own = await episodeAdvantages(input, baseline);
  return { advantages: input.rollouts.map(({ stream }, i) => perToken(stream, () => own[i])) };
}

/** GiGPO: A = A(episode) + omega A(turn among the turns that saw the same). */
async function ofAnchors(input: CreditInput): Promise<Credit> {
  const { rollouts, settings, kernels } = input;
  const episodes = await episodeAdvantages(input, settings.normalization);
  const trajectories = rollouts.map((r) => r.trajectory);
  const starts = offsets(trajectories.map((t) => t.turns.length));
  const rewards = Float32Array.from(trajectories.flatMap((t) => t.turns.map((turn) => turn.reward)));
  const mask = new Uint32Array(rewards.length).fill(1);
  const returns = await kernels.returns({ starts, mask, rewards }, settings.stepDiscount);
  const steps = await kernels.group(returns, denseIds(anchorKeys(trajectories)), settings.normalization);
  return {
    advantages: rollouts.map(({ stream }, i) =>
      perToken(stream, (turn) => Math.fround(episodes[i] + settings.stepWeight * (steps[starts[i] + turn] ?? 0))),
    ),
  };
}

/** REINFORCE++: what followed each token. */
async function followingReturns(input: CreditInput): Promise<Credit> {
  const tokens = tokenEntries(input);
  const returns = await input.kernels.returns(tokens, input.settings.stepDiscount);
  return { advantages: split(masked(returns, tokens.mask), tokens.starts) };
}

async function tokenGae(input: CreditInput): Promise<Credit> {
  const { rollouts, kernels, settings } = input;
  const tokens = tokenEntries(input);
  const values = joined(criticOf(input));
  const { advantages, returns } = await kernels.gae({ ...tokens, values }, settings.stepDiscount, settings.gaeLambda);
  const acting = [...tokens.mask.keys()].filter((t) => tokens.mask[t] !== 0);
  const white = await whitened(input, Promise.resolve({ advantages: split(advantages, tokens.starts) }));
  return {
    ...white,
    value: {
      old: rollouts.map((_, i) => criticOf(input)[i]),
      returns: split(returns, tokens.starts),
      explainedVariance: explainedVariance(
        acting.map((t) => values[t]),
        acting.map((t) => returns[t]),
      ),
    },
  };
}

/** One value per turn, that of its first token; the turn's advantage is all its tokens'. */
async function turnGae(input: CreditInput): Promise<Credit> {
  const { rollouts, kernels, settings, prices } = input;
  const critic = criticOf(input);
  const turns = rollouts.map((rollout) => turnSpans(rollout.stream));
  const starts = offsets(turns.map((spans) => spans.length));
  const mask = new Uint32Array(starts.at(-1)!).fill(1);
  const rewards = new Float32Array(mask.length);
  const values = new Float32Array(mask.length);
  turns.forEach((spans, i) => {
    spans.forEach(({ first, tokens }, k) => {
      values[starts[i] + k] = critic[i][first];
      const price = prices ? tokens.reduce((sum, t) => sum + prices[i][t], 0) : 0;
      rewards[starts[i] + k] = turnReward(rollouts[i], spans, k) - price;
    });
  });
  const { advantages, returns } = await kernels.gae(
    { starts, mask, rewards, values },
    settings.stepDiscount,
    settings.gaeLambda,
  );
  const spread = (of: Float32Array): Float32Array[] =>
    rollouts.map(({ stream }, i) => {
      const index = new Map(turns[i].map((span, k) => [span.turn, starts[i] + k]));
      return perToken(stream, (turn) => of[index.get(turn)!]);
    });
  const white = await whitened(input, Promise.resolve({ advantages: spread(advantages) }));
  return {
    ...white,
    value: { old: [...critic], returns: spread(returns), explainedVariance: explainedVariance(values, returns) },
  };
}

/** Over the batch's loss-bearing tokens: mean 0, variance 1. */
async function whitened({ rollouts, kernels, muted }: CreditInput, credit: Promise<Credit>): Promise<Credit> {
  const { advantages } = await credit;
  const mask = Uint32Array.from(rollouts.flatMap(({ stream }, i) => [...actingMask(stream, muted[i])]));
  const white = await kernels.whiten(joined(advantages), mask);
  return { advantages: split(white, offsets(advantages.map((a) => a.length))) };
}

function criticOf({ values }: CreditInput): readonly Float32Array[] {
  if (!values) throw new Error('gae without values');
  return values;
}

// --- streams as arrays -----------------------------------------------------------------------------------------------

/** Index 0 is never predicted, so it can bear no loss and no credit. */
const acts = (turn: number, t: number): boolean => turn >= 0 && t > 0;

function perToken(stream: TokenStream, value: (turn: number) => number): Float32Array {
  return Float32Array.from(stream.turns, (turn) => (turn < 0 ? 0 : value(turn)));
}

function actingMask(stream: TokenStream, muted: boolean): Uint32Array {
  return Uint32Array.from(stream.turns, (turn, t) => (acts(turn, t) && !muted ? 1 : 0));
}

interface TurnSpan {
  turn: number;
  first: number;
  tokens: number[];
}

/** The turns that have tokens, in order. */
function turnSpans(stream: TokenStream): TurnSpan[] {
  const spans: TurnSpan[] = [];
  stream.turns.forEach((turn, t) => {
    if (!acts(turn, t)) return;
    if (spans.at(-1)?.turn === turn) spans.at(-1)!.tokens.push(t);
    else spans.push({ turn, first: t, tokens: [t] });
  });
  return spans;
}

/** What turn k earned; a wordless turn's reward goes to the last words before it. */
function turnReward({ trajectory }: Rollout, spans: readonly TurnSpan[], k: number): number {
  const end = spans[k + 1]?.turn ?? trajectory.turns.length;
  const from = k === 0 ? 0 : spans[k].turn;
  return trajectory.turns.slice(from, end).reduce((sum, turn) => sum + turn.reward, 0);
}

/** All streams end to end: rewards at the ends of turns, prices everywhere. */
function tokenEntries({ rollouts, prices }: CreditInput) {
  const starts = offsets(rollouts.map(({ stream }) => stream.tokens.length));
  const rewards = new Float32Array(starts.at(-1)!);
  const mask = new Uint32Array(rewards.length);
  rollouts.forEach((rollout, i) => {
    const spans = turnSpans(rollout.stream);
    spans.forEach(({ tokens }, k) => {
      for (const t of tokens) {
        mask[starts[i] + t] = 2;
        rewards[starts[i] + t] = -(prices?.[i][t] ?? 0);
      }
      const last = starts[i] + tokens.at(-1)!;
      mask[last] = 1;
      rewards[last] += turnReward(rollout, spans, k);
    });
  });
  return { starts, rewards, mask };
}

function masked(values: Float32Array, mask: Uint32Array): Float32Array {
  return values.map((value, i) => (mask[i] === 0 ? 0 : value));
}

export function offsets(lengths: readonly number[]): Uint32Array {
  const starts = new Uint32Array(lengths.length + 1);
  lengths.forEach((length, i) => {
    starts[i + 1] = starts[i] + length;
  });
  return starts;
}

export function joined(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export function split(all: Float32Array, starts: Uint32Array): Float32Array[] {
  return Array.from({ length: starts.length - 1 }, (_, i) => all.slice(starts[i], starts[i + 1]));
}
