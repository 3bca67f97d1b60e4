/**
 * @file The head of a GGUF file: magic, version, metadata, then where each tensor lies. Every claim is checked against the
 * file's size before it is used: counts, name lengths, dimensions, offsets (aligned, inside the file, not overlapping).
 */
import { DreamError } from '../../data/errors';
import type { HeaderReader } from './header-reader';
import { clip, type Metadata, readMetadata } from './metadata';
import { badGguf } from './problem';
import { type StoredType, storedTypes, typeName } from './stored-types';

export interface StoredTensor {
  /** As in the file: `blk.0.attn_q.weight`. */
  readonly name: string;
  readonly type: StoredType;
  /** [rows, columns]: GGUF's first dimension runs fastest and is `columns`; a vector has one row. */
  readonly rows: number;
  readonly columns: number;
  /** Offset of the first byte in the file. */
  readonly offset: number;
  readonly bytes: number;
}

const MAGIC = 0x46554747; // "GGUF"
/** Name length, dimension count, one dimension, type, offset. */
const SMALLEST_TENSOR_INFO = 8 + 4 + 8 + 4 + 8;
const MAX_DIMENSIONS = 4;

/** Magic, version and metadata. The cursor then stands at the tensor list. */
export async function readHead(reader: HeaderReader): Promise<{ metadata: Metadata; tensorCount: number }> {
  if (reader.remaining < 4) throw badGguf(reader.file, 'it is too short');
  await reader.need(4, 'its first bytes');
  if (reader.u32() !== MAGIC) throw badGguf(reader.file, 'it does not begin with "GGUF"');
  await reader.need(4, 'its version');
  const version = reader.u32();
  if (version === 0x02000000 || version === 0x03000000) throw badGguf(reader.file, 'it is big endian');
  if (version !== 2 && version !== 3) throw badGguf(reader.file, `its version is ${version}; 2 and 3 are read`);
  await reader.need(16, 'its counts');
  const tensorCount = reader.u64();
  const pairCount = reader.u64();
  reader.claim(tensorCount * SMALLEST_TENSOR_INFO, `its list of ${tensorCount} tensors`);
  return { metadata: await readMetadata(reader, pairCount), tensorCount };
}

/** @throws DreamError `bad-gguf`, or `unsupported-quantisation` naming the type and the tensor. */
export async function readTensorList(
  reader: HeaderReader,
  metadata: Metadata,
  tensorCount: number,
): Promise<Map<string, StoredTensor>> {
  const { file } = reader;
  const alignment = metadata.number('general.alignment') ?? 32;
  if (!(alignment >= 1 && alignment <= 2 ** 20 && Number.isInteger(Math.log2(alignment))))
    throw badGguf(file, `its alignment of ${alignment} is not a power of two`);
  const tensors = new Map<string, StoredTensor>();
  for (let i = 0; i < tensorCount; i++) {
    const tensor = await readTensorInfo(reader);
    if (tensors.has(tensor.name)) throw badGguf(file, `tensor "${clip(tensor.name)}" is listed twice`);
    tensors.set(tensor.name, tensor);
  }
  const dataStart = Math.ceil(reader.position / alignment) * alignment;
  const placed = new Map<string, StoredTensor>();
  for (const tensor of tensors.values()) {
    const name = clip(tensor.name);
    if (tensor.offset % alignment !== 0) throw badGguf(file, `tensor "${name}" is not aligned to ${alignment} bytes`);
    const offset = dataStart + tensor.offset;
    if (!(offset + tensor.bytes <= reader.size))
      throw badGguf(file, `tensor "${name}" reaches beyond the end of the file`);
    placed.set(tensor.name, { ...tensor, offset });
  }
  refuseOverlap(file, placed);
  return placed;
}

async function readTensorInfo(reader: HeaderReader): Promise<StoredTensor> {
  const { file } = reader;
  const name = await reader.string('the name of a tensor');
  const what = `tensor "${clip(name)}"`;
  await reader.need(4, what);
  const dimensionCount = reader.u32();
  if (dimensionCount < 1 || dimensionCount > MAX_DIMENSIONS)
    throw badGguf(file, `${what} has ${dimensionCount} dimensions`);
  await reader.need(dimensionCount * 8 + 12, what);
  const dimensions = Array.from({ length: dimensionCount }, () => reader.u64());
  const typeId = reader.u32();
  const offset = reader.u64();
  const type = storedTypes.get(typeId);
  if (!type) {
    throw new DreamError(
      'unsupported-quantisation',
      `In "${file}" ${what} is stored as ${typeName(typeId)}, which is not read here.`,
      `Use a file quantised as one of ${[...storedTypes.values()].map((t) => t.name).join(', ')}.`,
    );
  }
  const weights = dimensions.reduce((product, n) => product * n, 1);
  const [columns] = dimensions;
  if (!(weights > 0 && Number.isSafeInteger(weights))) throw badGguf(file, `${what} has the shape [${dimensions}]`);
  if (columns % type.block !== 0)
    throw badGguf(file, `${what} has rows of ${columns} weights, not whole blocks of ${type.block} (${type.name})`);
  return { name, type, rows: weights / columns, columns, offset, bytes: (weights / type.block) * type.bytes };
}

function refuseOverlap(file: string, tensors: ReadonlyMap<string, StoredTensor>): void {
  const sorted = [...tensors.values()].sort((a, b) => a.offset - b.offset);
  for (let i = 1; i < sorted.length; i++) {
    const [before, after] = [sorted[i - 1], sorted[i]];
    if (after.offset < before.offset + before.bytes)
      throw badGguf(file, `tensors "${clip(before.name)}" and "${clip(after.name)}" overlap`);
  }
}
