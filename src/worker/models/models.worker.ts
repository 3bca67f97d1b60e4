/** @file The worker behind the panel "Models": started when the panel is opened, with a device of its own. */
import { expose } from 'comlink';
import { assertDevicePasses, runSelfTest } from '../../gpu/self-test';
import { readOverHttp } from '../../models/embedded';
import type { FileCache } from '../../models/sources/file-cache';
import { MemoryFileCache } from '../../models/sources/memory-file-cache';
import { type OpfsStorage, openOpfsCache } from '../../models/sources/opfs-file-cache';
import { type AliveMessage, isBoot } from '../boot';
import { transferTypedErrors } from '../error-transfer';
import { startTransformersWorker } from '../transformers-worker-start';
import { embeddedFiles } from './embedded-files';
import { ModelService } from './model-service';

transferTypedErrors();

let cache: Promise<FileCache> | undefined;

/** A private window may keep nothing: then downloads live as long as the page. */
function openCache(): Promise<FileCache> {
  cache ??= openOpfsCache(navigator.storage as unknown as OpfsStorage).then((found) => found ?? new MemoryFileCache());
  return cache;
}

function boot({ data }: MessageEvent<unknown>): void {
  if (!isBoot(data)) return;
  removeEventListener('message', boot);
  const read = readOverHttp(data.baseUrl);
  const service = new ModelService({
    webgpu: navigator.gpu,
    checkDevice: async (gpu) => assertDevicePasses(await runSelfTest(gpu)),
    cache: openCache,
    startTransformers: startTransformersWorker,
    embeddedFiles: () => embeddedFiles(read),
  });
  expose(service);
  void navigator.locks?.request(data.lifeLock, () => {
    postMessage({ dreamgym: 'alive' } satisfies AliveMessage);
    return new Promise<never>(() => {});
  });
}

addEventListener('message', boot);
