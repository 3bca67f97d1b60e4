/**
 * @file What a run needs from this machine: a tested device, the models on it, and the kernels of the loop.
 *
 * `TrainerService` knows only the interface, so that it can be tested with models of a few lines of plain code.
 */
import { householdDomain } from '../dream/household';
import type { LoopParts } from '../dream/loop-parts';
import type { StoredRun } from '../dream/run-store';
import { openGpu } from '../gpu/device';
import { assertDevicePasses, runSelfTest } from '../gpu/self-test';
import { openHouseholdModels } from '../models/embedded';
import { gpuAdvantages } from '../rl/kernels/advantages';
import { gpuTopK } from '../rl/kernels/topk';
import type { RunConfig } from './protocol';

export interface EngineParts
  extends Pick<LoopParts, 'policy' | 'experience' | 'domain' | 'kernels'>,
    Partial<Pick<LoopParts, 'reference' | 'parallel' | 'model' | 'openDream'>> {
  /** What a new run begins with, e.g. imitation. `onStep` is a safe point: it may wait, or throw. */
  warmUp?(onStep: (fraction: number, detail: string) => Promise<void>): Promise<void>;
}

export interface Engine {
  readonly adapter: string;
  readonly software: boolean;
  gpuBytes(): number;
  /** Settles when the device is gone, with the reason. */
  readonly lost: Promise<string>;
  /**
   * The policy is back at its warm start, with a fresh optimiser.
   * @param stored the run that goes on, or null for a new one.
   */
  parts(stored: StoredRun | null, config: RunConfig): Promise<EngineParts>;
  close(): void;
}

export type EnginePhase = 'loading' | 'self-test';
export type OpenEngine = (onPhase: (phase: EnginePhase, detail: string) => void) => Promise<Engine>;

/** `baseUrl`: the folder of the page, where public/models lies. */
export function engineOpener(baseUrl: string, webgpu: GPU | undefined = globalThis.navigator?.gpu): OpenEngine {
  return async (onPhase) => {
    onPhase('loading', 'Opening the graphics processor');
    const gpu = await openGpu(webgpu);
    try {
      onPhase('self-test', 'Checking its arithmetic against known numbers');
      assertDevicePasses(await runSelfTest(gpu));
      onPhase('loading', 'Loading the embedded model');
      const { policy, experience, tokenizer } = await openHouseholdModels(gpu, baseUrl);
      const warmStart = await policy.exportState(true);
      return {
        adapter: gpu.adapterName,
        software: gpu.isSoftware,
        gpuBytes: () => gpu.bytesAllocated,
        lost: gpu.lost.then(({ reason, message }) => message || reason || 'no reason given'),
        async parts() {
          await policy.importState(warmStart);
          return {
            policy,
            experience,
            domain: householdDomain(tokenizer),
            kernels: { advantages: gpuAdvantages(gpu), topK: gpuTopK(gpu) },
          };
        },
        close: () => gpu.destroy(),
      };
    } catch (error) {
      gpu.destroy();
      throw error;
    }
  };
}
