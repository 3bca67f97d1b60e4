/**
 * @file What a GGUF's metadata says of the network, as our DecoderConfig. Architectures that compute anything else than
 * this engine does are refused by name, before a tensor is read.
 *
 * Facts from llama.cpp: its converters for Llama and SmolLM3 store each head's query and key rows in the order of
 * interleaved rotation (Qwen's do not), and SmolLM3 has no rotation in every fourth layer, which no key says.
 */
import { DreamError } from '../../data/errors';
import { checkConfig, type DecoderConfig, type RopeScaling } from '../../nn/config';
import type { StoredTensor } from './header';
import { clip, type Metadata } from './metadata';
import { badGguf, unsupportedArchitecture } from './problem';

export interface Family {
  readonly architecture: string;
  /** Query and key rows alternate between the two halves of a head; ours (Hugging Face's) keep the halves apart. */
  readonly interleaved: boolean;
  readonly attentionBias?: boolean;
  readonly qkNorm?: boolean;
  /** Every n-th layer is not rotated. */
  readonly noRopeStep?: number;
}

const families: readonly Family[] = [
  { architecture: 'llama', interleaved: true },
  { architecture: 'smollm3', interleaved: true, noRopeStep: 4 },
  { architecture: 'qwen2', interleaved: false, attentionBias: true },
  { architecture: 'qwen3', interleaved: false, qkNorm: true },
];

/** @throws DreamError `unsupported-architecture` */
export function familyOf(file: string, metadata: Metadata): Family {
  const architecture = metadata.string('general.architecture');
  if (architecture === undefined) throw badGguf(file, 'it does not name its architecture');
  const family = families.find((known) => known.architecture === architecture);
  if (!family) throw unsupportedArchitecture(file, clip(architecture), 'this engine does not compute it');
  const refuse = (why: string): DreamError => unsupportedArchitecture(file, architecture, why);
  if (metadata.string('general.type') === 'adapter') throw refuse('an adapter, not a model');
  if ((metadata.number(`${architecture}.expert_count`) ?? 0) > 0) throw refuse('a mixture of experts');
  const scaling = metadata.string(`${architecture}.rope.scaling.type`) ?? 'none';
  const factor = metadata.number(`${architecture}.rope.scaling.factor`) ?? 1;
  const linear = metadata.number(`${architecture}.rope.scale_linear`) ?? 1;
  if ((scaling !== 'none' && factor !== 1) || linear !== 1)
    throw refuse(`its rotary positions are scaled by "${clip(scaling)}"`);
  for (const key of ['attention.head_count', 'attention.head_count_kv', 'feed_forward_length']) {
    if (metadata.isList(`${architecture}.${key}`)) throw refuse(`its layers differ from each other (${key})`);
  }
  return family;
}

/** @throws DreamError `bad-gguf` or `bad-model-config` naming the file, `unsupported-architecture`. */
export function configOf(
  file: string,
  family: Family,
  metadata: Metadata,
  tensors: ReadonlyMap<string, StoredTensor>,
): DecoderConfig {
  const { architecture } = family;
  const optional = (key: string): number | undefined => metadata.number(`${architecture}.${key}`);
  const required = (key: string): number => {
    const value = optional(key);
    if (value === undefined) throw badGguf(file, `its metadata lacks "${architecture}.${key}"`);
    return value;
  };
  const embedding = tensors.get('token_embd.weight');
  if (!embedding) throw missing(file, 'token_embd.weight');
  const width = required('embedding_length');
  const heads = required('attention.head_count');
  const headDim = optional('attention.key_length') ?? width / heads;
  const layers = required('block_count');
  // Otherwise a false count would have us list millions of expected tensors.
  if (layers > tensors.size) throw missing(file, `blk.${tensors.size}.attn_norm.weight`);
  const config: DecoderConfig = {
    vocabSize: embedding.rows,
    width,
    layers,
    heads,
    kvHeads: optional('attention.head_count_kv') ?? heads,
    headDim,
    ffn: required('feed_forward_length'),
    ropeTheta: optional('rope.freq_base') ?? 10000,
    normEps: required('attention.layer_norm_rms_epsilon'),
    contextLength: required('context_length'),
  };
  for (const key of ['attention.value_length', 'rope.dimension_count']) {
    if ((optional(key) ?? headDim) !== headDim)
      throw unsupportedArchitecture(file, architecture, `${key} is not the size of a head, ${headDim}`);
  }
  if (!(config.ropeTheta > 0 && Number.isFinite(config.ropeTheta) && config.normEps >= 0 && config.normEps < 1))
    throw badGguf(file, `its rotary base ${config.ropeTheta} or norm epsilon ${config.normEps} is absurd`);
  if (family.attentionBias || tensors.has('blk.0.attn_q.bias')) config.attentionBias = true;
  if (family.qkNorm) config.qkNorm = true;
  if (tensors.has('output.weight')) config.untiedHead = true;
  try {
    checkConfig(config);
  } catch (error) {
    if (!(error instanceof DreamError)) throw error;
    throw new DreamError(error.code, `"${file}": ${error.message}`, error.advice);
  }
  const step = family.noRopeStep;
  if (step) config.noRopeLayers = [...Array(layers).keys()].filter((layer) => (layer + 1) % step === 0);
  return config;
}

/**
 * Llama 3's scaling from `rope_freqs.weight`, [headDim / 2] divisors of the rotary frequencies: the file holds only the
 * outcome of the rule in Hugging Face's `rope_type: llama3`, so its parameters are found again and checked against it.
 */
export function ropeScalingOf(
  file: string,
  architecture: string,
  config: DecoderConfig,
  divisors: Float32Array,
): RopeScaling | undefined {
  if (divisors.length !== config.headDim / 2) throw badGguf(file, 'tensor "rope_freqs.weight" is not half a head long');
  if (divisors.every((divisor) => divisor === 1)) return undefined;
  const scaling = {
    factor: divisors.reduce((a, b) => Math.max(a, b)),
    lowFreqFactor: 1,
    highFreqFactor: 4,
    originalContextLength: 8192,
  };
  for (const [i, divisor] of divisors.entries()) {
    const wavelength = 2 * Math.PI * config.ropeTheta ** ((2 * i) / config.headDim);
    if (!(Math.abs(divisor / llama3Divisor(scaling, wavelength) - 1) < 1e-3))
      throw unsupportedArchitecture(file, architecture, 'its rotary positions are scaled in another way than Llama 3');
  }
  return scaling;
}

function llama3Divisor(scaling: RopeScaling, wavelength: number): number {
  const { factor, lowFreqFactor, highFreqFactor, originalContextLength } = scaling;
  const turns = originalContextLength / wavelength;
  if (turns > highFreqFactor) return 1;
  if (turns < lowFreqFactor) return factor;
  const smooth = (turns - lowFreqFactor) / (highFreqFactor - lowFreqFactor);
  return 1 / ((1 - smooth) / factor + smooth);
}

export function missing(file: string, tensor: string): DreamError {
  return new DreamError(
    'missing-tensor',
    `"${file}" lacks the tensor "${tensor}".`,
    'The file is incomplete or one part of several; use a whole model in one file.',
  );
}
