/** @file How a model comes onto the GPU and leaves it: fetched where it must be, loaded in place of another, told step by step. */
import type { LoadOptions } from '../../models/load-model';
import { ModelDownload } from '../../models/sources/download';
import { ProgressMeter } from '../../models/sources/progress';
import { type ChoiceParts, type OpenedModel, openDownloaded } from './model-choice';
import type { ModelDevice } from './model-device';
import type { LoadProgress } from './protocol';
import { type Residence, type ResidentAdapter, ResidentModel } from './resident-model';

export interface ResidencyParts extends Pick<ChoiceParts, 'cache' | 'hub'> {
  device: ModelDevice;
  onProgress(progress: LoadProgress): void;
  /** What is looked at; its files stay open when another model comes. */
  chosen(): OpenedModel | null;
}

const uncounted: Omit<LoadProgress, 'phase' | 'detail'> = {
  done: 0,
  total: 0,
  bytesPerSecond: 0,
  secondsLeft: null,
  paused: false,
};

export class Residency {
  resident: ResidentModel | null = null;
  private download: ModelDownload | null = null;
  private lastProgress: LoadProgress | null = null;

  constructor(private readonly parts: ResidencyParts) {}

  /** Throws what `ModelDownload` throws. */
  async fetch(opened: OpenedModel, signal: AbortSignal): Promise<OpenedModel> {
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

  pauseDownload(): void {
    this.download?.pause();
    if (this.lastProgress) this.report({ ...this.lastProgress, bytesPerSecond: 0, secondsLeft: null });
  }

  resumeDownload(): void {
    this.download?.resume();
    if (this.lastProgress) this.report(this.lastProgress);
  }

  /** Puts a model on the GPU in place of the one that is there. */
  async settle(
    opened: OpenedModel,
    residence: Residence,
    adapter: ResidentAdapter | null,
    signal?: AbortSignal,
  ): Promise<ResidentModel> {
    const step = (phase: LoadProgress['phase'], detail: string): void => this.report({ ...uncounted, phase, detail });
    step('opening', 'the graphics processor');
    const gpu = await this.parts.device.openTested(() => step('self-test', 'its arithmetic'));
    signal?.throwIfAborted();
    this.drop(opened);
    let meter: ProgressMeter | null = null;
    const onProgress: LoadOptions['onProgress'] = ({ bytes, total, tensor }) => {
      meter ??= new ProgressMeter(total, ({ file, loaded, bytesPerSecond, secondsLeft }) =>
        this.report({ ...uncounted, phase: 'loading', detail: file, done: loaded, total, bytesPerSecond, secondsLeft }),
      );
      meter.at(tensor, 'fetching', bytes, bytes >= total);
    };
    this.resident = await ResidentModel.load(gpu, opened, residence, adapter, { signal, onProgress });
    return this.resident;
  }

  /** `next`: what is loaded instead, whose files must stay open. */
  drop(next: OpenedModel | null = null): void {
    const { resident } = this;
    this.resident = null;
    if (!resident) return;
    resident.dispose();
    const { source } = resident.opened;
    if (source !== this.parts.chosen()?.source && source !== next?.source) source.close();
  }

  /** Nothing is under way any more: a late pause must not show an old report. */
  rest(): void {
    this.lastProgress = null;
  }

  private report(progress: LoadProgress): void {
    const paused = this.download?.paused ?? false;
    this.lastProgress = progress;
    this.parts.onProgress({ ...progress, paused });
  }
}
