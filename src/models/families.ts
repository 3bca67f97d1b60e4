/**
 * @file The model families the decoder computes, and the tensors each needs.
 *
 * A config.json says more than its dimensions: every setting that would change the arithmetic is either understood here
 * or refused by name, before a byte of weights is read. Defaults are those of transformers' configuration classes.
 */
import { DreamError } from '../data/errors';
import { isJsonObject } from '../data/json-object';
import { checkConfig, type DecoderConfig, type RopeScaling } from '../nn/config';
import type { TensorInfo } from './weights';

export type Json = Record<string, unknown>;

export const ARCHITECTURES = [
  'LlamaForCausalLM',
  'SmolLM3ForCausalLM',
  'Qwen2ForCausalLM',
  'Qwen3ForCausalLM',
] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

const BY_MODEL_TYPE: Readonly<Record<string, Architecture>> = {
  llama: 'LlamaForCausalLM',
  smollm3: 'SmolLM3ForCausalLM',
  qwen2: 'Qwen2ForCausalLM',
  qwen3: 'Qwen3ForCausalLM',
};

/** Loops run over layers and memory is planned from sizes: a damaged config must not make either absurd. */
const MAX_LAYERS = 1024;
const MAX_DIMENSION = 2 ** 24;

function badConfig(label: string, message: string): DreamError {
  return new DreamError('bad-model-config', `${label}: ${message}`, 'Use the config.json that belongs to the weights.');
}

function unsupported(label: string, setting: string, value: unknown): DreamError {
  return new DreamError(
    'unsupported-setting',
    `${label}: config.json sets "${setting}" to ${JSON.stringify(value)}, which this engine does not compute.`,
    'Choose a model without it: Llama 2/3, SmolLM2, SmolLM3, Qwen2/2.5 or Qwen3 as published.',
  );
}

/** The architecture a config.json names. Throws `unsupported-architecture`. */
export function architectureOf(json: Json, label: string): Architecture {
  const named = Array.isArray(json.architectures) ? json.architectures[0] : undefined;
  const name = named ?? (typeof json.model_type === 'string' ? BY_MODEL_TYPE[json.model_type] : undefined);
  const known = ARCHITECTURES.find((architecture) => architecture === name);
  if (known) return known;
  throw new DreamError(
    'unsupported-architecture',
    `${label} is a "${String(named ?? json.model_type ?? 'nameless model')}", which this engine does not know.`,
    'Choose a Llama 2/3, SmolLM2, SmolLM3, Qwen2/2.5 or Qwen3 model.',
  );
}

/**
 * The decoder's shape from a Hugging Face config.json.
 * Throws `unsupported-architecture`, `unsupported-setting` (naming the setting), `bad-model-config`.
 */
export function configFromHuggingFace(json: Json, label: string): DecoderConfig {
  const architecture = architectureOf(json, label);
  const number = (name: string, fallback?: number): number => {
    const value = json[name] ?? fallback;
    if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0 || value > MAX_DIMENSION)
      throw badConfig(label, `config.json has no usable number "${name}".`);
    return value;
  };
  const width = number('hidden_size');
  const heads = number('num_attention_heads');
  const layers = number('num_hidden_layers');
  if (layers > MAX_LAYERS) throw badConfig(label, `config.json asks for ${layers} layers.`);
  const contextLength = number('max_position_embeddings');

  const act = json.hidden_act ?? 'silu';
  if (act !== 'silu' && act !== 'swish') throw unsupported(label, 'hidden_act', act);
  if (json.attention_bias) throw unsupported(label, 'attention_bias', json.attention_bias);
  if (json.mlp_bias) throw unsupported(label, 'mlp_bias', json.mlp_bias);
  refuseSlidingWindow(json, label, architecture, layers, contextLength);

  const rope = ropeOf(json, label, architecture);
  const config: DecoderConfig = {
    vocabSize: number('vocab_size'),
    width,
    layers,
    heads,
    kvHeads: number('num_key_value_heads', heads),
    headDim: number('head_dim', architecture === 'Qwen3ForCausalLM' ? 128 : width / heads),
    ffn: number('intermediate_size'),
    ropeTheta: rope.theta,
    normEps: number('rms_norm_eps', 1e-6),
    contextLength,
  };
  if (rope.scaling) config.ropeScaling = rope.scaling;
  if (architecture === 'SmolLM3ForCausalLM') {
    const noRope = layersWithoutRope(json, label, layers);
    if (noRope.length > 0) config.noRopeLayers = noRope;
  }
  if (architecture === 'Qwen2ForCausalLM') config.attentionBias = true;
  if (architecture === 'Qwen3ForCausalLM') config.qkNorm = true;
  // transformers writes only what differs from the class's default, and SmolLM3's default is tied.
  if (!(json.tie_word_embeddings ?? architecture === 'SmolLM3ForCausalLM')) config.untiedHead = true;
  return checkConfig(config);
}

/** A window that no position can leave is no window. */
function refuseSlidingWindow(json: Json, label: string, arch: Architecture, layers: number, context: number): void {
  if (arch === 'LlamaForCausalLM') return; // the class has no such attention, whatever the file says
  const types = json.layer_types;
  const asked = Array.isArray(types)
    ? types.some((type) => type !== 'full_attention')
    : json.use_sliding_window === true && Number(json.max_window_layers ?? 0) < layers;
  const window = json.sliding_window;
  if (asked && !(window === null || (typeof window === 'number' && window >= context)))
    throw unsupported(label, 'sliding_window', window ?? types);
}

function ropeOf(json: Json, label: string, arch: Architecture): { theta: number; scaling?: RopeScaling } {
  // transformers 5 moved rope_theta and rope_scaling into one object, rope_parameters.
  const source = json.rope_parameters ? 'rope_parameters' : 'rope_scaling';
  const rope = json[source] ?? {};
  if (!isJsonObject(rope)) throw badConfig(label, `config.json's "${source}" is not an object.`);
  const values = rope as Json;
  const positive = (name: string, value: unknown): number => {
    if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0)
      throw badConfig(label, `config.json has no usable number "${name}".`);
    return value;
  };
  const byDefault = arch === 'SmolLM3ForCausalLM' ? 2_000_000 : 10_000;
  const theta = positive('rope_theta', values.rope_theta ?? json.rope_theta ?? byDefault);
  const partial = values.partial_rotary_factor ?? json.partial_rotary_factor ?? 1;
  if (partial !== 1) throw unsupported(label, 'partial_rotary_factor', partial);
  const type = values.rope_type ?? values.type ?? 'default';
  if (type === 'default') return { theta };
  if (type !== 'llama3') throw unsupported(label, source, rope);
  const scaling = {
    factor: positive('factor', values.factor),
    lowFreqFactor: positive('low_freq_factor', values.low_freq_factor),
    highFreqFactor: positive('high_freq_factor', values.high_freq_factor),
    originalContextLength: positive('original_max_position_embeddings', values.original_max_position_embeddings),
  };
  // The passage between the two bands divides by their difference.
  if (scaling.highFreqFactor <= scaling.lowFreqFactor)
    throw badConfig(label, 'config.json\'s "high_freq_factor" is not above "low_freq_factor".');
  return { theta, scaling };
}

/** `no_rope_layers` holds, against its name, 1 where a layer rotates and 0 where it does not. */
function layersWithoutRope(json: Json, label: string, layers: number): number[] {
  const all = Array.from({ length: layers }, (_, layer) => layer);
  const flags = json.no_rope_layers ?? null;
  if (flags === null) {
    const interval = json.no_rope_layer_interval ?? 4;
    if (typeof interval !== 'number' || !Number.isSafeInteger(interval) || interval < 1)
      throw badConfig(label, 'config.json has no usable number "no_rope_layer_interval".');
    return all.filter((layer) => (layer + 1) % interval === 0);
  }
  if (!Array.isArray(flags) || flags.length !== layers || !flags.every((flag) => flag === 0 || flag === 1))
    throw badConfig(label, `config.json's "no_rope_layers" is not a list of ${layers} zeros and ones.`);
  return all.filter((layer) => flags[layer] === 0);
}

export interface ExpectedTensor {
  /** Hugging Face's name. */
  readonly name: string;
  /** [rows, columns] = [outputs, inputs]; vectors are [1, n]. */
  readonly rows: number;
  readonly columns: number;
  /** False: may be in the file, is not used (a tied head's copy of the embedding). */
  readonly required: boolean;
}

/** Every tensor of a model of this shape, under Hugging Face's names, in the order of the forward pass. */
export function expectedTensors(config: DecoderConfig): ExpectedTensor[] {
  const { vocabSize, width, layers, heads, kvHeads, headDim, ffn } = config;
  const q = heads * headDim;
  const kv = kvHeads * headDim;
  const result: ExpectedTensor[] = [];
  const add = (name: string, rows: number, columns: number, required = true): void => {
    result.push({ name, rows, columns, required });
  };
  add('model.embed_tokens.weight', vocabSize, width);
  for (let layer = 0; layer < layers; layer++) {
    const at = `model.layers.${layer}`;
    add(`${at}.input_layernorm.weight`, 1, width);
    for (const [part, rows] of [
      ['q', q],
      ['k', kv],
      ['v', kv],
    ] as const) {
      add(`${at}.self_attn.${part}_proj.weight`, rows, width);
      if (config.attentionBias) add(`${at}.self_attn.${part}_proj.bias`, 1, rows);
      if (config.qkNorm && part !== 'v') add(`${at}.self_attn.${part}_norm.weight`, 1, headDim);
    }
    add(`${at}.self_attn.o_proj.weight`, width, q);
    add(`${at}.post_attention_layernorm.weight`, 1, width);
    add(`${at}.mlp.gate_proj.weight`, ffn, width);
    add(`${at}.mlp.up_proj.weight`, ffn, width);
    add(`${at}.mlp.down_proj.weight`, width, ffn);
  }
  add('model.norm.weight', 1, width);
  add('lm_head.weight', vocabSize, width, config.untiedHead === true);
  return result;
}

/** Throws `missing-tensor` or `wrong-shape`, naming the tensor, unless the file holds what its config needs. */
export function checkTensors(config: DecoderConfig, tensors: ReadonlyMap<string, TensorInfo>, label: string): void {
  for (const { name, rows, columns, required } of expectedTensors(config)) {
    if (!required) continue;
    const tensor = tensors.get(name);
    if (!tensor) {
      throw new DreamError(
        'missing-tensor',
        `${label} lacks the tensor "${name}".`,
        'The files are incomplete or belong to different models; get all files of one and the same model.',
      );
    }
    if (tensor.rows !== rows || tensor.columns !== columns) {
      throw new DreamError(
        'wrong-shape',
        `${label}: "${name}" is [${tensor.rows}, ${tensor.columns}], its config says [${rows}, ${columns}].`,
        'Use the config.json that belongs to the weights.',
      );
    }
  }
}
