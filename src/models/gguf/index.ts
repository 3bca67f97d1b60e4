/**
 * @file A GGUF file as a source of weights: the head is read and checked once, tensors are read row by row on demand.
 *
 * The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
 */
import { DreamError } from '../../data/errors';
import { closedError, readExactly } from '../read-exactly';
import type { ByteSource, Rows, ScaleForm, TensorInfo, WeightForm, WeightSource } from '../weights';
import { convertRows } from './convert';
import { configOf, familyOf, missing, ropeScalingOf } from './family';
import { readHead, readTensorList, type StoredTensor } from './header';
import { HeaderReader } from './header-reader';
import { clip } from './metadata';
import { type ExpectedTensor, expectedTensors, isIgnored } from './names';
import { storedRow, wholeHeads } from './permutation';
import { unsupportedArchitecture } from './problem';
import { tokenizerOf } from './tokenizer';

interface Entry {
  expected: ExpectedTensor;
  stored: StoredTensor;
}

/**
 * Reads the head of a GGUF file (version 2 or 3, little endian).
 * @throws DreamError `bad-gguf` (damaged, cut short), `unsupported-architecture`, `unsupported-quantisation`,
 * `missing-tensor`, `wrong-shape`, `bad-model-config`, each naming the file; `file-read` from the bytes.
 */
export async function openGguf(bytes: ByteSource): Promise<WeightSource> {
  const file = bytes.name;
  const reader = new HeaderReader(bytes);
  const { metadata, tensorCount } = await readHead(reader);
  const family = familyOf(file, metadata);
  const stored = await readTensorList(reader, metadata, tensorCount);
  const config = configOf(file, family, metadata, stored);
  const entries = match(file, family.architecture, expectedTensors(config), stored);

  let closed = false;
  const readBytes = async (offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> => {
    if (closed) throw closedError(`"${file}"`);
    return readExactly(bytes, offset, length);
  };

  const divisors = stored.get('rope_freqs.weight');
  if (divisors) {
    if (divisors.columns * 2 !== config.headDim || divisors.rows !== 1)
      throw wrongShape(file, divisors, 1, config.headDim / 2);
    const raw = await readBytes(divisors.offset, divisors.bytes);
    const rows = convertRows(raw, divisors.type, divisors.columns, 'f32', 'single', labelOf(file, divisors));
    const scaling = rows.form === 'f32' && ropeScalingOf(file, family.architecture, config, rows.values);
    if (scaling) config.ropeScaling = scaling;
  }

  const read = async (
    name: string,
    first: number,
    count: number,
    form: WeightForm,
    scales: ScaleForm,
  ): Promise<Rows> => {
    const entry = entries.get(name);
    if (!entry) throw missing(file, name);
    const { stored: tensor, expected } = entry;
    const { rows, columns, type, offset } = tensor;
    if (
      !(Number.isSafeInteger(first) && Number.isSafeInteger(count) && first >= 0 && count > 0 && first + count <= rows)
    ) {
      throw new DreamError(
        'wrong-shape',
        `Rows ${first} to ${first + count} were asked of "${name}" in "${file}", which has ${rows}.`,
        'Please report this defect.',
      );
    }
    const label = labelOf(file, tensor);
    const rowBytes = tensor.bytes / rows;
    if (!(expected.rotated && family.interleaved)) {
      const raw = await readBytes(offset + first * rowBytes, count * rowBytes);
      return convertRows(raw, type, columns, form, scales, label);
    }
    const { headDim } = config;
    if (rows === 1) return convertBias(await readBytes(offset, tensor.bytes), tensor, headDim, form, scales, label);
    const [start, end] = wholeHeads(first, count, headDim);
    const heads = await readBytes(offset + start * rowBytes, (end - start) * rowBytes);
    const ordered = new Uint8Array(count * rowBytes);
    for (let i = 0; i < count; i++) {
      const from = (storedRow(first + i, headDim) - start) * rowBytes;
      ordered.set(heads.subarray(from, from + rowBytes), i * rowBytes);
    }
    return convertRows(ordered, type, columns, form, scales, label);
  };

  return {
    label: file,
    architecture: family.architecture,
    config,
    tensors: new Map([...entries].map(([name, { stored }]): [string, TensorInfo] => [name, infoOf(name, stored)])),
    tokenizer: async () => tokenizerOf(file, family.architecture, metadata, config.vocabSize),
    read,
    close: () => {
      closed = true;
    },
  };
}

/** Biases of rotated rows: the elements of a vector change places, so only floats (files have no others) can be served. */
function convertBias(
  raw: Uint8Array,
  tensor: StoredTensor,
  headDim: number,
  form: WeightForm,
  scales: ScaleForm,
  label: string,
): Rows {
  const width = tensor.bytes / tensor.columns;
  if (tensor.type.block !== 1) throw new DreamError('wrong-shape', `${label} is quantised.`, 'Use another file.');
  const ordered = new Uint8Array(raw.length);
  for (let i = 0; i < tensor.columns; i++) {
    const from = storedRow(i, headDim) * width;
    ordered.set(raw.subarray(from, from + width), i * width);
  }
  return convertRows(ordered, tensor.type, tensor.columns, form, scales, label);
}

/** Every tensor the config demands, with its shape; nothing beside them, since an unknown tensor means unknown arithmetic. */
function match(
  file: string,
  architecture: string,
  expected: readonly ExpectedTensor[],
  stored: ReadonlyMap<string, StoredTensor>,
): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  const known = new Set<string>();
  for (const tensor of expected) {
    const found = stored.get(tensor.gguf);
    if (!found) throw missing(file, tensor.gguf);
    if (found.rows !== tensor.rows || found.columns !== tensor.columns)
      throw wrongShape(file, found, tensor.rows, tensor.columns);
    known.add(tensor.gguf);
    entries.set(tensor.hf, { expected: tensor, stored: found });
  }
  for (const name of stored.keys()) {
    if (!known.has(name) && !isIgnored(name))
      throw unsupportedArchitecture(file, architecture, `tensor "${clip(name)}" has no place in it`);
  }
  return entries;
}

function infoOf(name: string, { rows, columns, type, bytes }: StoredTensor): TensorInfo {
  return { name, rows, columns, stored: type.name, bytes, form: type.form, scales: type.scales };
}

function wrongShape(file: string, tensor: StoredTensor, rows: number, columns: number): DreamError {
  return new DreamError(
    'wrong-shape',
    `In "${file}" the tensor "${tensor.name}" is [${tensor.rows}, ${tensor.columns}]; its metadata demands [${rows}, ${columns}].`,
    'The file was put together wrongly; get another one.',
  );
}

const labelOf = (file: string, tensor: StoredTensor): string => `"${file}": tensor "${tensor.name}"`;
