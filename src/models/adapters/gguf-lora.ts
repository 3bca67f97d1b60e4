/**
 * @file LoRA as llama.cpp, LM Studio and Ollama load it, in the form of llama.cpp's convert_lora_to_gguf.py: metadata
 * `general.type = adapter`, `adapter.type = lora`, `adapter.lora.alpha`; tensors `blk.N.attn_q.weight.lora_a` [rank, inputs]
 * and `.lora_b` [outputs, rank]. llama.cpp scales by alpha / rank, as PEFT does.
 */
import { DreamError } from '../../data/errors';
import type { DecoderConfig } from '../../nn/config';
import { type FloatType, toFloats } from '../float-bytes';
import { readHead, readTensorList, type StoredTensor } from '../gguf/header';
import { HeaderReader } from '../gguf/header-reader';
import type { Metadata } from '../gguf/metadata';
import type { ByteSource } from '../weights';
import {
  adapterMismatch,
  badAdapter,
  checkAdapterFits,
  type LoraAdapter,
  type LoraModule,
  MAX_RANK,
  moduleName,
  PROJECTIONS,
  type ProjectionName,
  parseModule,
} from './adapter';
import { ggufArchitecture, ggufProjection, isPermuted, permuteRows } from './gguf-names';
import { type GgufPair, type GgufTensor, writeGguf } from './gguf-writer';

/** Ours alone; llama.cpp ignores keys it does not know. */
const HASH_KEY = 'dreamgym.base_hash';

/**
 * @param architecture the base's, as Hugging Face (`LlamaForCausalLM`) or GGUF (`llama`) calls it
 * @throws DreamError `bad-adapter`, `adapter-mismatch`, `unsupported-architecture`
 */
export function writeGgufLora(
  adapter: LoraAdapter,
  architecture: string,
  config: DecoderConfig,
): Uint8Array<ArrayBuffer> {
  const arch = ggufArchitecture(architecture);
  if (!arch) {
    throw new DreamError(
      'unsupported-architecture',
      `A LoRA for "${architecture}" cannot be written as GGUF.`,
      'Export it as a PEFT folder instead.',
    );
  }
  checkAdapterFits(adapter, config);
  const { rank, alpha, modules, baseModel, baseHash } = adapter;
  const pairs: GgufPair[] = [
    { key: 'general.architecture', string: arch },
    { key: 'general.type', string: 'adapter' },
    { key: 'general.file_type', u32: 0 }, // all f32
    { key: 'adapter.type', string: 'lora' },
    { key: 'adapter.lora.alpha', f32: alpha },
  ];
  if (baseModel) {
    pairs.push({ key: 'general.base_model.count', u32: 1 }, { key: 'general.base_model.0.name', string: baseModel });
  }
  if (baseHash) pairs.push({ key: HASH_KEY, string: baseHash });
  const tensors: GgufTensor[] = [];
  for (const [name, { a, b }] of modules) {
    const { layer, projection } = parseModule(name)!; // checked to fit
    const stem = `blk.${layer}.${ggufProjection[projection]}.weight`;
    const values = isPermuted(arch, projection) ? permuteRows(b, rank, config.headDim, 'to-gguf') : b;
    tensors.push(
      { name: `${stem}.lora_a`, rows: rank, columns: a.length / rank, values: a },
      { name: `${stem}.lora_b`, rows: b.length / rank, columns: rank, values },
    );
  }
  return writeGguf(pairs, tensors);
}

export interface GgufLora {
  adapter: LoraAdapter;
  /** As GGUF calls it. */
  architecture: string;
}

/**
 * The base's shape says how long a head is, which the file does not.
 * @throws DreamError `bad-adapter`, `adapter-mismatch`
 */
export async function readGgufLora(bytes: Uint8Array, config: DecoderConfig, baseHash?: string): Promise<GgufLora> {
  const { metadata, tensors } = await readHeader(bytes);
  const { architecture, ...facts } = describe(metadata);
  const halves = new Map<string, Partial<LoraModule>>();
  let rank = 0;
  for (const tensor of tensors.values()) {
    const { layer, projection, half } = parseTensor(tensor.name);
    const own = half === 'a' ? tensor.rows : tensor.columns;
    rank ||= own;
    if (own !== rank || rank > MAX_RANK)
      throw adapterMismatch(`"${tensor.name}" has rank ${own}, where one rank for all tensors is read (here ${rank}).`);
    let values = floats(bytes, tensor);
    // Rows that are no whole heads belong to another base, which the check below will say.
    if (half === 'b' && isPermuted(architecture, projection) && tensor.rows % config.headDim === 0)
      values = permuteRows(values, rank, config.headDim, 'from-gguf');
    const name = moduleName(layer, projection);
    halves.set(name, { ...halves.get(name), [half]: values });
  }
  const adapter: LoraAdapter = { rank, ...facts, modules: new Map() };
  for (const [name, { a, b }] of halves) {
    if (!a || !b) throw badAdapter(`The file lacks lora_${a ? 'b' : 'a'} of "${name}".`);
    adapter.modules.set(name, { a, b });
  }
  if (adapter.modules.size === 0) throw badAdapter('The file adapts nothing.');
  checkAdapterFits(adapter, config, baseHash);
  return { adapter, architecture };
}

async function readHeader(bytes: Uint8Array): Promise<{ metadata: Metadata; tensors: Map<string, StoredTensor> }> {
  const source: ByteSource = {
    name: 'adapter',
    size: bytes.byteLength,
    read: async (offset, length) => Uint8Array.from(bytes.subarray(offset, offset + length)),
  };
  try {
    const reader = new HeaderReader(source);
    const { metadata, tensorCount } = await readHead(reader);
    return { metadata, tensors: await readTensorList(reader, metadata, tensorCount) };
  } catch (error) {
    if (error instanceof DreamError) throw badAdapter(error.message, error.advice);
    throw error;
  }
}

function describe(metadata: Metadata): { architecture: string; alpha: number; baseModel: string; baseHash?: string } {
  try {
    const type = metadata.string('general.type');
    const kind = metadata.string('adapter.type');
    if (type !== 'adapter' || kind !== 'lora') {
      throw badAdapter(
        `The file is ${type === 'adapter' ? `an adapter of the type "${kind}"` : 'no adapter'}.`,
        'Choose a LoRA in GGUF form; a model is loaded in its own place.',
      );
    }
    const named = metadata.string('general.architecture') ?? '';
    const architecture = ggufArchitecture(named);
    if (!architecture) throw adapterMismatch(`The adapter is for the architecture "${named.slice(0, 80)}".`);
    const baseHash = metadata.string(HASH_KEY);
    return {
      architecture,
      alpha: metadata.number('adapter.lora.alpha') ?? 0,
      baseModel: metadata.string('general.base_model.0.name') ?? '',
      ...(baseHash ? { baseHash } : {}),
    };
  } catch (error) {
    // A key of another type than it should have.
    if (error instanceof DreamError && error.code === 'bad-gguf') throw badAdapter(error.message, error.advice);
    throw error;
  }
}

function parseTensor(name: string): { layer: number; projection: ProjectionName; half: 'a' | 'b' } {
  const [, layer, part, half] = /^blk\.(0|[1-9]\d{0,5})\.(\w+)\.weight\.lora_([ab])$/.exec(name) ?? [];
  const projection = PROJECTIONS.find((known) => ggufProjection[known] === part);
  if (!projection)
    throw adapterMismatch(`The adapter changes "${name.slice(0, 80)}", which this engine does not adapt.`);
  return { layer: Number(layer), projection, half: half as 'a' | 'b' };
}

function floats(bytes: Uint8Array, { name, type, offset, bytes: length }: StoredTensor): Float32Array {
  if (type.block !== 1) throw badAdapter(`"${name}" is stored as ${type.name}.`, 'Use an adapter in F32, F16 or BF16.');
  return toFloats(Uint8Array.from(bytes.subarray(offset, offset + length)), type.name as FloatType);
}
