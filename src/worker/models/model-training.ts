/**
 * @file The loop with the loaded model as policy: the page's trainer (../trainer.ts) over an engine that is already there.
 *
 * Runs of loaded models lie in a database of their own, so that the embedded model's trainer is never offered one. Who dreams
 * is chosen at every start and every resume, because a key and a lent model live in memory only.
 */
import type { LoopParts } from '../../dream/loop-parts';
import type { StoredRun } from '../../dream/run-store';
import { defaultTextSettings, formerTextSettings, modelRun, textDomainFor } from '../../dream/text-household';
import { engineEmbedder, householdTextWorld, type TextEmbedder, textDreams } from '../../dream/text-models';
import type { Gpu } from '../../gpu/device';
import { baseHash, parallelEpisodes } from '../../models/base-identity';
import type { TextTokenizer } from '../../models/text-tokenizer';
import type { LoraSettings } from '../../nn/lora';
import type { Precision } from '../../nn/precision';
import { gpuAdvantages } from '../../rl/kernels/advantages';
import { gpuTopK } from '../../rl/kernels/topk';
import { Database } from '../../store/database';
import { IndexedDbRunStore } from '../../store/indexeddb-run-store';
import type { Engine, EngineParts } from '../engine';
import type { RunConfig, RunEvent } from '../protocol';
import { StorageKeeper } from '../storage-keeper';
import { TrainerService } from '../trainer';
import type { ExperienceModels } from './experience-models';
import type { DreamChoice, LoadedFacts, TrainingRequest } from './protocol';
import type { Residency } from './residency';
import type { ResidentModel } from './resident-model';

export interface TrainingParts {
  experience: ExperienceModels;
  openGpu(): Promise<Gpu>;
  residency: Residency;
  /** The model was loaded anew, with room for an adapter. */
  onPrepared(loaded: LoadedFacts): void;
  emit(event: RunEvent): void;
  storage?: StorageKeeper;
}

const databaseName = 'dreamgym-model-runs';

export class ModelTraining {
  readonly trainer: TrainerService;
  private request: TrainingRequest | null = null;
  /** What the run trains, in case the device is lost and everything on it. */
  private trained: Pick<ResidentModel, 'opened' | 'residence'> | null = null;
  private closeDream: (() => void) | null = null;

  constructor(private readonly parts: TrainingParts) {
    const notice = (message: string): void => parts.emit({ type: 'notice', level: 'warning', message });
    const storage =
      parts.storage ?? new StorageKeeper(notice, new IndexedDbRunStore({ database: new Database(databaseName) }));
    this.trainer = new TrainerService({ openEngine: () => this.openEngine(), storage });
    this.trainer.subscribe((event) => parts.emit(event));
  }

  /** The model that the next run trains. */
  take({ opened, residence }: ResidentModel): void {
    this.trained = { opened, residence };
  }

  /** Throws `config-invalid`, `already-running`, `storage-denied`. */
  async start(request: TrainingRequest): Promise<void> {
    this.request = request;
    await this.trainer.start(request.settings);
  }

  async step(request: TrainingRequest): Promise<void> {
    this.request = request;
    await this.trainer.step(this.trainer.underWay ? undefined : request.settings);
  }

  async resume(choice: DreamChoice): Promise<void> {
    // A run that is under way keeps the dream it has.
    if (!this.trainer.underWay) this.request = { settings: {}, text: {}, rank: 8, alpha: 16, ...choice };
    await this.trainer.resume();
  }

  async close(): Promise<void> {
    await this.trainer.stop();
    this.endDream();
  }

  private async openEngine(): Promise<Engine> {
    const gpu = await this.parts.openGpu();
    return {
      adapter: gpu.adapterName,
      software: gpu.isSoftware,
      gpuBytes: () => gpu.bytesAllocated,
      lost: gpu.lost.then(({ reason, message }) => message || reason || 'no reason given'),
      parts: (stored, config) => this.engineParts(gpu, stored, config),
      // The device and the model on it are the panel's.
      close: () => this.endDream(),
    };
  }

  private async engineParts(gpu: Gpu, stored: StoredRun | null, config: RunConfig): Promise<EngineParts> {
    const request = this.request!;
    const { rank, alpha } = stored?.model ?? request;
    const resident = await this.prepare({ rank, alpha }, stored?.model ?? null, config.seed);
    const { model, tokenizer, lora } = resident.trainable(config.seed);
    const { source, facts } = resident.opened;
    const { contextLength } = model;
    const text = stored ? (stored.model?.text ?? formerTextSettings) : { ...defaultTextSettings, ...request.text };
    const domain = textDomainFor(tokenizer, contextLength, text);
    const run = modelRun(model, tokenizer, domain, {
      label: facts.download?.repository ?? facts.label,
      sha256: await baseHash(source),
      ...lora,
      contextLength,
      parallel: stored?.model?.parallel ?? parallelEpisodes(gpu, model.config, model.precision),
      text,
      ...(model.precision === 'f32' ? {} : { precision: model.precision }),
    });
    const { weights } = await run.parts.policy.exportState(false);
    await run.parts.policy.importState({ step: 0, weights });
    return {
      ...run.parts,
      kernels: { advantages: gpuAdvantages(gpu), topK: gpuTopK(gpu) },
      ...(await this.dreams(request, run.parts, tokenizer)),
      async warmUp(onStep) {
        if (text.warmStart > 0) await onStep(0, 'imitating scripted players');
        await run.warmStart({
          maxSteps: config.maxSteps,
          seed: config.seed,
          onStep: (done, total, { loss }) =>
            onStep(done / total, `imitating scripted players, step ${done} of ${total}, loss ${loss.toFixed(2)}`),
        });
      },
    };
  }

  /**
   * The base is loaded again with room for an adapter where it has none, or none of the form that a stored run has, or where
   * that run kept its cache in another precision: what it draws depends on it.
   */
  private async prepare(
    lora: LoraSettings,
    stored: { precision?: Precision } | null,
    seed: number,
  ): Promise<ResidentModel> {
    const { residency, onPrepared } = this.parts;
    const { resident } = residency;
    const has = resident?.adapterSettings() ?? null;
    const { opened, residence } = this.trained!;
    const precision = stored ? (stored.precision ?? 'f32') : residence.precision;
    const fits =
      !stored || (has?.rank === lora.rank && has.alpha === lora.alpha && resident?.facts().precision === precision);
    if (resident && has && fits) return resident;
    const prepared = await residency.settle(
      opened,
      { ...residence, precision },
      { name: 'trained here', fresh: lora, seed },
    );
    onPrepared(prepared.facts());
    return prepared;
  }

  /** Nothing for the loaded model itself: the loop's own experience model is its base. */
  private async dreams(
    { dream, recall }: DreamChoice,
    { domain, experience }: Pick<EngineParts, 'domain' | 'experience'>,
    tokenizer: TextTokenizer,
  ): Promise<Pick<LoopParts, 'openDream'>> {
    this.endDream();
    if (dream.kind === 'loaded') return {};
    const { model, close } = await this.parts.experience.open(dream, 'run');
    const embedder = this.embedder(recall, experience, tokenizer);
    this.closeDream = () => {
      close();
      void embedder?.dispose();
    };
    return { openDream: textDreams({ model, world: householdTextWorld(domain), embedder }) };
  }

  private embedder(
    recall: DreamChoice['recall'],
    base: EngineParts['experience'],
    tokenizer: TextTokenizer,
  ): TextEmbedder | undefined {
    if (recall.kind === 'words') return undefined;
    if (recall.kind === 'encoder') return this.parts.experience.encoder(recall.id);
    return engineEmbedder(base, (text) => tokenizer.encode(text));
  }

  private endDream(): void {
    this.closeDream?.();
    this.closeDream = null;
  }
}
