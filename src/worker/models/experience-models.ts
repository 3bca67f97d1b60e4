/** @file The other experience models behind the panel: opened for a question, kept while the same one is asked again. */
import { DreamError } from '../../data/errors';
import {
  borrowTextModel,
  endpointTextModel,
  type KillableWorker,
  type TextEmbedder,
  type TextModel,
  TransformersHost,
  type TransformersProgress,
  transformersEmbedder,
  transformersTextModel,
} from '../../dream/text-models';
import type { Port } from '../../dream/text-models/channel';
import { parseHubId } from '../../models/sources/hub-id';
import type { ExperienceTarget } from './protocol';
import type { ResidentModel } from './resident-model';

export interface ExperienceParts {
  startTransformers(): KillableWorker;
  fetch?: typeof globalThis.fetch;
  resident(): ResidentModel | null;
  onDetail(detail: string): void;
}

export class ExperienceModels {
  private host: TransformersHost | null = null;
  private kept: { key: string; model: TextModel } | null = null;

  constructor(private readonly parts: ExperienceParts) {}

  /** The model, and how to be rid of it after the question. Throws what the model's opening throws. */
  async open(
    target: ExperienceTarget,
    purpose: 'question' | 'run' = 'question',
  ): Promise<{ model: TextModel; close(): void }> {
    if (target.kind !== 'transformers') await this.forget();
    switch (target.kind) {
      case 'loaded': {
        const resident = this.parts.resident();
        if (!resident)
          throw new DreamError('nothing-loaded', 'No model is loaded.', 'Load one above, or ask one of the others.');
        return closing(resident.textModel());
      }
      case 'endpoint': {
        const { baseUrl, model, key } = target;
        if (model.trim() === '')
          throw new DreamError('config-invalid', 'The endpoint’s model has no name.', 'Write it as the server does.');
        // One question by hand: a server that is away should be known in seconds. A run waits for it to come back.
        const patience = purpose === 'question' ? { maxRetries: 1 } : {};
        const options = { baseUrl, model: model.trim(), key, ...patience, fetch: this.parts.fetch };
        return closing(endpointTextModel(options));
      }
      case 'built-in':
        return closing(await borrowTextModel(target.port as Port));
      case 'transformers':
        return { model: await this.transformers(target), close: () => {} };
    }
  }

  /** A sentence encoder in the worker around transformers.js. Throws `bad-model-id`. */
  encoder(id: string): TextEmbedder {
    const { owner, name, revision } = parseHubId(id);
    return transformersEmbedder(
      this.transformersHost(),
      { id: `${owner}/${name}`, source: { kind: 'hub', revision }, device: 'wasm', weights: 'q8' },
      { onProgress: (progress) => this.parts.onDetail(sentence(progress)) },
    );
  }

  private transformersHost(): TransformersHost {
    this.host ??= new TransformersHost({ startWorker: this.parts.startTransformers });
    return this.host;
  }

  /** Ends the worker around transformers.js, and its memory with it. */
  async forget(): Promise<void> {
    const { kept } = this;
    this.kept = null;
    await kept?.model.dispose();
  }

  private async transformers(target: Extract<ExperienceTarget, { kind: 'transformers' }>): Promise<TextModel> {
    const { owner, name, revision } = parseHubId(target.id);
    const { device, weights } = target;
    const key = JSON.stringify([owner, name, revision, device, weights]);
    if (this.kept?.key === key) return this.kept.model;
    await this.forget();
    const source = { kind: 'hub' as const, revision };
    const model = transformersTextModel(
      this.transformersHost(),
      { id: `${owner}/${name}`, source, device, weights },
      { onProgress: (progress) => this.parts.onDetail(sentence(progress)) },
    );
    this.kept = { key, model };
    return model;
  }
}

const closing = (model: TextModel): { model: TextModel; close(): void } => ({
  model,
  close: () => void model.dispose(),
});

const mebi = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);

function sentence(progress: TransformersProgress): string {
  if (progress.phase === 'working') return `Answering, ${progress.done} of ${progress.total}`;
  const file = progress.file.slice(progress.file.lastIndexOf('/') + 1);
  return `Loading ${file}: ${mebi(progress.loadedBytes)} of ${mebi(progress.totalBytes)} MiB`;
}
