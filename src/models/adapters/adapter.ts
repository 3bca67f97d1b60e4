/**
 * @file A LoRA as data, whatever file it lies in: y = x transpose(W) + (alpha / rank) (x transpose(A)) transpose(B).
 *
 * Modules carry Hugging Face's names (`model.layers.0.self_attn.q_proj`), as in PEFT. The seven projections of a layer
 * may be adapted; any subset will do.
 */
import { DreamError } from '../../data/errors';
import type { DecoderConfig } from '../../nn/config';

export interface LoraModule {
  /** [rank, inputs] */
  a: Float32Array;
  /** [outputs, rank] */
  b: Float32Array;
}

export interface LoraAdapter {
  /** One for all modules. */
  rank: number;
  alpha: number;
  modules: Map<string, LoraModule>;
  /** The base it was trained on: a hub name (`owner/name`) or the file's name. */
  baseModel: string;
  /** Tells bases of one shape apart, where known; compared as plain text. */
  baseHash?: string;
}

/** Far above what anyone trains; a larger number is damage. */
export const MAX_RANK = 4096;

export const PROJECTIONS = [
  'self_attn.q_proj',
  'self_attn.k_proj',
  'self_attn.v_proj',
  'self_attn.o_proj',
  'mlp.gate_proj',
  'mlp.up_proj',
  'mlp.down_proj',
] as const;
export type ProjectionName = (typeof PROJECTIONS)[number];

export interface ProjectionShape {
  outputs: number;
  inputs: number;
}

/** What `projection` maps to what in a model of this shape. */
export function projectionShape(config: DecoderConfig, projection: ProjectionName): ProjectionShape {
  const { width, ffn } = config;
  const q = config.heads * config.headDim;
  const kv = config.kvHeads * config.headDim;
  switch (projection) {
    case 'self_attn.q_proj':
      return { outputs: q, inputs: width };
    case 'self_attn.k_proj':
    case 'self_attn.v_proj':
      return { outputs: kv, inputs: width };
    case 'self_attn.o_proj':
      return { outputs: width, inputs: q };
    case 'mlp.gate_proj':
    case 'mlp.up_proj':
      return { outputs: ffn, inputs: width };
    case 'mlp.down_proj':
      return { outputs: width, inputs: ffn };
  }
}

export const moduleName = (layer: number, projection: ProjectionName): string => `model.layers.${layer}.${projection}`;

/** Layer and projection of a module's name; null when it is none of the seven. */
export function parseModule(name: string): { layer: number; projection: ProjectionName } | null {
  const match = /^model\.layers\.(0|[1-9]\d{0,5})\.(.+)$/.exec(name);
  const projection = PROJECTIONS.find((known) => known === match?.[2]);
  return match && projection ? { layer: Number(match[1]), projection } : null;
}

export function badAdapter(message: string, advice = 'The file is damaged; export the adapter again.'): DreamError {
  return new DreamError('bad-adapter', message, advice);
}

export function adapterMismatch(message: string): DreamError {
  return new DreamError(
    'adapter-mismatch',
    message,
    'Load the base model that this adapter was trained on, or an adapter for the model that is loaded.',
  );
}

/** Throws `bad-adapter` unless rank, alpha and every value make sense by themselves. */
export function checkAdapter({ rank, alpha, modules }: LoraAdapter): void {
  if (!Number.isSafeInteger(rank) || rank < 1 || rank > MAX_RANK) throw badAdapter(`The adapter has rank ${rank}.`);
  // llama.cpp reads an alpha of 0 as "no scale", PEFT as "no adapter": neither is meant.
  if (!Number.isFinite(alpha) || alpha <= 0) throw badAdapter(`The adapter has alpha ${alpha}.`);
  if (modules.size === 0) throw badAdapter('The adapter adapts nothing.');
  for (const [name, { a, b }] of modules) {
    if (a.length === 0 || b.length === 0 || a.length % rank !== 0 || b.length % rank !== 0)
      throw badAdapter(`"${name}" has ${a.length} and ${b.length} values, which are no matrices of rank ${rank}.`);
    if (!a.every(Number.isFinite) || !b.every(Number.isFinite))
      throw badAdapter(
        `"${name}" holds values that are not finite.`,
        'The training that made it diverged, or the file is damaged; use an earlier export.',
      );
  }
}

/**
 * Throws `adapter-mismatch`, naming the module, unless the adapter fits a base of this shape (and this hash, where both
 * know theirs); `bad-adapter` as `checkAdapter` does.
 */
export function checkAdapterFits(adapter: LoraAdapter, config: DecoderConfig, baseHash?: string): void {
  checkAdapter(adapter);
  const made = `It was made for ${JSON.stringify(adapter.baseModel.slice(0, 200))}.`;
  for (const [name, { a, b }] of adapter.modules) {
    const module = parseModule(name);
    if (!module) throw adapterMismatch(`The adapter changes "${name}", which this engine does not adapt. ${made}`);
    if (module.layer >= config.layers)
      throw adapterMismatch(`The adapter changes "${name}", but the model has ${config.layers} layers. ${made}`);
    const { outputs, inputs } = projectionShape(config, module.projection);
    const found = [b.length / adapter.rank, a.length / adapter.rank];
    if (found[0] !== outputs || found[1] !== inputs)
      throw adapterMismatch(`"${name}" is [${found}] in the adapter and [${outputs},${inputs}] in the model. ${made}`);
  }
  if (baseHash && adapter.baseHash && baseHash !== adapter.baseHash)
    throw adapterMismatch(`The adapter was trained on other weights of the same shape. ${made}`);
}
