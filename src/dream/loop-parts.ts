/** @file Everything the loop works with but does not own, and the reference that a KL term is measured against. */
import type { LanguageModel } from '../nn/language-model';
import type { AdvantageKernels } from '../rl/advantage-kernels';
import type { ReferenceScorer } from '../rl/policy-update';
import { frozenReference } from '../rl/reference';
import type { RunEvent } from '../worker/protocol';
import type { Domain } from './domain';
import type { TopKKernel } from './retrieval';
import type { RunModel, RunStore } from './run-store';
import type { OpenDream } from './text-models/dreams';

export interface LoopParts {
  /** Learns. */
  policy: LanguageModel;
  /** Dreams and invents tasks; frozen. */
  experience: LanguageModel;
  domain: Domain;
  kernels: { advantages: AdvantageKernels; topK: TopKKernel };
  /** Who dreams, where it is not `experience` itself: an endpoint, the browser's own model, ONNX Runtime. */
  openDream?: OpenDream;
  /** Scores for the KL term; without one, the policy's weights at the start of the run are kept and swapped in. */
  reference?: ReferenceScorer;
  /** Episodes that generate together, where the default is too many for the device. */
  parallel?: number;
  /** The base that the policy is an adapter of. */
  model?: RunModel;
  /** null keeps nothing. */
  store: RunStore | null;
  /** The adapter's name, for the record. */
  adapter: string;
  /** Bytes of GPU memory in use, at their peak if the device knows it. */
  gpuBytes: () => number;
  emit: (event: RunEvent) => void;
}

export async function referenceOf({ reference, policy }: LoopParts): Promise<ReferenceScorer> {
  return reference ?? frozenReference(policy);
}
