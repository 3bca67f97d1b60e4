/** @file The titles of what can go wrong with models; the worker's own message and advice follow. */
import { asDreamError } from '../../data/errors';
import type { Card } from '../messages/texts';

/** Where on the panel something was asked for, and so where its failure is told. */
export type Place = 'choose' | 'plan' | 'load' | 'use' | 'adapter' | 'train' | 'experience' | 'kept';

const titles: readonly (readonly [pattern: RegExp, title: string])[] = [
  [/^gpu-lost$/, 'The graphics processor was reset'],
  [/^gpu-(out-of-memory|buffer-too-large)$/, 'The graphics processor has no memory left for this'],
  [/^self-test-failed$/, 'This graphics processor computes wrong numbers'],
  [/^webgpu-missing$/, 'This browser does not offer WebGPU'],
  [/^no-adapter$/, 'No graphics processor answered'],
  [/^no-lora$/, 'There is nothing to do that with yet'],
  [/^(weak-limits|gpu-|kernel-|dispatch-)/, 'The graphics processor refused'],
  [/^worker-crashed$/, 'The models’ worker stopped unexpectedly'],
  [/^(network|hub-refused)$/, 'The hub cannot be reached'],
  [/^model-(gated|not-found)$|^bad-model-id$/, 'The hub does not give this model'],
  [/^hash-mismatch$/, 'The download is not what was published'],
  [/^storage-|^file-in-use$/, 'The browser’s storage failed'],
  [/^unsupported-/, 'This kind of model is not supported'],
  [/^(unsafe-format|adapter-not-model|no-model-files|model-ambiguous|missing-file)$/, 'These files are no model'],
  [/^(bad-adapter|adapter-mismatch)$/, 'This adapter cannot be used'],
  [/^(no-tokenizer|bad-tokenizer|no-chat-template|chat-template-failed)$/, 'The model cannot read this text'],
  [/^(context-too-short|chat-template-unsplittable)$/, 'This model cannot play as it is loaded'],
  [/^(device-lost|device-lost-again)$/, 'The graphics processor was reset'],
  [/^(already-running|run-locked)$/, 'Not now'],
  [/^(corrupt-run|other-run|other-model|newer-run)$/, 'The kept run cannot go on here'],
  [/^(no-text|context-full)$/, 'This text cannot be used'],
  [/^(endpoint|built-in|transformers)-/, 'The experience model did not answer'],
  [/^(nothing-|busy$)/, 'Not now'],
  [/^config-invalid$/, 'These settings cannot be used'],
  [/^(bad-|missing-|wrong-|file-)/, 'The model’s files are damaged or incomplete'],
];

/** Said quietly: the person did it on purpose. Null: not worth a word. */
const quiet: Readonly<Record<string, string | null>> = {
  stopped: 'Stopped',
  'download-stopped': 'Stopped',
  superseded: null,
};

/** What to show for a failure, or null for one that needs no words. */
export function problemCard(thrown: unknown): Card | null {
  const { code, message, advice } = asDreamError(thrown);
  const said = quiet[code];
  if (said === null) return null;
  return {
    id: `models-${code}`,
    level: said === undefined ? 'error' : 'info',
    title: said ?? titles.find(([pattern]) => pattern.test(code))?.[1] ?? 'Something went wrong',
    text: message,
    advice: advice ? [advice] : [],
  };
}
