/**
 * @file What stands behind the panel "Models": one model is looked at, one may be on the GPU, one thing is done at a time.
 *
 * Knows neither Comlink nor the page, so that it is tested in Node on Dawn. What is loaded makes room before another model
 * comes, and whatever goes wrong on the way, nothing half-loaded stays on the GPU.
 */
import type { Gpu } from '../../gpu/device';
import { removeModel } from '../../models/sources/download';
import type { RunStatus } from '../protocol';
import type { StorageKeeper } from '../storage-keeper';
import { readAdapter, writeAdapter } from './adapter-files';
import { Choosing } from './choosing';
import { ExperienceModels, type ExperienceParts } from './experience-models';
import { askExperience, experienceTasks } from './experience-question';
import { keptModels } from './kept-models';
import type { ChoiceParts } from './model-choice';
import { ModelDevice } from './model-device';
import { ModelTraining } from './model-training';
import { OneThing } from './one-thing';
import { explained, planFor } from './planning';
import type {
  DreamChoice,
  ExperienceReply,
  ExperienceRequest,
  ExperienceTarget,
  ExperienceTask,
  GenerateAnswer,
  GenerateRequest,
  KeptModel,
  LoadedFacts,
  ModelChoice,
  ModelFacts,
  ModelsApi,
  ModelsEvent,
  PickedFile,
  PlanAnswer,
  PlanInputs,
  ScoreAnswer,
  TrainingRequest,
} from './protocol';
import { Residency } from './residency';
import { noAdapter, type ResidentModel } from './resident-model';
import { nothingLoaded } from './service-errors';

export interface ModelServiceParts extends ChoiceParts, Pick<ExperienceParts, 'startTransformers' | 'fetch'> {
  webgpu: GPU | undefined;
  /** The self-test. Throws `self-test-failed`. */
  checkDevice(gpu: Gpu): Promise<void>;
  /** Where runs are kept; the browser's own storage by default. */
  runs?: StorageKeeper;
}

/** Pieces of an answer are gathered for so long. */
const TEXT_EVERY_MS = 60;

export class ModelService implements ModelsApi {
  private listener: (event: ModelsEvent) => void = () => {};
  private readonly device: ModelDevice;
  private readonly experience: ExperienceModels;
  private readonly choosing: Choosing;
  private readonly one = new OneThing(
    () => (this.run.trainer.underWay ? 'the model is being trained' : null),
    () => this.residency.rest(),
  );
  private readonly residency: Residency;
  private readonly run: ModelTraining;

  constructor(private readonly parts: ModelServiceParts) {
    this.device = new ModelDevice(parts.webgpu, parts.checkDevice, (reason) => this.lost(reason));
    this.experience = new ExperienceModels({
      startTransformers: parts.startTransformers,
      fetch: parts.fetch,
      resident: () => this.residency.resident,
      onDetail: (detail) => this.listener({ type: 'asked', detail }),
    });
    this.choosing = new Choosing(parts, () => this.residency.resident?.opened ?? null);
    this.residency = new Residency({
      cache: () => parts.cache(),
      get hub() {
        return parts.hub;
      },
      device: this.device,
      chosen: () => this.choosing.chosen,
      onProgress: (progress) => this.listener({ type: 'progress', progress }),
    });
    this.run = new ModelTraining({
      experience: this.experience,
      openGpu: () => this.device.openTested(() => {}),
      residency: this.residency,
      onPrepared: (loaded) => this.listener({ type: 'loaded', loaded }),
      emit: (event) => this.listener({ type: 'run', event }),
      storage: parts.runs,
    });
  }

  subscribe(listener: (event: ModelsEvent) => void): void {
    this.listener = listener;
  }

  async inspect(choice: ModelChoice): Promise<ModelFacts> {
    return (await this.choosing.inspect(choice)).facts;
  }

  async plan(inputs: PlanInputs): Promise<PlanAnswer> {
    return planFor(this.choosing.whatIsChosen(), inputs, this.device);
  }

  async load(inputs: PlanInputs): Promise<LoadedFacts> {
    return this.one.run('a model is being loaded', async (signal) => {
      let opened = this.choosing.whatIsChosen();
      if (opened.download) {
        opened = await this.residency.fetch(opened, signal);
        this.choosing.chosen = opened;
      }
      try {
        return (await this.residency.settle(opened, inputs, null, signal)).facts();
      } catch (error) {
        throw await explained(error, opened, inputs, this.device);
      }
    });
  }

  pauseDownload(): void {
    this.residency.pauseDownload();
  }

  resumeDownload(): void {
    this.residency.resumeDownload();
  }

  cancelLoad(): void {
    this.stop();
  }

  async unload(): Promise<void> {
    await this.one.run('the model is being removed', async () => this.residency.drop());
  }

  loaded(): LoadedFacts | null {
    return this.residency.resident?.facts() ?? null;
  }

  async generate(request: GenerateRequest): Promise<GenerateAnswer> {
    return this.one.run('the model is writing', async (signal) => {
      let waiting = '';
      let told = Number.NEGATIVE_INFINITY;
      return this.whatIsLoaded().generate(request, signal, (text, tokens) => {
        waiting += text;
        if (performance.now() - told < TEXT_EVERY_MS) return;
        told = performance.now();
        this.listener({ type: 'text', text: waiting, tokens });
        waiting = '';
      });
    });
  }

  /** Ends whatever is going on. */
  stop(): void {
    this.one.stop();
  }

  async score(text: string): Promise<ScoreAnswer> {
    return this.one.run('a text is being weighed', async () => this.whatIsLoaded().score(text));
  }

  async importAdapter(files: readonly PickedFile[]): Promise<LoadedFacts> {
    return this.one.run('an adapter is being loaded', async (signal) => {
      const { opened, residence } = this.whatIsLoaded();
      // Read and checked before the model gives way.
      const named = await readAdapter(files, opened.facts.config);
      return (await this.residency.settle(opened, residence, named, signal)).facts();
    });
  }

  setAdapter(enabled: boolean): LoadedFacts {
    const resident = this.whatIsLoaded();
    this.one.mustBeIdle();
    resident.setAdapter(enabled);
    return resident.facts();
  }

  async removeAdapter(): Promise<LoadedFacts> {
    return this.one.run('the adapter is being removed', async (signal) => {
      const { opened, residence } = this.whatIsLoaded();
      return (await this.residency.settle(opened, residence, null, signal)).facts();
    });
  }

  async exportAdapter(format: 'peft' | 'gguf'): Promise<{ name: string; bytes: Uint8Array<ArrayBuffer> }> {
    const write = async () => {
      const resident = this.whatIsLoaded();
      if (!resident.facts().adapter) throw noAdapter();
      return writeAdapter(await resident.readAdapter(), format, resident.opened.facts);
    };
    // A paused run stands at a safe point.
    return this.training().progress.phase === 'paused' ? write() : this.one.run('the adapter is being saved', write);
  }

  async kept(): Promise<KeptModel[]> {
    return keptModels(await this.parts.cache());
  }

  async removeKept(repository: string): Promise<void> {
    await this.one.run('a download is being deleted', async () => {
      await removeModel(await this.parts.cache(), repository);
      // What was opened from it cannot be read any more, only looked at again.
      if (this.choosing.chosen?.facts.download?.repository === repository) this.choosing.chosen = null;
    });
  }

  experienceTasks(): ExperienceTask[] {
    return experienceTasks();
  }

  async ask(target: ExperienceTarget, request: ExperienceRequest): Promise<ExperienceReply> {
    return this.one.run('an experience model is being asked', async (signal) => {
      const { model, close } = await this.experience.open(target);
      try {
        return await askExperience(model, request, signal);
      } finally {
        close();
      }
    });
  }

  async startTraining(request: TrainingRequest): Promise<void> {
    this.mayTrain();
    await this.run.start(request);
  }

  async stepTraining(request: TrainingRequest): Promise<void> {
    if (!this.run.trainer.underWay) this.mayTrain();
    await this.run.step(request);
  }

  async pauseTraining(): Promise<void> {
    await this.run.trainer.pause();
  }

  async resumeTraining(choice: DreamChoice): Promise<void> {
    if (!this.run.trainer.underWay) this.mayTrain();
    await this.run.resume(choice);
  }

  async stopTraining(): Promise<void> {
    await this.run.trainer.stop();
  }

  training(): RunStatus {
    return this.run.trainer.status();
  }

  async lastTraining(): ReturnType<ModelsApi['lastTraining']> {
    return this.run.trainer.lastRun();
  }

  async exportTraining(): Promise<Uint8Array> {
    return this.run.trainer.exportRun();
  }

  /** Frees everything. */
  async close(): Promise<void> {
    this.stop();
    await this.run.close();
    this.residency.drop();
    await this.experience.forget();
    this.choosing.chosen?.source.close();
  }

  // --- how -------------------------------------------------------------------------------------------------------

  private mayTrain(): void {
    this.one.mustBeIdle();
    this.run.take(this.whatIsLoaded());
  }

  private lost(reason: string): void {
    if (!this.residency.resident && !this.one.busy) return;
    // The device took its memory with it; the next loading opens another.
    this.residency.resident = null;
    // A run opens the device again by itself, and goes on from its last finished iteration.
    if (this.run.trainer.underWay) return;
    this.listener({
      type: 'lost',
      error: {
        code: 'gpu-lost',
        message: `The graphics processor was reset (${reason}).`,
        advice: 'Load the model again. If it happens twice, choose a smaller one or a shorter context.',
      },
    });
  }

  private whatIsLoaded(): ResidentModel {
    if (this.residency.resident) return this.residency.resident;
    throw nothingLoaded();
  }
}
