/**
 * @file What the layers above (rl, dream) may ask of a language model on the GPU.
 *
 * Tokens in, tokens out: nothing here knows text. `nn/decoder-model.ts` implements it on WebGPU; tests implement it
 * with a few lines of plain code.
 */

export interface SamplingOptions {
  /** 0 = greedy. Log-probabilities are always reported under the full softmax at temperature 1. */
  temperature: number;
  /** 0 = off. */
  topK?: number;
  /** 1 = off. */
  topP?: number;
  /** Least probability, as a share of the likeliest token's (at this temperature). 0 = off. */
  minP?: number;
  /** Counter-based: same seed, same stream, same position = same draw, whatever else is in the batch. */
  seed: number;
  /** Generation ends after any of these (at most 4). */
  stopTokens: readonly number[];
  maxNewTokens: number;
  /** What keys a stream's random draws instead of its number: whoever moves between streams keeps its own. */
  keyOf?: (stream: number) => number;
  /**
   * Which tokens a stream may draw next, given those drawn so far; null = any. The CPU is then asked at every token.
   * Log-probabilities stay those of the full softmax.
   */
  allowed?: (stream: number, drawn: readonly number[]) => readonly number[] | null;
  /**
   * Called with a stream's tokens so far whenever the CPU has looked (every few tokens): to show them as they come. True
   * ends that stream; tokens drawn since the reason for it stay in the result.
   */
  onTokens?: (stream: number, drawn: readonly number[]) => boolean | undefined;
}

export interface Generated {
  /** Sampled ids, including the stop token when it was reached. */
  tokens: number[];
  /** Log-probability of each sampled token at temperature 1. */
  logProbs: number[];
  /** False when `maxNewTokens` (or the context) ended it. */
  stopped: boolean;
}

/** A set of streams, each with its own row of the KV cache: append text, generate, append more. */
export interface Sessions {
  readonly count: number;
  readonly contextLength: number;
  /** Tokens already in stream i (appended or generated). */
  length(stream: number): number;
  /** Queue tokens on streams; computed lazily, all together, at the next `generate`. */
  append(stream: number, tokens: readonly number[]): void;
  /** Generates on the given streams in one batch. Order of the result follows `streams`. */
  generate(streams: readonly number[], options: SamplingOptions): Promise<Generated[]>;
  /**
   * The contents of one stream become those of others, computed once: a group's common prompt. What they held is
   * forgotten.
   */
  copy(from: number, to: readonly number[]): Promise<void>;
  /** Forget stream i's contents. */
  clear(stream: number): void;
  dispose(): void;
}

/** One training sequence. All arrays have the length of `tokens`; index t speaks of predicting tokens[t]. */
export interface TrainSequence {
  tokens: readonly number[];
  /** Loss weight of predicting token t (0 = masked: observations, prompts). Index 0 is ignored. */
  weights: ArrayLike<number>;
  /** Policy loss only: log-probability at sampling time. */
  oldLogProbs?: ArrayLike<number>;
  /** Policy loss only, when klCoef > 0: log-probability under the reference. */
  refLogProbs?: ArrayLike<number>;
  /** Policy loss only: advantage per token. */
  advantages?: ArrayLike<number>;
  /** Sequence-level ratios only: the sample each token belongs to; neighbours of one number share a ratio. Default: all one. */
  samples?: ArrayLike<number>;
  /** With a critic: V(what stood before token t) at rollout time. */
  oldValues?: ArrayLike<number>;
  /** With a critic: what V should have been. */
  returns?: ArrayLike<number>;
  /** With a critic: weight of V's error at token t, where `weights` is not 0. Default: `weights`. */
  valueWeights?: ArrayLike<number>;
}

/** A value head on the trunk's last hidden state learns beside the policy. */
export interface CriticSettings {
  /** How far V may move from `oldValues` in one batch before its error is no longer followed; 0 = off. */
  valueClip: number;
  /** Share of the value loss' gradient that goes on into the trunk; 0 = only the head learns. */
  trunkCoef: number;
  /** The head's own; its optimiser and gradient norm are its own too. */
  learningRate: number;
}

export type Loss =
  | { kind: 'sft' }
  | {
      kind: 'policy';
      clipLow: number;
      clipHigh: number;
      klCoef: number;
      entropyCoef: number;
      dualClip: number;
      /** Of the KL term; k3 by default. */
      klEstimator?: 'k1' | 'k2' | 'k3';
      /** One ratio per token (default), or per sample. */
      importance?: 'token' | 'sequence';
      critic?: CriticSettings;
    };

export interface OptimizerSettings {
  learningRate: number;
  beta1: number;
  beta2: number;
  eps: number;
  weightDecay: number;
  /** Global-norm clipping; 0 = off. */
  maxGradNorm: number;
}

export interface TrainStats {
  /** Weighted loss, as minimised. */
  loss: number;
  gradNorm: number;
  /** Means over the loss-bearing tokens (weight > 0). */
  entropy: number;
  /** k3 estimate against old log-probs (policy loss), 0 for SFT. */
  kl: number;
  clipFraction: number;
  /** The part of clipFraction whose ratio was too large. */
  clipFractionHigh?: number;
  /** Mean KL estimate against the reference, where there is one. */
  refKl?: number;
  /** Of the critic, where it learned: weighted loss, share of clipped errors, mean |V - return|. */
  value?: { loss: number; clipFraction: number; error: number };
  /** Mean |log-prob now - log-prob at sampling| on the first use of a batch shows the sampler-trainer gap. */
  logProbGap: number;
  tokens: number;
  /** False when loss or gradient was not finite: the step was skipped and the weights are unchanged. */
  applied: boolean;
}

export interface LanguageModel {
  readonly vocabSize: number;
  readonly contextLength: number;
  /** Sessions keep using the model's current weights; after a training step clear and re-append. */
  sessions(count: number): Sessions;
  /** Log-probabilities [len] per sequence (index 0 is 0). Used for references and for scoring. */
  score(sequences: readonly (readonly number[])[]): Promise<Float32Array[]>;
  /**
   * The critic's V [len] per sequence; index t speaks of what stood before tokens[t], index 0 is 0. A model that has not
   * met a critic yet gets one that says 0. Absent where a model cannot have one.
   */
  values?(sequences: readonly (readonly number[])[]): Promise<Float32Array[]>;
  /** One optimiser step. Each sequence's weights must already carry the aggregation (they are summed, not averaged). */
  trainStep(sequences: readonly TrainSequence[], loss: Loss, optimizer: OptimizerSettings): Promise<TrainStats>;
  /** Mean-pooled final hidden states [n, width], for retrieval. */
  embed(sequences: readonly (readonly number[])[]): Promise<Float32Array[]>;
  /** Bytes for a checkpoint: named f32 tensors, weights and (optionally) optimiser state. */
  exportState(withOptimizer: boolean): Promise<ModelState>;
  importState(state: ModelState): Promise<void>;
  dispose(): void;
}

export interface ModelState {
  step: number;
  weights: Map<string, Float32Array>;
  moments1?: Map<string, Float32Array>;
  moments2?: Map<string, Float32Array>;
}
