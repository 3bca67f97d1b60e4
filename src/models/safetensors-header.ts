/**
 * @file The header of a safetensors file, read by range: 8 bytes of length, JSON, and where each tensor lies.
 *
 * Nothing is allocated for a tensor before the whole header is known to be true to the file's size. Same checks as
 * safetensors.ts, which reads small f32 files whole.
 */
import { DreamError } from '../data/errors';
import { isJsonObject } from '../data/json-object';
import type { ByteSource } from './weights';

/** Real headers of the largest shards stay below 1 MiB; a length beyond this is damage, not a model. */
const MAX_HEADER_BYTES = 16 * 2 ** 20;

const BYTES: Readonly<Record<string, number>> = {
  F64: 8,
  F32: 4,
  F16: 2,
  BF16: 2,
  I64: 8,
  U64: 8,
  I32: 4,
  U32: 4,
  I16: 2,
  U16: 2,
  F8_E4M3: 1,
  F8_E5M2: 1,
  I8: 1,
  U8: 1,
  BOOL: 1,
};

export interface StoredTensor {
  readonly file: ByteSource;
  readonly dtype: string;
  readonly shape: readonly number[];
  /** From the file's start. */
  readonly offset: number;
  readonly bytes: number;
}

function bad(file: ByteSource, message: string): DreamError {
  return new DreamError(
    'bad-safetensors',
    `${file.name}: ${message}`,
    'The file is damaged, incomplete or not safetensors; get it again.',
  );
}

const isCount = (n: unknown): n is number => Number.isSafeInteger(n) && (n as number) >= 0;

/** @throws DreamError `bad-safetensors` naming the file and the tensor; `file-read`. */
export async function readHeader(file: ByteSource): Promise<Map<string, StoredTensor>> {
  if (file.size < 8) throw bad(file, 'the file is too short to be safetensors.');
  const start = await file.read(0, 8);
  const length = Number(new DataView(start.buffer, start.byteOffset, 8).getBigUint64(0, true));
  if (length > Math.min(file.size - 8, MAX_HEADER_BYTES))
    throw bad(file, 'the header says it is longer than the file.');
  let header: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.read(8, length));
    header = JSON.parse(text);
  } catch (error) {
    if (error instanceof DreamError) throw error; // the file went away while it was read
    throw bad(file, 'the header is not JSON.');
  }
  if (!isJsonObject(header)) throw bad(file, 'the header is not an object.');
  const tensors = new Map<string, StoredTensor>();
  for (const [name, entry] of Object.entries(header)) {
    if (name !== '__metadata__') tensors.set(name, checked(file, name, entry, 8 + length));
  }
  const spans = [...tensors].sort(([, a], [, b]) => a.offset - b.offset || a.bytes - b.bytes);
  for (let i = 1; i < spans.length; i++) {
    const [before, { offset, bytes }] = spans[i - 1];
    if (spans[i][1].offset < offset + bytes) throw bad(file, `tensors "${before}" and "${spans[i][0]}" overlap.`);
  }
  return tensors;
}

function checked(file: ByteSource, name: string, entry: unknown, dataStart: number): StoredTensor {
  const { dtype, shape, data_offsets: offsets } = (entry ?? {}) as Record<string, unknown>;
  const size = typeof dtype === 'string' && Object.hasOwn(BYTES, dtype) ? BYTES[dtype] : undefined;
  if (size === undefined) throw bad(file, `tensor "${name}" has the unknown type ${JSON.stringify(dtype)}.`);
  if (!Array.isArray(shape) || shape.length > 8 || !shape.every(isCount))
    throw bad(file, `tensor "${name}" has no valid shape.`);
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount))
    throw bad(file, `tensor "${name}" has no valid offsets.`);
  const [first, end] = offsets as [number, number];
  const bytes = (shape as number[]).reduce((a, b) => a * b, size);
  if (end > file.size - dataStart || end - first !== bytes) throw bad(file, `tensor "${name}" does not fit the file.`);
  return { file, dtype: dtype as string, shape: shape as number[], offset: dataStart + first, bytes };
}
