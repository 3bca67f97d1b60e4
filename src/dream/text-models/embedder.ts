/**
 * @file Text to unit vectors, for memories that are alike in meaning. Two kinds: the engine's own pooled hidden states
 * (nothing to download), and a sentence encoder in ONNX Runtime (transformers/embedder.ts).
 */
import { DreamError } from '../../data/errors';
import type { LanguageModel } from '../../nn/language-model';

export interface TextEmbedder {
  readonly kind: 'engine' | 'transformers';
  readonly label: string;
  /**
   * One unit vector per text, all of one length; zeros for a text without any token.
   * Rejects with a DreamError, or with `signal.reason` when aborted.
   */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
  dispose(): void | Promise<void>;
}

/** Scales in place to length 1; leaves zeros alone. Numbers that are not finite become zeros. */
export function toUnit(vector: Float32Array): Float32Array {
  let norm = 0;
  for (let i = 0; i < vector.length; i++) {
    if (!Number.isFinite(vector[i])) vector[i] = 0;
    norm += vector[i] * vector[i];
  }
  if (norm > 0) {
    const scale = 1 / Math.sqrt(norm);
    for (let i = 0; i < vector.length; i++) vector[i] *= scale;
  }
  return vector;
}

/** Sequences per forward pass. */
const batchSize = 32;

/** Mean-pooled final hidden states. The model stays the caller's: `dispose` leaves it alone. */
export function engineEmbedder(
  model: LanguageModel,
  encode: (text: string) => number[],
  label = 'engine',
): TextEmbedder {
  return {
    kind: 'engine',
    label,
    async embed(texts, signal) {
      // The end of a text says more about now than its beginning.
      const sequences = texts.map((text) => encode(text).slice(-model.contextLength));
      const spoken = sequences.map((_, i) => i).filter((i) => sequences[i].length > 0);
      const vectors: (Float32Array | undefined)[] = texts.map(() => undefined);
      let width = 0;
      for (let from = 0; from < spoken.length; from += batchSize) {
        signal?.throwIfAborted();
        const batch = spoken.slice(from, from + batchSize);
        const embedded = await model.embed(batch.map((i) => sequences[i]));
        batch.forEach((i, j) => {
          width = embedded[j].length;
          vectors[i] = toUnit(Float32Array.from(embedded[j]));
        });
      }
      if (texts.length > 0 && spoken.length === 0)
        throw new DreamError('embedding-empty', 'None of the texts has a token.', 'Give it text to compare.');
      return vectors.map((vector) => vector ?? new Float32Array(width));
    },
    dispose() {},
  };
}
