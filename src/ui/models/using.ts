/** @file The loaded model at work: it continues a prompt, weighs a text, and carries an adapter. */
import { signal } from '@preact/signals';
import type { GenerateAnswer, PickedFile, ScoreAnswer } from '../../worker/models/protocol';
import { save } from '../state/files';
import { announce } from '../state/messages';
import { doing, loaded, models, showProblem, streamed, streamedTokens } from './connection';

export const prompt = signal('');
export const chat = signal(true);
export const temperature = signal(0.7);
export const maxTokens = signal(128);
export const seed = signal(1);
export const answer = signal<GenerateAnswer | null>(null);
export const scoreText = signal('');
export const score = signal<ScoreAnswer | null>(null);

export async function generate(): Promise<void> {
  const model = loaded.value;
  if (!model) return;
  answer.value = null;
  streamed.value = '';
  streamedTokens.value = 0;
  const result = await doing('generate', 'use', (remote) =>
    remote.generate({
      prompt: prompt.value,
      chat: chat.value && model.hasChatTemplate,
      temperature: temperature.value,
      maxTokens: maxTokens.value,
      seed: seed.value,
    }),
  );
  if (!result) return;
  answer.value = result;
  announce(`The answer is finished: ${result.tokens.length} tokens.`);
}

export async function stop(): Promise<void> {
  await (await models()).stop();
}

export async function weigh(): Promise<void> {
  score.value = null;
  const result = await doing('score', 'use', (remote) => remote.score(scoreText.value));
  if (!result) return;
  score.value = result;
  announce(`Scored ${result.tokens.length} tokens.`);
}

export async function importAdapter(files: readonly PickedFile[]): Promise<void> {
  if (files.length === 0) return;
  const result = await doing('adapter', 'adapter', (remote) => remote.importAdapter(files));
  if (!result) return;
  loaded.value = result;
  announce('The adapter is on.');
}

export async function switchAdapter(enabled: boolean): Promise<void> {
  try {
    loaded.value = await (await models()).setAdapter(enabled);
  } catch (error) {
    showProblem('adapter', error);
  }
}

export async function removeAdapter(): Promise<void> {
  const result = await doing('adapter', 'adapter', (remote) => remote.removeAdapter());
  if (result) loaded.value = result;
}

export async function exportAdapter(format: 'peft' | 'gguf'): Promise<void> {
  const file = await doing('adapter', 'adapter', (remote) => remote.exportAdapter(format));
  if (file) save(file.name, file.bytes, 'application/octet-stream');
}
