/**
 * @file Continuous batching: more prompts than streams, and a finished sequence gives its stream to the next prompt.
 *
 * Generation runs in short rounds; between two rounds finished streams are refilled. Draws are keyed by the prompt and not
 * by the stream it happens to get, so the result is what each prompt would give alone.
 */
import type { Generated, LanguageModel, SamplingOptions } from './language-model';

/** Tokens between two looks for free streams: a late refill costs less than a short round. */
const ROUND_TOKENS = 16;

export interface BatchOptions extends SamplingOptions {
  /** Sequences that decode together. */
  streams: number;
  /** Called when a prompt is finished, in order of finishing. */
  onFinished?: (prompt: number, generated: Generated) => void;
  signal?: AbortSignal;
}

interface Slot {
  prompt: number;
  left: number;
}

/** Continues every prompt; the order of the result follows `prompts`. Throws `context-full` for a prompt too long. */
export async function generateAll(
  model: Pick<LanguageModel, 'sessions'>,
  prompts: readonly (readonly number[])[],
  options: BatchOptions,
): Promise<Generated[]> {
  const results = prompts.map((): Generated => ({ tokens: [], logProbs: [], stopped: false }));
  const { onTokens, allowed } = options;
  const sessions = model.sessions(Math.min(options.streams, prompts.length));
  const slots = new Map<number, Slot>();
  const ended = new Set<number>();
  let next = 0;
  const refill = (stream: number): void => {
    sessions.clear(stream);
    slots.delete(stream);
    if (next >= prompts.length) return;
    sessions.append(stream, prompts[next]);
    slots.set(stream, { prompt: next, left: options.maxNewTokens });
    next++;
  };
  try {
    for (let stream = 0; stream < sessions.count; stream++) refill(stream);
    while (slots.size > 0) {
      options.signal?.throwIfAborted();
      const streams = [...slots.keys()];
      const promptOf = (stream: number): number => slots.get(stream)!.prompt;
      const soFar = (stream: number, drawn: readonly number[]) => [...results[promptOf(stream)].tokens, ...drawn];
      const round = Math.min(ROUND_TOKENS, ...[...slots.values()].map(({ left }) => left));
      const generated = await sessions.generate(streams, {
        ...options,
        maxNewTokens: round,
        keyOf: promptOf,
        allowed: allowed && ((stream, drawn) => allowed(promptOf(stream), soFar(stream, drawn))),
        onTokens:
          onTokens &&
          ((stream, drawn) => {
            const end = onTokens(promptOf(stream), soFar(stream, drawn)) === true;
            if (end) ended.add(promptOf(stream));
            return end;
          }),
      });
      streams.forEach((stream, i) => {
        const slot = slots.get(stream)!;
        const result = results[slot.prompt];
        result.tokens.push(...generated[i].tokens);
        result.logProbs.push(...generated[i].logProbs);
        result.stopped = generated[i].stopped;
        slot.left -= round;
        const full = generated[i].tokens.length < round; // the context ended it
        if (result.stopped || slot.left <= 0 || full || ended.has(slot.prompt)) {
          options.onFinished?.(slot.prompt, result);
          refill(stream);
        }
      });
    }
  } finally {
    sessions.dispose();
  }
  return results;
}
