/**
 * @file What a learner needs of an episode: the record people read, and the very tokens the policy read and wrote.
 *
 * Text is never tokenised again after sampling (TRL #5224: decode + encode is not the identity), so the token stream
 * travels next to the trajectory from the sampler to the loss.
 */
import type { Trajectory } from '../data/trajectory';

/** The policy's whole context of one episode, linear in time. All arrays have the same length. */
export interface TokenStream {
  tokens: number[];
  /** Log-probability at sampling time (full softmax, temperature 1); 0 where the token was not sampled. */
  logProbs: number[];
  /** The turn in which the policy sampled the token; -1 for prompts and observations, which bear no loss. */
  turns: number[];
}

export interface Rollout {
  trajectory: Trajectory;
  stream: TokenStream;
}

export function emptyStream(): TokenStream {
  return { tokens: [], logProbs: [], turns: [] };
}

/** Text of the world: masked out of the loss. */
export function appendObserved(stream: TokenStream, tokens: readonly number[]): void {
  for (const token of tokens) {
    stream.tokens.push(token);
    stream.logProbs.push(0);
    stream.turns.push(-1);
  }
}

/** The policy's own words. */
export function appendSampled(
  stream: TokenStream,
  tokens: readonly number[],
  logProbs: ArrayLike<number>,
  turn: number,
): void {
  for (let i = 0; i < tokens.length; i++) {
    stream.tokens.push(tokens[i]);
    stream.logProbs.push(logProbs[i]);
    stream.turns.push(turn);
  }
}
