/**
 * @file What stands behind the panel "Models": one model is looked at, one may be on the GPU, one thing is done at a time.
 *
 * Knows neither Comlink nor the page, so that it is tested in Node on Dawn. What is loaded makes room before another model
 * comes, and whatever goes wrong on the way, nothing half-loaded stays on the GPU.
 */
import { asDreamError, DreamError } from '../../data/errors';
import type { Gpu } from '../../gpu/device';
import type { LoadOptions } from '../../models/load-model';
import { ModelDownload, removeModel } from '../../models/sources/download';
import { ProgressMeter } from '../../models/sources/progress';
import { readAdapter, writeAdapter } from './adapter-files';
import { ExperienceModels, type ExperienceParts } from './experience-models';
import { askExperience, experienceTasks } from './experience-question';
import { keptModels } from './kept-models';
import { type ChoiceParts, type OpenedModel, openChoice, openDownloaded } from './model-choice';
import { ModelDevice } from './model-device';
import { explained, planFor } from './planning';
import type {
  ExperienceReply,
  ExperienceRequest,
  ExperienceTarget,
  ExperienceTask,
  GenerateAnswer,
  GenerateRequest,
  KeptModel,
  LoadedFacts,
  LoadProgress,
  ModelChoice,
  ModelFacts,
  ModelsApi,
  ModelsEvent,
  PickedFile,
  PlanAnswer,
  PlanInputs,
  ScoreAnswer,
} from './protocol';
import { type NamedAdapter, noAdapter, type Residence, ResidentModel } from './resident-model';
import { busy, nothingChosen, nothingLoaded, stopped, superseded } from './service-errors';

export interface ModelServiceParts extends ChoiceParts, Pick<ExperienceParts, 'startTransformers' | 'fetch'> {
  webgpu: GPU | undefined;
  /** The self-test. Throws `self-test-failed`. */
  checkDevice(gpu: Gpu): Promise<void>;
}

/** Pieces of an answer are gathered for so long. */
const TEXT_EVERY_MS = 60;

export class ModelService implements ModelsApi {
  private listener: (event: ModelsEvent) => void = () => {};
  private readonly device: ModelDevice;
  private readonly experience: ExperienceModels;
  private inspecting: AbortController | null = null;
  private chosen: OpenedModel | null = null;
  private resident: ResidentModel | null = null;
  /** What is going on, for the message that refuses a second thing. */
  private busy: string | null = null;
  private working: AbortController | null = null;
  private download: ModelDownload | null = null;
  private lastProgress: LoadProgress | null = null;

  constructor(private readonly parts: ModelServiceParts) {
    this.device = new ModelDevice(parts.webgpu, parts.checkDevice, (reason) => this.lost(reason));
    this.experience = new ExperienceModels({
      startTransformers: parts.startTransformers,
      fetch: parts.fetch,
      resident: () => this.resident,
      onDetail: (detail) => this.listener({ type: 'asked', detail }),
    });
  }

  subscribe(listener: (event: ModelsEvent) => void): void {
    this.listener = listener;
  }

  async inspect(choice: ModelChoice): Promise<ModelFacts> {
    this.inspecting?.abort();
    const mine = new AbortController();
    this.inspecting = mine;
    let opened: OpenedModel;
    try {
      opened = await openChoice(choice, this.parts, mine.signal);
    } catch (error) {
      throw mine.signal.aborted ? superseded() : error;
    }
    if (mine.signal.aborted) {
      opened.source.close();
      throw superseded();
    }
    if (this.chosen && this.chosen.source !== this.resident?.opened.source) this.chosen.source.close();
    this.chosen = opened;
    return opened.facts;
  }

  async plan(inputs: PlanInputs): Promise<PlanAnswer> {
    return planFor(this.whatIsChosen(), inputs, this.device);
  }

  async load(inputs: PlanInputs): Promise<LoadedFacts> {
    return this.exclusively('a model is being loaded', async (signal) => {
      let opened = this.whatIsChosen();
      if (opened.download) {
        opened = await this.fetch(opened, signal);
        this.chosen = opened;
      }
      try {
        return await this.settle(opened, inputs, null, signal);
      } catch (error) {
        throw await explained(error, opened, inputs, this.device);
      }
    });
  }

  pauseDownload(): void {
    this.download?.pause();
    if (this.lastProgress) this.report({ ...this.lastProgress, bytesPerSecond: 0, secondsLeft: null });
  }

  resumeDownload(): void {
    this.download?.resume();
    if (this.lastProgress) this.report(this.lastProgress);
  }

  cancelLoad(): void {
    this.stop();
  }

  async unload(): Promise<void> {
    await this.exclusively('the model is being removed', async () => this.drop());
  }

  loaded(): LoadedFacts | null {
    return this.resident?.facts() ?? null;
  }

  async generate(request: GenerateRequest): Promise<GenerateAnswer> {
    return this.exclusively('the model is writing', async (signal) => {
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
    this.working?.abort();
  }

  async score(text: string): Promise<ScoreAnswer> {
    return this.exclusively('a text is being weighed', async () => this.whatIsLoaded().score(text));
  }

  async importAdapter(files: readonly PickedFile[]): Promise<LoadedFacts> {
    return this.exclusively('an adapter is being loaded', async (signal) => {
      const { opened, residence } = this.whatIsLoaded();
      // Read and checked before the model gives way.
      const named = await readAdapter(files, opened.facts.config);
      return this.settle(opened, residence, named, signal);
    });
  }

  setAdapter(enabled: boolean): LoadedFacts {
    const resident = this.whatIsLoaded();
    if (this.busy) throw busy(this.busy);
    resident.setAdapter(enabled);
    return resident.facts();
  }

  async removeAdapter(): Promise<LoadedFacts> {
    return this.exclusively('the adapter is being removed', async (signal) => {
      const { opened, residence } = this.whatIsLoaded();
      return this.settle(opened, residence, null, signal);
    });
  }

  async exportAdapter(format: 'peft' | 'gguf'): Promise<{ name: string; bytes: Uint8Array<ArrayBuffer> }> {
    return this.exclusively('the adapter is being saved', async () => {
      const resident = this.whatIsLoaded();
      if (!resident.facts().adapter) throw noAdapter();
      return writeAdapter(await resident.readAdapter(), format, resident.opened.facts);
    });
  }

  async kept(): Promise<KeptModel[]> {
    return keptModels(await this.parts.cache());
  }

  async removeKept(repository: string): Promise<void> {
    await this.exclusively('a download is being deleted', async () => {
      await removeModel(await this.parts.cache(), repository);
      // What was opened from it cannot be read any more, only looked at again.
      if (this.chosen?.facts.download?.repository === repository) this.chosen = null;
    });
  }

  experienceTasks(): ExperienceTask[] {
    return experienceTasks();
  }

  async ask(target: ExperienceTarget, request: ExperienceRequest): Promise<ExperienceReply> {
    return this.exclusively('an experience model is being asked', async (signal) => {
      const { model, close } = await this.experience.open(target);
      try {
        return await askExperience(model, request, signal);
      } finally {
        close();
      }
    });
  }

  /** Frees everything. */
  async close(): Promise<void> {
    this.stop();
    this.drop();
    await this.experience.forget();
    this.chosen?.source.close();
  }

  // --- how -------------------------------------------------------------------------------------------------------

  private async fetch(opened: OpenedModel, signal: AbortSignal): Promise<OpenedModel> {
    const { plan, token } = opened.download!;
    const job = new ModelDownload(plan, {
      ...this.parts.hub,
      cache: await this.parts.cache(),
      token,
      onProgress: ({ file, phase, loaded, total, bytesPerSecond, secondsLeft }) =>
        this.report({ ...uncounted, phase, detail: file, done: loaded, total, bytesPerSecond, secondsLeft }),
    });
    this.download = job;
    const cancel = (): void => job.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      const { files } = await job.result;
      return await openDownloaded(opened, files);
    } finally {
      signal.removeEventListener('abort', cancel);
      this.download = null;
    }
  }

  /** Puts a model on the GPU in place of the one that is there. */
  private async settle(
    opened: OpenedModel,
    residence: Residence,
    named: NamedAdapter | null,
    signal: AbortSignal,
  ): Promise<LoadedFacts> {
    const step = (phase: LoadProgress['phase'], detail: string): void => this.report({ ...uncounted, phase, detail });
    step('opening', 'the graphics processor');
    const gpu = await this.device.openTested(() => step('self-test', 'its arithmetic'));
    signal.throwIfAborted();
    this.drop(opened);
    let meter: ProgressMeter | null = null;
    const onProgress: LoadOptions['onProgress'] = ({ bytes, total, tensor }) => {
      meter ??= new ProgressMeter(total, ({ file, loaded, bytesPerSecond, secondsLeft }) =>
        this.report({ ...uncounted, phase: 'loading', detail: file, done: loaded, total, bytesPerSecond, secondsLeft }),
      );
      meter.at(tensor, 'fetching', bytes, bytes >= total);
    };
    this.resident = await ResidentModel.load(gpu, opened, residence, named, { signal, onProgress });
    return this.resident.facts();
  }

  /** `next`: what is loaded instead, whose files must stay open. */
  private drop(next: OpenedModel | null = null): void {
    const { resident } = this;
    this.resident = null;
    if (!resident) return;
    resident.dispose();
    const { source } = resident.opened;
    if (source !== this.chosen?.source && source !== next?.source) source.close();
  }

  private lost(reason: string): void {
    if (!this.resident && !this.busy) return;
    // The device took its memory with it; the next loading opens another.
    this.resident = null;
    this.listener({
      type: 'lost',
      error: {
        code: 'gpu-lost',
        message: `The graphics processor was reset (${reason}).`,
        advice: 'Load the model again. If it happens twice, choose a smaller one or a shorter context.',
      },
    });
  }

  private report(progress: LoadProgress): void {
    const paused = this.download?.paused ?? false;
    this.lastProgress = progress;
    this.listener({ type: 'progress', progress: { ...progress, paused } });
  }

  private whatIsChosen(): OpenedModel {
    if (this.chosen) return this.chosen;
    throw nothingChosen();
  }

  private whatIsLoaded(): ResidentModel {
    if (this.resident) return this.resident;
    throw nothingLoaded();
  }

  private async exclusively<T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.busy) throw busy(this.busy);
    this.busy = name;
    this.working = new AbortController();
    const { signal } = this.working;
    try {
      return await work(signal);
    } catch (error) {
      if (signal.aborted && !(error instanceof DreamError && error.code !== 'download-stopped')) throw stopped();
      throw asDreamError(error);
    } finally {
      this.busy = null;
      this.working = null;
      this.lastProgress = null;
    }
  }
}

const uncounted: Omit<LoadProgress, 'phase' | 'detail'> = {
  done: 0,
  total: 0,
  bytesPerSecond: 0,
  secondsLeft: null,
  paused: false,
};
