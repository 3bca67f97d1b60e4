/**
 * @file A model as Hugging Face publishes it: config.json and one or several safetensors files of F32, F16 or BF16.
 * Rows are read by range and quantised as they pass.
 */
import { DreamError } from '../data/errors';
import { isJsonObject } from '../data/json-object';
import type { DecoderConfig } from '../nn/config';
import { architectureOf, checkTensors, configFromHuggingFace, expectedTensors, type Json } from './families';
import { type FloatType, toFloats } from './float-bytes';
import { quantiseRows, requireFinite } from './quantise';
import { closedError, readExactly } from './read-exactly';
import { readHeader, type StoredTensor } from './safetensors-header';
import type { ByteSource, TensorInfo, TokenizerSource, WeightSource } from './weights';

export interface SafetensorsFiles {
  /** For messages: the folder's or repository's name. Default: the first weight file's. */
  label?: string;
  /** Contents of config.json, and of model.safetensors.index.json when the weights are in several files. */
  config: Json;
  index?: Json;
  /** By file name, as the index calls them. */
  weights: ReadonlyMap<string, ByteSource>;
  /** Contents of tokenizer.json and tokenizer_config.json. */
  tokenizer?: Json;
  tokenizerConfig?: Json;
}

/**
 * Reads and checks the headers, nothing else.
 * Throws `unsupported-architecture`, `unsupported-setting`, `unsupported-quantisation`, `bad-model-config`,
 * `bad-safetensors`, `missing-file`, `missing-tensor`, `wrong-shape`, `file-read`.
 */
export async function openSafetensors(files: SafetensorsFiles): Promise<WeightSource> {
  const label = files.label ?? [...files.weights.keys()][0] ?? 'The model';
  const architecture = architectureOf(files.config, label);
  const config = configFromHuggingFace(files.config, label);
  if (files.config.quantization_config) {
    throw new DreamError(
      'unsupported-quantisation',
      `${label} is stored quantised (config.json has "quantization_config"); safetensors are read as F32, F16 or BF16.`,
      'Take the unquantised weights (they are quantised while loading), or a GGUF or ONNX q4 file of the model.',
    );
  }
  const stored = files.index
    ? await readShards(files.index, files.weights, label)
    : await readAll([...files.weights.values()]);
  const tensors = describe(config, stored);
  checkTensors(config, tensors, label);

  let closed = false;
  return {
    label,
    architecture,
    config,
    tensors,
    async tokenizer(): Promise<TokenizerSource | null> {
      return files.tokenizer ? { tokenizer: files.tokenizer, tokenizerConfig: files.tokenizerConfig ?? {} } : null;
    },
    async read(name, first, count, form, scales) {
      if (closed) throw closedError(label);
      const info = tensors.get(name);
      const at = stored.get(name);
      if (!info || !at || first < 0 || count < 0 || first + count > info.rows)
        throw new RangeError(`No rows ${first}..${first + count} of "${name}" in ${label}`);
      const rowBytes = at.bytes / info.rows;
      const bytes = await readExactly(at.file, at.offset + first * rowBytes, count * rowBytes);
      const where = `"${name}" in ${at.file.name}`;
      const values = toFloats(bytes, at.dtype as FloatType);
      if (form !== 'f32') return quantiseRows(values, info.columns, form, scales, where);
      requireFinite(values, where);
      return { form, values };
    },
    close() {
      closed = true;
    },
  };
}

/** The tensors the config knows of; others (rotary frequencies, a tied head's copy) are left alone. */
function describe(config: DecoderConfig, stored: ReadonlyMap<string, StoredTensor>): Map<string, TensorInfo> {
  const tensors = new Map<string, TensorInfo>();
  for (const { name, required } of expectedTensors(config)) {
    const at = stored.get(name);
    if (!at || !required) continue;
    if (at.dtype !== 'F32' && at.dtype !== 'F16' && at.dtype !== 'BF16') {
      throw new DreamError(
        'unsupported-quantisation',
        `"${name}" in ${at.file.name} is stored as ${at.dtype}; F32, F16 and BF16 are read.`,
        'Take the unquantised weights, or a GGUF or ONNX q4 file of the model.',
      );
    }
    const columns = at.shape.at(-1) ?? 1;
    const rows = at.shape.slice(0, -1).reduce((a, b) => a * b, 1);
    const { dtype, bytes } = at;
    tensors.set(name, { name, rows, columns, stored: dtype, bytes, form: 'f32', scales: 'single' });
  }
  return tensors;
}

async function readAll(files: readonly ByteSource[]): Promise<Map<string, StoredTensor>> {
  const stored = new Map<string, StoredTensor>();
  for (const file of files) {
    for (const [name, tensor] of await readHeader(file)) {
      const other = stored.get(name);
      if (other) {
        throw new DreamError(
          'bad-safetensors',
          `"${name}" is in both ${other.file.name} and ${file.name}.`,
          'Give the files of one model only, with its model.safetensors.index.json if there is one.',
        );
      }
      stored.set(name, tensor);
    }
  }
  return stored;
}

/** Each tensor from the file the index names for it. */
async function readShards(
  index: Json,
  files: ReadonlyMap<string, ByteSource>,
  label: string,
): Promise<Map<string, StoredTensor>> {
  const map = index.weight_map;
  if (!isJsonObject(map)) {
    throw new DreamError(
      'bad-safetensors',
      `${label}: model.safetensors.index.json has no "weight_map".`,
      'Get the file again.',
    );
  }
  const headers = new Map<string, Map<string, StoredTensor>>();
  const stored = new Map<string, StoredTensor>();
  for (const [name, shard] of Object.entries(map)) {
    const file = files.get(String(shard));
    if (!file) {
      throw new DreamError(
        'missing-file',
        `${label} lacks the file "${String(shard)}", which holds "${name}".`,
        'Give all files that model.safetensors.index.json names.',
      );
    }
    const header = headers.get(file.name) ?? (await readHeader(file));
    headers.set(file.name, header);
    const tensor = header.get(name);
    if (!tensor) {
      throw new DreamError(
        'missing-tensor',
        `${file.name} lacks the tensor "${name}", which model.safetensors.index.json promises.`,
        'The files belong to different models or versions; get all of one and the same.',
      );
    }
    stored.set(name, tensor);
  }
  return stored;
}
