/** @file The memory plan of an opened model for this device, and what it has to say when a loading did not fit. */
import { DreamError } from '../../data/errors';
import { planLoad } from '../../models/load-model';
import { planMemory } from '../../models/memory-plan';
import type { OpenedModel } from './model-choice';
import { deviceFacts, type ModelDevice } from './model-device';
import type { PlanAnswer, PlanInputs } from './protocol';

/** What every WebGPU device allows, for a plan where none answered. */
const smallestLimits = { maxBufferSize: 2 ** 28, maxStorageBufferBindingSize: 2 ** 27 };
/** Tokens computed at once while a prompt is read (nn/sessions.ts). */
const PROMPT_TOKENS = 2048;

/** Throws what `planLoad` throws. */
export async function planFor(opened: OpenedModel, inputs: PlanInputs, device: ModelDevice): Promise<PlanAnswer> {
  const { config, forms } = planLoad(opened.source, { contextLength: inputs.contextLength });
  const gpu = await device.open().catch(() => null);
  const { maxBufferSize, maxStorageBufferBindingSize } = gpu?.limits ?? smallestLimits;
  const limits = { maxBufferSize, maxStorageBufferBindingSize, budgetBytes: inputs.budgetBytes };
  const plan = planMemory(config, forms, { ...inputs, promptTokens: PROMPT_TOKENS }, limits);
  return { ...plan, device: gpu && deviceFacts(gpu) };
}

/** The error of a loading; what did not fit is told together with what the plan would change. */
export async function explained(
  error: unknown,
  opened: OpenedModel,
  inputs: PlanInputs,
  device: ModelDevice,
): Promise<unknown> {
  if (!(error instanceof DreamError) || !/^gpu-(out-of-memory|buffer-too-large)$/.test(error.code)) return error;
  const plan = await planFor(opened, inputs, device);
  const advice = `The plan for these settings: ${plan.advice} ${error.advice}`;
  return new DreamError(error.code, error.message, advice, { cause: error });
}
