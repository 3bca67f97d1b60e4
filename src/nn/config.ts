/** @file The shape of a Llama-style decoder, as in a Hugging Face config.json. */
import { DreamError } from '../data/errors';

export interface DecoderConfig {
  vocabSize: number;
  /** hidden_size */
  width: number;
  layers: number;
  heads: number;
  kvHeads: number;
  headDim: number;
  /** intermediate_size */
  ffn: number;
  ropeTheta: number;
  normEps: number;
  contextLength: number;
  /** Llama 3's stretched rotary frequencies; absent = plain. */
  ropeScaling?: RopeScaling;
  /** Layers (from 0) whose queries and keys are not rotated (SmolLM3). */
  noRopeLayers?: readonly number[];
  /** q, k and v have a bias (Qwen2). */
  attentionBias?: boolean;
  /** Each head's queries and keys are RMS-normed before the rotation (Qwen3). */
  qkNorm?: boolean;
  /** The output head has its own weights; absent = it shares the embedding's. */
  untiedHead?: boolean;
}

/** `rope_type: llama3` of a config.json: low frequencies divided by `factor`, a smooth passage between. */
export interface RopeScaling {
  factor: number;
  lowFreqFactor: number;
  highFreqFactor: number;
  originalContextLength: number;
}

/** Throws `bad-model-config` unless every dimension suits the kernels (vec4 rows, whole head groups). */
export function checkConfig(config: DecoderConfig): DecoderConfig {
  const { vocabSize, width, layers, heads, kvHeads, headDim, ffn, contextLength } = config;
  const positive = [vocabSize, width, layers, heads, kvHeads, headDim, ffn, contextLength].every(
    (n) => Number.isSafeInteger(n) && n > 0,
  );
  if (
    !positive ||
    [vocabSize, width, headDim, ffn].some((n) => n % 4 !== 0) ||
    headDim % 8 !== 0 ||
    heads % kvHeads !== 0
  ) {
    throw new DreamError(
      'bad-model-config',
      `These model dimensions are not supported: ${JSON.stringify(config)}.`,
      'Vocabulary, width, head and feed-forward sizes must be positive multiples of 4 (heads of 8), and heads a multiple of kv heads.',
    );
  }
  return config;
}

/** Number of trainable values, tied head counted once. */
export function parameterCount(c: DecoderConfig): number {
  const qkv = (c.heads + 2 * c.kvHeads) * c.headDim * c.width;
  const layer = qkv + c.heads * c.headDim * c.width + 3 * c.ffn * c.width + 2 * c.width;
  return c.vocabSize * c.width + c.layers * layer + c.width;
}

/** Reads the Hugging Face names. */
export function configFromJson(json: Record<string, unknown>): DecoderConfig {
  const number = (name: string, fallback?: number): number => {
    const value = json[name] ?? fallback;
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      throw new DreamError(
        'bad-model-config',
        `config.json lacks a number "${name}".`,
        'Use the config.json that belongs to the weights.',
      );
    }
    return value;
  };
  const width = number('hidden_size');
  const heads = number('num_attention_heads');
  return checkConfig({
    vocabSize: number('vocab_size'),
    width,
    layers: number('num_hidden_layers'),
    heads,
    kvHeads: number('num_key_value_heads', heads),
    headDim: number('head_dim', width / heads),
    ffn: number('intermediate_size'),
    ropeTheta: number('rope_theta', 10000),
    normEps: number('rms_norm_eps', 1e-5),
    contextLength: number('max_position_embeddings'),
  });
}

export function configToJson(c: DecoderConfig): Record<string, unknown> {
  return {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    hidden_act: 'silu',
    vocab_size: c.vocabSize,
    hidden_size: c.width,
    num_hidden_layers: c.layers,
    num_attention_heads: c.heads,
    num_key_value_heads: c.kvHeads,
    head_dim: c.headDim,
    intermediate_size: c.ffn,
    rope_theta: c.ropeTheta,
    rms_norm_eps: c.normEps,
    max_position_embeddings: c.contextLength,
    tie_word_embeddings: true,
    torch_dtype: 'float32',
  };
}
