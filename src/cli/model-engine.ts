/**
 * @file A tested device with a real model on it, once: the base in the file's own precision, an adapter that learns, and the
 * same base without it as experience model, task generator and KL reference.
 */

import { basename } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { LoopParts } from '../dream/loop';
import type { RunModel } from '../dream/run-store';
import {
  ChatTurns,
  defaultTextSettings,
  householdTextDomain,
  type TextSettings,
  type WarmStartOptions,
  warmStart,
} from '../dream/text-household';
import { type Gpu, openGpu } from '../gpu/device';
import { assertDevicePasses, runSelfTest } from '../gpu/self-test';
import { type AdapterFacts, adapterFromEngine, writeGgufLora, writePeft } from '../models/adapters';
import type { WeightSource } from '../models/weights';
import type { DecoderConfig } from '../nn/config';
import { initialise } from '../nn/initialise';
import { policyModel, referenceModel } from '../nn/reference-model';
import type { CommandIo } from './command';
import { nodeGpu } from './node-gpu';
import { loadFromDisk, openSource, openTokenizer } from './open-model';

/** What a person may choose, or a stored run already has. */
export type ModelChoice = Partial<Pick<RunModel, 'rank' | 'alpha' | 'contextLength' | 'parallel'>>;

export interface ModelEngine {
  gpu: Gpu;
  parts: Pick<LoopParts, 'policy' | 'experience' | 'domain'> &
    Required<Pick<LoopParts, 'reference' | 'parallel' | 'model'>>;
  /** Steps of imitation, where the run's settings ask for them; the loss of each. */
  warmStart(options: Pick<WarmStartOptions, 'maxSteps' | 'onStep'>): Promise<number[]>;
  /** The adapter as it is now, as the files of a PEFT folder. */
  exportPeft(facts: AdapterFacts['facts']): Promise<Map<string, Uint8Array>>;
  /** The same for llama.cpp. Throws `unsupported-architecture`. */
  exportGguf(): Promise<Uint8Array>;
}

const worldSize = 'small';

/** Keys and values of the policy's and of the experience model's episodes, together. */
const CACHE_BYTES = 2 * 2 ** 30;
const mostParallel = 128;

/**
 * @param seed of the adapter's first weights.
 * Throws what opening and loading throw, `no-tokenizer`, `no-chat-template`, `chat-template-unsplittable`,
 * `self-test-failed`.
 */
export async function openModelEngine(
  io: CommandIo,
  path: string,
  choice: ModelChoice,
  seed: number,
  text: TextSettings = defaultTextSettings,
): Promise<ModelEngine> {
  const { rank = 8, alpha = 16 } = choice;
  const source = await openSource(io, path);
  const label = basename(io.resolve(path));
  try {
    const contextLength = Math.min(choice.contextLength ?? 2048, source.config.contextLength);
    // Before the weights are read: a model that cannot hold a conversation is of no use here.
    const tokenizer = await openTokenizer(source);
    const domain = householdTextDomain(tokenizer, worldSize, text);
    const gpu = await openGpu(await nodeGpu());
    assertDevicePasses(await runSelfTest(gpu));
    const lora = { rank, alpha };
    const model = await loadFromDisk(io, gpu, source, { lora, contextLength, tokensPerPass: contextLength });
    initialise(model, seed, 'adapters');
    const policy = policyModel(model);
    const experience = referenceModel(model);
    const parallel = choice.parallel ?? parallelEpisodes(gpu, model.config);
    const hash = await baseHash(source);
    const adapter = async () => {
      const { weights } = await policy.exportState(false);
      return adapterFromEngine(weights, model.config, lora, { baseModel: label, baseHash: hash });
    };
    return {
      gpu,
      parts: {
        policy,
        experience,
        domain,
        reference: (sequences) => experience.score(sequences),
        parallel,
        model: { label, sha256: hash, rank, alpha, contextLength, parallel, text },
      },
      warmStart: (options) =>
        warmStart(policy, new ChatTurns(tokenizer), text, { ...options, size: worldSize, seed, contextLength }),
      exportPeft: async (facts) => writePeft(await adapter(), { facts }),
      exportGguf: async () => writeGgufLora(await adapter(), source.architecture, model.config),
    };
  } finally {
    source.close();
  }
}

/** So many that the caches of both roles fit into the budget, and each layer's into one buffer. */
export function parallelEpisodes({ limits }: Pick<Gpu, 'limits'>, config: DecoderConfig): number {
  const layerBytes = 2 * config.kvHeads * config.headDim * 4 * config.contextLength;
  const inBudget = CACHE_BYTES / (2 * config.layers * layerBytes);
  const inBuffer = Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize) / layerBytes;
  return Math.max(1, Math.floor(Math.min(mostParallel, inBudget, inBuffer)));
}

/**
 * The same for the same model wherever its file lies and whatever it is called: its settings, every tensor's description, and
 * every tensor's first row, in which models of one shape differ.
 */
export async function baseHash(
  source: Pick<WeightSource, 'architecture' | 'config' | 'tensors' | 'read'>,
): Promise<string> {
  const tensors = [...source.tensors.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const config = Object.entries(source.config).sort(([a], [b]) => (a < b ? -1 : 1));
  const described = tensors.map(({ name, rows, columns, stored }) => [name, rows, columns, stored]);
  const hash = sha256.create();
  hash.update(new TextEncoder().encode(JSON.stringify([source.architecture, config, described])));
  for (const { name } of tensors) {
    const row = await source.read(name, 0, 1, 'f32', 'single');
    if (row.form === 'f32')
      hash.update(new Uint8Array(row.values.buffer, row.values.byteOffset, row.values.byteLength));
  }
  return bytesToHex(hash.digest());
}
