/** @file The engine's own model as a text model: a chat template and a tokenizer around its token streams. */
import type { LanguageModel } from '../../nn/language-model';
import { deriveSeed } from '../random';
import { cutAtStop, type TextCompletion, type TextMessage, type TextModel, type TextRequest } from './text-model';

/** How one model's text becomes tokens and back. */
export interface ChatCodec {
  /** The whole conversation, ending where the assistant begins to speak. */
  encode(messages: readonly TextMessage[]): number[];
  decode(tokens: readonly number[]): string;
  /** At most 4; generation ends after any of them, and they are not part of the text. */
  stopTokens: readonly number[];
}

export interface EngineTextOptions {
  label: string;
  /** Streams that share the KV cache at once. Default 16. */
  concurrency?: number;
}

/** The model stays the caller's: `dispose` only ends what is asked from here on. */
export function engineTextModel(model: LanguageModel, codec: ChatCodec, options: EngineTextOptions): TextModel {
  const concurrency = options.concurrency ?? 16;
  const closing = new AbortController();

  /** One batch: all requests have the same temperature and length limit. */
  async function batch(requests: readonly TextRequest[]): Promise<TextCompletion[]> {
    const { maxTokens, temperature } = requests[0];
    const prompts = requests.map(({ messages }) => codec.encode(messages));
    const sessions = model.sessions(requests.length);
    try {
      const fits = prompts.map((prompt) => prompt.length + maxTokens <= sessions.contextLength);
      const streams = prompts.map((_, i) => i).filter((i) => fits[i]);
      for (const i of streams) sessions.append(i, prompts[i]);
      const generated =
        streams.length === 0
          ? []
          : await sessions.generate(streams, {
              temperature,
              seed: deriveSeed(0, ...requests.map(({ seed }) => seed ?? 0)),
              stopTokens: codec.stopTokens,
              maxNewTokens: maxTokens,
            });
      return requests.map(({ stop }, i): TextCompletion => {
        if (!fits[i]) return { text: '', finishReason: 'length', generatedTokens: 0 };
        const { tokens, logProbs, stopped } = generated[streams.indexOf(i)];
        const ended = codec.stopTokens.includes(tokens.at(-1) ?? -1);
        const { text, cut } = cutAtStop(codec.decode(ended ? tokens.slice(0, -1) : tokens), stop);
        return {
          text,
          finishReason: stopped || cut ? 'stop' : 'length',
          tokens: tokens.map((token, t) => ({ text: codec.decode([token]), logProb: logProbs[t] })),
          generatedTokens: tokens.length,
        };
      });
    } finally {
      sessions.dispose();
    }
  }

  return {
    kind: 'engine',
    label: options.label,
    limits: {
      logProbabilities: true,
      training: true,
      concurrency,
      reason: 'Runs on this engine: tokens and log-probabilities are exact, and its weights can be trained.',
    },
    async complete(requests, signal) {
      const answers: TextCompletion[] = new Array(requests.length);
      for (const group of alike(requests))
        for (let from = 0; from < group.length; from += concurrency) {
          signal?.throwIfAborted();
          closing.signal.throwIfAborted();
          const part = group.slice(from, from + concurrency);
          const completions = await batch(part.map((i) => requests[i]));
          part.forEach((i, j) => {
            answers[i] = completions[j];
          });
        }
      return answers;
    },
    dispose() {
      closing.abort(new DOMException('The model was disposed.', 'AbortError'));
    },
  };
}

/** Indices of requests that may share a batch. */
function alike(requests: readonly TextRequest[]): number[][] {
  const groups = new Map<string, number[]>();
  requests.forEach(({ maxTokens, temperature }, i) => {
    const key = `${maxTokens} ${temperature}`;
    groups.set(key, [...(groups.get(key) ?? []), i]);
  });
  return [...groups.values()];
}
