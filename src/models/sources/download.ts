/**
 * @file A model from the hub: look first (`planDownload`), then fetch (`downloadModel`), with pause and cancel
 * (`ModelDownload`). Everything that was fetched is kept and used the next time, also by a later revision's plan.
 */
import type { ByteSource } from '../weights';
import { type Choice, chooseFiles } from './choose-files';
import type { FileCache } from './file-cache';
import { HttpSource } from './http-source';
import { type HubFile, type HubOptions, listHubFiles } from './hub-files';
import { fileAddress, HUB_HOST, type HubId, parseHubId } from './hub-id';
import { type DownloadProgress, ProgressMeter } from './progress';
import { ReadAhead } from './read-ahead';
import { stopped, storageFull } from './source-errors';
import { type Transfer, transfer } from './transfer';

export interface DownloadOptions extends HubOptions {
  cache: FileCache;
  onProgress?(progress: DownloadProgress): void;
}

export interface DownloadPlan extends Choice<HubFile> {
  id: HubId;
  repository: string;
  commit: string;
  totalBytes: number;
  /** Bytes that are not here yet. */
  fetchBytes: number;
}

export interface DownloadedModel {
  plan: DownloadPlan;
  /** For `openModelFiles`. */
  files: ByteSource[];
}

const keyFor = (plan: DownloadPlan, path: string): string => `${plan.repository}/${plan.commit}/${path}`;

/** Throws `bad-model-id`, `no-model-files`, `model-ambiguous`, and what `listHubFiles` throws. Fetches no weights. */
export async function planDownload(id: string | HubId, options: DownloadOptions): Promise<DownloadPlan> {
  const parsed = typeof id === 'string' ? parseHubId(id) : id;
  const { repository, commit, files } = await listHubFiles(parsed, options);
  const choice = chooseFiles(files, parsed.version, `${repository}@${parsed.revision}`);
  const totalBytes = choice.files.reduce((sum, file) => sum + file.size, 0);
  const plan: DownloadPlan = { ...choice, id: parsed, repository, commit, totalBytes, fetchBytes: totalBytes };
  const here = new Map((await options.cache.list()).map((file) => [file.key, file.bytes]));
  for (const file of choice.files) plan.fetchBytes -= Math.min(file.size, here.get(keyFor(plan, file.path)) ?? 0);
  return plan;
}

/** Descriptions and tokenizers are smaller, weights larger. */
const SMALL_FILE_BYTES = 2 ** 25;

/**
 * The model before its download, for `openModelFiles`: small files are fetched and checked, large ones are read where
 * they are, by Range requests. Throws what `transfer` and `HttpSource.open` throw.
 */
export async function remoteFiles(plan: DownloadPlan, options: DownloadOptions): Promise<ByteSource[]> {
  const sources: ByteSource[] = [];
  for (const file of plan.files) {
    const job = jobFor(plan, file, options);
    if (file.size > SMALL_FILE_BYTES && !(await options.cache.open(job.key)))
      sources.push(new ReadAhead(await HttpSource.open(job.url, { ...options, name: file.path })));
    else sources.push(new Renamed(await transfer(job), file.path));
  }
  return sources;
}

function jobFor(plan: DownloadPlan, { path, size, hash }: HubFile, options: DownloadOptions): Transfer {
  const url = fileAddress(options.host ?? HUB_HOST, plan.repository, plan.commit, path);
  return { ...options, url, key: keyFor(plan, path), size, hash };
}

/**
 * Fetches what is missing, one file after the other. An aborted `signal` stops with `download-stopped` and keeps what
 * has arrived; calling again goes on. Throws also what `planDownload` and `transfer` throw.
 */
export async function downloadModel(
  what: string | HubId | DownloadPlan,
  options: DownloadOptions,
): Promise<DownloadedModel> {
  const plan = typeof what === 'object' && 'commit' in what ? what : await planDownload(what, options);
  const free = await options.cache.freeBytes();
  if (free !== null && free < plan.fetchBytes) throw storageFull(plan.fetchBytes);
  const meter = new ProgressMeter(plan.totalBytes, (progress) => options.onProgress?.(progress));
  const files: ByteSource[] = [];
  let before = 0;
  for (const file of plan.files) {
    const { path, size } = file;
    const onBytes: Transfer['onBytes'] = (bytes, phase) => meter.at(path, phase, before + bytes);
    const source = await transfer({ ...jobFor(plan, file, options), onBytes });
    before += size;
    meter.at(path, 'fetching', before, true);
    files.push(new Renamed(source, path));
  }
  return { plan, files };
}

/** Removes a model's files at all its commits, finished or not. */
export async function removeModel(cache: FileCache, id: string | HubId): Promise<void> {
  const { owner, name } = typeof id === 'string' ? parseHubId(id) : id;
  await cache.remove(`${owner}/${name}`);
}

/** In the cache a file is called by its whole key, in a model by its path. */
class Renamed implements ByteSource {
  readonly size: number;

  constructor(
    private readonly source: ByteSource,
    readonly name: string,
  ) {
    this.size = source.size;
  }

  read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    return this.source.read(offset, length);
  }
}

/** A download with buttons. `result` settles when it is finished, failed or cancelled; a pause only makes it wait. */
export class ModelDownload {
  readonly result: Promise<DownloadedModel>;
  private controller = new AbortController();
  private state: 'running' | 'paused' | 'cancelled' = 'running';
  private wake: () => void = () => undefined;

  constructor(what: string | HubId | DownloadPlan, options: Omit<DownloadOptions, 'signal'>) {
    this.result = this.run(what, options);
  }

  get paused(): boolean {
    return this.state === 'paused';
  }

  pause(): void {
    if (this.state !== 'running') return;
    this.state = 'paused';
    this.controller.abort();
  }

  resume(): void {
    if (this.state !== 'paused') return;
    this.state = 'running';
    this.controller = new AbortController();
    this.wake();
  }

  /** Stops with `download-stopped` and discards the files that are unfinished. */
  cancel(): void {
    this.state = 'cancelled';
    this.controller.abort();
    this.wake();
  }

  private async run(
    what: string | HubId | DownloadPlan,
    options: Omit<DownloadOptions, 'signal'>,
  ): Promise<DownloadedModel> {
    let plan = what;
    for (;;) {
      // Read once: `resume` may put a new one in its place while this attempt is still ending.
      const { signal } = this.controller;
      try {
        if (typeof plan === 'string' || !('commit' in plan)) plan = await planDownload(plan, { ...options, signal });
        return await downloadModel(plan, { ...options, signal });
      } catch (error) {
        if (!signal.aborted) throw error;
        while (this.state === 'paused') {
          await new Promise<void>((resolve) => {
            this.wake = resolve;
          });
        }
        if (this.state === 'cancelled') {
          if (typeof plan !== 'string' && 'commit' in plan) await discardUnfinished(options.cache, plan);
          throw stopped();
        }
      }
    }
  }
}

async function discardUnfinished(cache: FileCache, plan: DownloadPlan): Promise<void> {
  const keys = new Set(plan.files.map((file) => keyFor(plan, file.path)));
  for (const file of await cache.list()) if (!file.complete && keys.has(file.key)) await cache.remove(file.key);
}
