/** @file One question to an experience model of another kind. The key of an endpoint lives in this module's memory only. */
import { signal } from '@preact/signals';
import { transfer } from 'comlink';
import type { WeightType } from '../../dream/text-models';
import { builtInAvailability, lendTextModel, openBuiltInModel, type TextModel } from '../../dream/text-models';
import type { ExperienceReply, ExperienceTarget, ExperienceTask } from '../../worker/models/protocol';
import { announce } from '../state/messages';
import { asking, doing, models, showProblem } from './connection';

export type TargetKind = ExperienceTarget['kind'];

export const target = signal<TargetKind>('loaded');
export const endpoint = signal({ baseUrl: 'http://localhost:11434', model: '' });
/** Never written anywhere, never shown. */
export const endpointKey = signal('');
export const transformersId = signal('onnx-community/Qwen2.5-0.5B-Instruct');
export const transformersWeights = signal<WeightType>('q4f16');
export const transformersDevice = signal<'webgpu' | 'wasm'>('webgpu');
export const builtIn = signal<Awaited<ReturnType<typeof builtInAvailability>>>('absent');
export const tasks = signal<readonly ExperienceTask[]>([]);
export const taskId = signal('');
export const action = signal('');
export const reply = signal<ExperienceReply | null>(null);

export async function prepareQuestions(): Promise<void> {
  if (tasks.value.length > 0) return;
  try {
    builtIn.value = await builtInAvailability().catch(() => 'absent' as const);
    tasks.value = await (await models()).experienceTasks();
    chooseTask(tasks.value[0].id);
  } catch (error) {
    showProblem('experience', error);
  }
}

export function chooseTask(id: string): void {
  taskId.value = id;
  action.value = tasks.value.find((task) => task.id === id)?.suggestion ?? action.value;
}

export async function ask(): Promise<void> {
  reply.value = null;
  const request = { taskId: taskId.value, action: action.value, temperature: 0.7, maxTokens: 256, seed: 1 };
  const result = await doing('ask', 'experience', async (remote) => {
    const lent = target.value === 'built-in' ? await lend() : null;
    try {
      return await remote.ask(lent ? transfer(lent.target, [lent.target.port]) : chosenTarget(), request);
    } finally {
      lent?.takeBack();
    }
  });
  if (!result) return;
  reply.value = result;
  announce('The experience model has answered.');
}

export function chosenTarget(): ExperienceTarget {
  if (target.value === 'endpoint')
    return { kind: 'endpoint', ...endpoint.value, key: endpointKey.value.trim() || undefined };
  if (target.value === 'transformers')
    return {
      kind: 'transformers',
      id: transformersId.value.trim(),
      device: transformersDevice.value,
      weights: transformersWeights.value,
    };
  return { kind: 'loaded' };
}

let opened: Promise<TextModel> | null = null;

/** The browser's model exists in windows only; the worker borrows it for the question. */
export async function lend(): Promise<{ target: Extract<ExperienceTarget, { kind: 'built-in' }>; takeBack(): void }> {
  opened ??= openBuiltInModel({
    onProgress: (fraction) => {
      asking.value = `The browser fetches its model: ${Math.round(fraction * 100)}%`;
    },
  }).catch((error: unknown) => {
    opened = null;
    throw error;
  });
  const { port1, port2 } = new MessageChannel();
  const stopLending = lendTextModel(port1, await opened);
  return {
    target: { kind: 'built-in', port: port2 },
    takeBack() {
      stopLending();
      port1.close();
    },
  };
}
