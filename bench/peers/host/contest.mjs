/**
 * @file One contestant, in Node and in a page alike: load its module, warm it up, then take single rounds when asked. Rounds of
 * the contestants alternate, so that whatever else the machine does meanwhile falls on all of them.
 */
import { openDecode } from '../decode/rounds.mjs';
import { openStep } from '../step/rounds.mjs';

/**
 * Paths are relative to the repository's root, with "/". `options` are the module's own.
 * @typedef {{kind: 'step', module: string, size: string}} StepTask
 * @typedef {{kind: 'decode', module: string, files: string[], prompt: number[], tokens: number, options?: object}} DecodeTask
 * @typedef {object} Opened
 * @property {Record<string, unknown>} first What warming up showed.
 * @property {() => Promise<Record<string, unknown> & {ms: number}>} round
 */

/**
 * @param {StepTask | DecodeTask} task
 * @param {{load: (path: string) => Promise<any>, open: (path: string) => Promise<Blob>}} host
 * @returns {Promise<Opened>}
 */
export async function openContest(task, { load, open }) {
  const { prepare } = await load(task.module);
  if (task.kind === 'step') return openStep(prepare, task.size);
  /** @type {import('../decode/rounds.mjs').ModelFile[]} */
  const files = [];
  for (const path of task.files) files.push({ name: path.slice(path.lastIndexOf('/') + 1), blob: await open(path) });
  return openDecode(prepare, files, task);
}
