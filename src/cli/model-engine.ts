/**
 * @file A tested device with a real model on it, once: the base in the file's own precision, an adapter that learns, and the
 * same base without it as experience model, task generator and KL reference.
 */

import { basename } from 'node:path';
import type { Domain } from '../dream/domain';
import type { RunModel } from '../dream/run-store';
import {
  defaultTextSettings,
  type ModelRun,
  modelRun,
  type TextSettings,
  textDomainFor,
  type WarmStartOptions,
} from '../dream/text-household';
import { type SpokenWorld, worldRun, worldTextDomain } from '../dream/text-worlds';
import { type Gpu, openGpu } from '../gpu/device';
import { assertDevicePasses, runSelfTest } from '../gpu/self-test';
import {
  type AdapterFacts,
  adapterFromEngine,
  adapterToEngine,
  type LoraAdapter,
  writeGgufLora,
  writePeft,
} from '../models/adapters';
import { baseHash, parallelEpisodes } from '../models/base-identity';
import { initialise } from '../nn/initialise';
import type { PrecisionChoice } from '../nn/precision';
import type { CommandIo } from './command';
import { nodeGpu } from './node-gpu';
import { loadFromDisk, openSource, openTokenizer } from './open-model';

/** What a person may choose, or a stored run already has. */
export type ModelChoice = Partial<Pick<RunModel, 'rank' | 'alpha' | 'contextLength' | 'parallel'>> & {
  precision?: PrecisionChoice;
};

export interface ModelEngine {
  gpu: Gpu;
  parts: ModelRun['parts'];
  /** Steps of imitation, where the run's settings ask for them; the loss of each. */
  warmStart(options: Pick<WarmStartOptions, 'maxSteps' | 'onStep'>): Promise<number[]>;
  /** The adapter as it is now, as the files of a PEFT folder. */
  exportPeft(facts: AdapterFacts['facts']): Promise<Map<string, Uint8Array>>;
  /** Puts an adapter in the place of the fresh one. Throws `adapter-mismatch`. */
  importAdapter(adapter: LoraAdapter): Promise<void>;
  /** The same for llama.cpp. Throws `unsupported-architecture`. */
  exportGguf(): Promise<Uint8Array>;
}

/**
 * @param seed of the adapter's first weights.
 * @param world null: the household.
 * Throws what opening and loading throw, `no-tokenizer`, `no-chat-template`, `chat-template-unsplittable`,
 * `self-test-failed`, `context-too-short`.
 */
export async function openModelEngine(
  io: CommandIo,
  path: string,
  choice: ModelChoice,
  seed: number,
  text: TextSettings = defaultTextSettings,
  world: SpokenWorld | null = null,
): Promise<ModelEngine> {
  const { rank = 8, alpha = 16, precision = 'f32' } = choice;
  const source = await openSource(io, path);
  const label = basename(io.resolve(path));
  try {
    const contextLength = Math.min(choice.contextLength ?? 2048, source.config.contextLength);
    // Before the weights are read: a model that cannot hold a conversation is of no use here.
    const tokenizer = await openTokenizer(source);
    const domain: Domain = world
      ? worldTextDomain(tokenizer, contextLength, world, text)
      : textDomainFor(tokenizer, contextLength, text);
    const gpu = await openGpu(await nodeGpu());
    assertDevicePasses(await runSelfTest(gpu));
    const lora = { rank, alpha };
    const model = await loadFromDisk(io, gpu, source, { lora, contextLength, tokensPerPass: contextLength, precision });
    initialise(model, seed, 'adapters');
    const parallel = choice.parallel ?? parallelEpisodes(gpu, model.config, model.precision);
    const hash = await baseHash(source);
    const half = model.precision === 'f32' ? {} : { precision: model.precision };
    const where = world ? { world: world.name } : {};
    const run = { label, sha256: hash, rank, alpha, contextLength, parallel, text, ...where, ...half };
    const { parts, warmStart } = world
      ? worldRun(model, tokenizer, world, domain, run)
      : modelRun(model, tokenizer, domain, run);
    const adapter = async () => {
      const { weights } = await parts.policy.exportState(false);
      return adapterFromEngine(weights, model.config, lora, { baseModel: label, baseHash: hash });
    };
    return {
      gpu,
      parts,
      warmStart: (options) => warmStart({ ...options, seed }),
      exportPeft: async (facts) => writePeft(await adapter(), { facts }),
      async importAdapter(given) {
        await parts.policy.importState({ step: 0, weights: adapterToEngine(given, model.config, hash) });
      },
      exportGguf: async () => writeGgufLora(await adapter(), source.architecture, model.config),
    };
  } finally {
    source.close();
  }
}
