/** @file One contestant's turn, in Node and in a page alike: load its module, measure it, hand back plain numbers. */
import { measureDecode } from '../decode/measure.mjs';
import { measureStep } from '../step/measure.mjs';

/**
 * Paths are relative to the repository's root, with "/".
 * @typedef {{kind: 'step', module: string, size: string, seconds: number}} StepTask
 * @typedef {{kind: 'decode', module: string, files: string[], prompt: number[], tokens: number}} DecodeTask
 */

/**
 * @param {StepTask | DecodeTask} task
 * @param {{load: (path: string) => Promise<any>, open: (path: string) => Promise<Blob>}} host
 */
export async function contest(task, { load, open }) {
  const { prepare } = await load(task.module);
  if (task.kind === 'step') return measureStep(prepare, task.size, task.seconds);
  /** @type {import('../decode/measure.mjs').ModelFile[]} */
  const files = [];
  for (const path of task.files) files.push({ name: path.slice(path.lastIndexOf('/') + 1), blob: await open(path) });
  return measureDecode(prepare, files, task);
}
