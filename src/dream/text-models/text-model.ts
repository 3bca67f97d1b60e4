/**
 * @file A model that is spoken to in text: messages in, an answer out.
 *
 * The engine's own `LanguageModel` works on tokens and can be trained; a model behind an endpoint, in ONNX Runtime or in
 * the browser itself offers no such thing. What all of them can do is dream, and dreaming asks for no more than this.
 * What comes back is hostile text: it is parsed or shown as text, and never becomes markup or code.
 */

export type TextModelKind = 'engine' | 'transformers' | 'endpoint' | 'built-in';

export interface TextMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

export interface TextRequest {
  messages: readonly TextMessage[];
  /** Upper bound on the answer's length in the model's own tokens. */
  maxTokens: number;
  /** 0 = greedy. */
  temperature: number;
  /** Honoured where the model can be seeded; `limits.reason` says where it cannot. */
  seed?: number;
  /** The answer ends before the first of these. */
  stop?: readonly string[];
}

export interface TextToken {
  text: string;
  logProb: number;
}

export interface TextCompletion {
  text: string;
  /** `length`: cut by `maxTokens`, or the prompt did not fit (then `text` is empty). `filtered`: withheld by the server. */
  finishReason: 'stop' | 'length' | 'filtered';
  /** Only where `limits.logProbabilities` is true. */
  tokens?: TextToken[];
  /** Absent where the model does not tell. */
  generatedTokens?: number;
}

/** What this kind of model cannot do, for the page to show before it is chosen. */
export interface TextModelLimits {
  logProbabilities: boolean;
  /** Can its weights be trained here? */
  training: boolean;
  /** Requests worked on at once. */
  concurrency: number;
  /** One or two sentences: why not more. */
  reason: string;
}

export interface TextModel {
  readonly kind: TextModelKind;
  /** For people: which model this is. Never holds a secret. */
  readonly label: string;
  /** May change once the model has answered (a server that turns out not to return log-probabilities). */
  readonly limits: TextModelLimits;
  /**
   * One completion per request, in order; all or nothing.
   * Rejects with a DreamError that says what to do, or with `signal.reason` when aborted.
   */
  complete(requests: readonly TextRequest[], signal?: AbortSignal): Promise<TextCompletion[]>;
  /** Ends whatever is running. A disposed model answers no more. */
  dispose(): void | Promise<void>;
}

/** The text before the earliest stop string, and whether there was one. */
export function cutAtStop(text: string, stop: readonly string[] = []): { text: string; cut: boolean } {
  const ends = stop.map((mark) => (mark === '' ? -1 : text.indexOf(mark))).filter((at) => at >= 0);
  return ends.length === 0 ? { text, cut: false } : { text: text.slice(0, Math.min(...ends)), cut: true };
}
