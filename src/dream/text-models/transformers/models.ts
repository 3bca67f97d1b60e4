/** @file A decoder and a sentence encoder in ONNX Runtime (transformers.js), both in one worker that can be killed. */
import type { TextEmbedder } from '../embedder';
import type { TextCompletion, TextModel } from '../text-model';
import type { TransformersHost } from './host';
import type { EmbedResult, TransformersModel, TransformersProgress } from './protocol';

export interface TransformersOptions {
  onProgress?: (progress: TransformersProgress) => void;
  /** Default: the model's id. */
  label?: string;
}

const isProgress = (value: unknown): value is TransformersProgress =>
  typeof value === 'object' && value !== null && 'phase' in value;

const reporter =
  ({ onProgress }: TransformersOptions) =>
  (value: unknown) => {
    if (isProgress(value)) onProgress?.(value);
  };

/** Loads at its first question. */
export function transformersTextModel(
  host: TransformersHost,
  model: TransformersModel,
  options: TransformersOptions = {},
): TextModel {
  host.retain(model);
  let open = true;
  return {
    kind: 'transformers',
    label: options.label ?? model.id,
    limits: {
      logProbabilities: false,
      training: false,
      concurrency: 8,
      reason: [
        'ONNX Runtime only runs a model: it gives no gradients and no log-probabilities, so it can dream but not learn.',
        'Only prompts of equal length share a batch; top-p is not available; each answer is sampled from the 50 likeliest tokens.',
      ].join(' '),
    },
    async complete(requests, signal) {
      if (requests.length === 0) return [];
      const call = { model, requests };
      return (await host.call('complete', call, { signal, onProgress: reporter(options) })) as TextCompletion[];
    },
    async dispose() {
      if (open) await host.release(model);
      open = false;
    },
  };
}

/** Mean-pooled and normalised; all-MiniLM-L6-v2 and its kind. */
export function transformersEmbedder(
  host: TransformersHost,
  model: TransformersModel,
  options: TransformersOptions = {},
): TextEmbedder {
  host.retain(model);
  let open = true;
  return {
    kind: 'transformers',
    label: options.label ?? model.id,
    async embed(texts, signal) {
      if (texts.length === 0) return [];
      const call = { model, texts };
      const answer = await host.call('embed', call, { signal, onProgress: reporter(options) });
      const { vectors, dimension } = answer as EmbedResult;
      return texts.map((_, i) => vectors.slice(i * dimension, (i + 1) * dimension));
    },
    async dispose() {
      if (open) await host.release(model);
      open = false;
    },
  };
}
