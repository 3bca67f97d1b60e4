/** @file What experiments need of this machine: a tested device of their own with the embedded models on it. */
import { DreamError } from '../../data/errors';
import type { ExperimentParts } from '../../dream/experiment/run';
import { stageRunners } from '../../dream/experiment/stages';
import { householdDomain } from '../../dream/household';
import { type Gpu, openGpu } from '../../gpu/device';
import { assertDevicePasses, runSelfTest } from '../../gpu/self-test';
import { openHouseholdModels, type ReadModelFile } from '../../models/embedded';
import { gpuAdvantages } from '../../rl/kernels/advantages';
import { gpuDpo } from '../../rl/kernels/dpo-loss';
import { gpuTopK } from '../../rl/kernels/topk';
import { lockRun } from '../../store/run-lock';

/** @param source as in `openHouseholdModels`. Throws as it does, and `self-test-failed`. */
export async function openExperimentParts(gpu: Gpu, source: string | ReadModelFile): Promise<ExperimentParts> {
  const { policy, experience, tokenizer } = await openHouseholdModels(gpu, source);
  return {
    policy,
    experience,
    domain: householdDomain(tokenizer),
    kernels: { advantages: gpuAdvantages(gpu), topK: gpuTopK(gpu) },
    adapter: gpu.adapterName,
    gpuBytes: () => gpu.memory.bytesPeak,
    stages: stageRunners,
    dpo: gpuDpo(gpu),
    warmStart: { policy: await policy.exportState(false), experience: await experience.exportState(false) },
  };
}

export function experimentOpener(baseUrl: string, webgpu: GPU | undefined = globalThis.navigator?.gpu) {
  return async (): Promise<{ parts: ExperimentParts; close(): void }> => {
    const gpu = await openGpu(webgpu);
    try {
      assertDevicePasses(await runSelfTest(gpu));
      return { parts: await openExperimentParts(gpu, baseUrl), close: () => gpu.destroy() };
    } catch (error) {
      gpu.destroy();
      throw error;
    }
  };
}

/** One tab an experiment: two would overwrite each other's stages. Throws `busy`. */
export async function lockExperiment(experiment: string): Promise<() => void> {
  try {
    return await lockRun(`experiment/${experiment}`);
  } catch (cause) {
    throw new DreamError(
      'busy',
      'This experiment is running in another tab.',
      'Watch it there, or stop it there and start it here again.',
      { cause },
    );
  }
}
