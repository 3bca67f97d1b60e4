/**
 * @file Starts the worker around transformers.js. Its code and the runtime's WebAssembly are fetched only here, at the
 * first use.
 *
 * To be called in the trainer: the page's Trusted Types let nothing but the trainer become a worker.
 */
import type { KillableWorker } from '../dream/text-models';
import workerUrl from './transformers-worker?worker&url';

export function startTransformersWorker(): KillableWorker {
  return new Worker(workerUrl, { type: 'module', name: 'transformers' });
}
