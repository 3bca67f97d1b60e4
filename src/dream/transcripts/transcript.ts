/**
 * @file One growing conversation between a model and its world, as token ids.
 *
 * Tokens in, tokens out: ids are appended as they were sampled or encoded and never become text and back. Two kinds of
 * spans follow each other: `given` (prompt, observation, retrieved memory: never in a policy loss) and `own` (what the
 * model itself said, with the log-probability it had when it was sampled).
 */
import type { TrainSequence } from '../../nn/language-model';

export interface Span {
  /** Index of the first token and one past the last. */
  start: number;
  end: number;
}

export class Transcript {
  readonly tokens: number[] = [];
  /** Loss weight of predicting each token; 0 for given tokens. */
  readonly weights: number[] = [];
  /** Log-probability at sampling time; 0 for given tokens and where it is not known (offline data). */
  readonly logProbs: number[] = [];
  /** The model's own spans in order: one per turn. */
  readonly own: Span[] = [];

  get length(): number {
    return this.tokens.length;
  }

  /** Appends tokens the model did not choose. */
  give(tokens: readonly number[]): this {
    for (const token of tokens) {
      this.tokens.push(token);
      this.weights.push(0);
      this.logProbs.push(0);
    }
    return this;
  }

  /**
   * Appends one span of the model's own tokens.
   * @param logProbs as reported by the sampler; left out for offline data.
   * @param weights loss weight per token; 1 each when left out.
   */
  say(tokens: readonly number[], logProbs?: readonly number[], weights?: readonly number[]): this {
    const start = this.tokens.length;
    for (const [i, token] of tokens.entries()) {
      this.tokens.push(token);
      this.weights.push(weights ? weights[i] : 1);
      this.logProbs.push(logProbs ? logProbs[i] : 0);
    }
    this.own.push({ start, end: this.tokens.length });
    return this;
  }

  /** A training sequence (views, not copies, of plain arrays: do not append while it is in use). */
  toSequence(): TrainSequence {
    return { tokens: this.tokens, weights: this.weights, oldLogProbs: this.logProbs };
  }

  /** Compact arrays for data sets that hold many thousand episodes. */
  toArrays(): SequenceArrays {
    return { tokens: Int32Array.from(this.tokens), weights: Float32Array.from(this.weights) };
  }
}

/** A stored training sequence: both arrays have the same length. */
export interface SequenceArrays {
  tokens: Int32Array;
  weights: Float32Array;
}

/** The outcome of reading sampled tokens: malformed output is an ordinary value, counted by the caller, never thrown. */
export type Parsed<T> = ({ ok: true } & T) | { ok: false; why: MalformedReason };

export type MalformedReason =
  /** The token limit or the context ended the generation before a stop token. */
  | 'unfinished'
  /** No `</t>`: the reasoning never ended. */
  | 'no-reasoning-end'
  /** Nothing stands between `</t>` and the stop token. */
  | 'empty'
  /** A structural token stands where words belong. */
  | 'stray-control-token'
  /** It is not a sentence of the world's grammar. */
  | 'not-grammatical'
  /** The reasoning and the flag contradict each other, or a reward was given for nothing. */
  | 'inconsistent';
