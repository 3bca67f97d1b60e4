/**
 * @file LoRA as a PEFT folder: adapter_config.json, adapter_model.safetensors, README.md.
 *
 * Keys are `base_model.model.` + module + `.lora_A.weight` / `.lora_B.weight`. Older PEFT refuses unknown keys in the
 * config, so what is ours alone lies in the metadata of the safetensors file. What we do not compute (DoRA, biases,
 * ranks that differ by module, extra trained modules) is refused by name: read half, it would be another adapter.
 */
import { DreamError } from '../../data/errors';
import { isJsonObject } from '../../data/json-object';
import type { DecoderConfig } from '../../nn/config';
import { readSafetensors, writeSafetensors } from '../safetensors';
import {
  adapterMismatch,
  badAdapter,
  checkAdapter,
  checkAdapterFits,
  type LoraAdapter,
  type LoraModule,
  MAX_RANK,
} from './adapter';
import { type AdapterFacts, adapterCard } from './card';

export const CONFIG_FILE = 'adapter_config.json';
export const WEIGHTS_FILE = 'adapter_model.safetensors';
export const CARD_FILE = 'README.md';

const PREFIX = 'base_model.model.';
const HASH_KEY = 'base_hash';

type Files = ReadonlyMap<string, Uint8Array>;

/** Throws `bad-adapter` rather than export what nothing could load. */
export function writePeft(adapter: LoraAdapter, facts: AdapterFacts = {}): Map<string, Uint8Array> {
  checkAdapter(adapter);
  const { rank, alpha, modules, baseModel, baseHash } = adapter;
  const tensors = new Map<string, { shape: number[]; data: Float32Array }>();
  for (const [name, { a, b }] of modules) {
    tensors.set(`${PREFIX}${name}.lora_A.weight`, { shape: [rank, a.length / rank], data: a });
    tensors.set(`${PREFIX}${name}.lora_B.weight`, { shape: [b.length / rank, rank], data: b });
  }
  const config = {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: baseModel,
    r: rank,
    lora_alpha: alpha,
    target_modules: targetModules([...modules.keys()]),
    lora_dropout: 0,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    modules_to_save: null,
    rank_pattern: {},
    alpha_pattern: {},
  };
  const text = (content: string): Uint8Array => new TextEncoder().encode(content);
  return new Map([
    [CONFIG_FILE, text(`${JSON.stringify(config, null, 2)}\n`)],
    [WEIGHTS_FILE, writeSafetensors(tensors, baseHash ? { [HASH_KEY]: baseHash } : {})],
    [CARD_FILE, text(adapterCard(adapter, facts))],
  ]);
}

/** The short names (`q_proj`) when every layer adapts the same ones, else each module by its full name. */
function targetModules(names: readonly string[]): string[] {
  const byLayer = new Map<string, Set<string>>();
  for (const name of names) {
    const [, layer = '', part = name] = /^model\.layers\.(\d+)\.(.+)$/.exec(name) ?? [];
    byLayer.set(layer, (byLayer.get(layer) ?? new Set()).add(part));
  }
  const [first, ...others] = [...byLayer.values()];
  const regular = others.every((parts) => parts.size === first.size && [...parts].every((part) => first.has(part)));
  // Layers need not be adapted all: PEFT would then miss the tensors of the others.
  const layers = [...byLayer.keys()].map(Number);
  const whole = layers.every((layer) => layer < layers.length);
  return regular && whole ? [...first].map((part) => part.split('.').at(-1) ?? part) : [...names];
}

/**
 * A folder's files by name (paths are ignored up to the last slash). With `config`, checked against that base.
 * Throws `bad-adapter` or `adapter-mismatch`.
 */
export function readPeft(files: Files, config?: DecoderConfig, baseHash?: string): LoraAdapter {
  const settings = readSettings(file(files, CONFIG_FILE));
  const { tensors, metadata } = readWeights(file(files, WEIGHTS_FILE));
  const adapter: LoraAdapter = { ...settings, modules: new Map() };
  if (metadata[HASH_KEY]) adapter.baseHash = metadata[HASH_KEY];

  const halves = new Map<string, Partial<LoraModule>>();
  for (const [key, { shape, data }] of tensors) {
    const [, name, half] = /^base_model\.model\.(.+)\.lora_([AB])(?:\.default)?\.weight$/.exec(key) ?? [];
    if (!name) throw adapterMismatch(`${WEIGHTS_FILE} holds "${key}", which is not a LoRA of a linear layer.`);
    const rank = half === 'A' ? shape[0] : shape[1];
    if (shape.length !== 2 || rank !== adapter.rank)
      throw adapterMismatch(`"${key}" is [${shape}], but ${CONFIG_FILE} says rank ${adapter.rank}.`);
    const module = halves.get(name) ?? {};
    module[half === 'A' ? 'a' : 'b'] = data;
    halves.set(name, module);
  }
  for (const [name, { a, b }] of halves) {
    if (!a || !b) throw badAdapter(`${WEIGHTS_FILE} lacks lora_${a ? 'B' : 'A'} of "${name}".`);
    adapter.modules.set(name, { a, b });
  }
  if (config) checkAdapterFits(adapter, config, baseHash);
  else checkAdapter(adapter);
  return adapter;
}

function file(files: Files, name: string): Uint8Array {
  for (const [path, bytes] of files) if (path.split('/').at(-1) === name) return bytes;
  throw badAdapter(`There is no ${name}.`, 'Choose the whole PEFT folder, or the zip that was exported.');
}

function readWeights(bytes: Uint8Array): ReturnType<typeof readSafetensors> {
  try {
    return readSafetensors(bytes, ['F32', 'F16', 'BF16']);
  } catch (error) {
    if (error instanceof DreamError) throw badAdapter(`${WEIGHTS_FILE}: ${error.message}`);
    throw error;
  }
}

function readSettings(bytes: Uint8Array): Pick<LoraAdapter, 'rank' | 'alpha' | 'baseModel'> {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw badAdapter(`${CONFIG_FILE} is not JSON.`);
  }
  if (!isJsonObject(json)) throw badAdapter(`${CONFIG_FILE} is not an object.`);
  const settings = json as Record<string, unknown>;
  if (settings.peft_type !== 'LORA')
    throw badAdapter(`The adapter is of the type ${JSON.stringify(settings.peft_type)}.`, 'Only LoRA is read here.');
  for (const key of ['use_dora', 'fan_in_fan_out', 'lora_bias', 'modules_to_save', 'rank_pattern', 'alpha_pattern']) {
    if (isSet(settings[key])) throw unsupported(key, settings[key]);
  }
  if (settings.bias !== undefined && settings.bias !== 'none') throw unsupported('bias', settings.bias);
  const { r, lora_alpha: alpha } = settings;
  if (typeof r !== 'number' || !Number.isSafeInteger(r) || r < 1 || r > MAX_RANK)
    throw badAdapter(`${CONFIG_FILE} has no usable rank "r".`);
  if (typeof alpha !== 'number' || !Number.isFinite(alpha) || alpha <= 0)
    throw badAdapter(`${CONFIG_FILE} has no usable "lora_alpha".`);
  const base = settings.base_model_name_or_path;
  return {
    rank: r,
    // Rank-stabilised LoRA scales by alpha / sqrt(rank): the same product under another alpha.
    alpha: settings.use_rslora === true ? alpha * Math.sqrt(r) : alpha,
    baseModel: typeof base === 'string' ? base : '',
  };
}

/** Present and not one of JSON's ways to say "off". */
function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

function unsupported(key: string, value: unknown): DreamError {
  return badAdapter(
    `${CONFIG_FILE} sets "${key}" to ${JSON.stringify(value)?.slice(0, 200)}, which this engine does not compute.`,
    'Use a plain LoRA: one rank for all linear layers, no bias, no DoRA.',
  );
}
