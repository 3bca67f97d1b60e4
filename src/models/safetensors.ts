/**
 * @file safetensors held in memory as a whole, f32 unless other floats are asked for: an 8-byte little-endian header length, a JSON header, the bytes.
 *
 * Everything in a file is checked before anything is used: a header within the file, known types, offsets that fit the
 * shape, no overlap. Bad files throw `bad-safetensors` with the tensor's name.
 */
import { DreamError } from '../data/errors';
import { isJsonObject } from '../data/json-object';
import { type FloatType, floatBytes, toFloats } from './float-bytes';

export interface TensorFile {
  tensors: Map<string, { shape: number[]; data: Float32Array }>;
  metadata: Record<string, string>;
}

const MAX_HEADER_BYTES = 16 * 2 ** 20;

function bad(message: string): DreamError {
  return new DreamError(
    'bad-safetensors',
    message,
    'The file is damaged or not a safetensors file of such weights; get it again.',
  );
}

/**
 * @param types what tensors may be stored as; all become f32
 * @throws DreamError `bad-safetensors`
 */
export function readSafetensors(bytes: Uint8Array, types: readonly FloatType[] = ['F32']): TensorFile {
  if (bytes.byteLength < 8) throw bad('The file is too short to be safetensors.');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headerBytes = Number(view.getBigUint64(0, true));
  if (headerBytes > Math.min(bytes.byteLength - 8, MAX_HEADER_BYTES))
    throw bad('The header says it is longer than the file.');
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(8, 8 + headerBytes)));
  } catch {
    throw bad('The header is not JSON.');
  }
  if (!isJsonObject(header)) throw bad('The header is not an object.');
  const dataStart = 8 + headerBytes;
  const dataBytes = bytes.byteLength - dataStart;
  const result: TensorFile = { tensors: new Map(), metadata: {} };
  const spans: { first: number; end: number; name: string }[] = [];
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') {
      for (const [key, value] of Object.entries((entry ?? {}) as Record<string, unknown>)) {
        if (key !== '__proto__') result.metadata[key] = String(value);
      }
      continue;
    }
    const { dtype, shape, data_offsets: offsets } = (entry ?? {}) as Record<string, unknown>;
    const type = types.find((known) => known === dtype);
    if (!type) throw bad(`Tensor "${name}" has type ${String(dtype)}; only ${types.join(', ')} is read here.`);
    const isCount = (n: unknown): n is number => Number.isSafeInteger(n) && (n as number) >= 0;
    if (!Array.isArray(shape) || shape.length > 4 || !shape.every(isCount))
      throw bad(`Tensor "${name}" has no valid shape.`);
    if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount))
      throw bad(`Tensor "${name}" has no valid offsets.`);
    const [first, end] = offsets as [number, number];
    const count = shape.reduce((a: number, b: number) => a * b, 1);
    if (first > end || end > dataBytes || end - first !== count * floatBytes(type))
      throw bad(`Tensor "${name}" does not fit the file.`);
    spans.push({ first, end, name });
    // A copy: offsets need not be multiples of 4. (`slice` of Node's Buffer would be no copy.)
    const copy = new Uint8Array(end - first);
    copy.set(bytes.subarray(dataStart + first, dataStart + end));
    result.tensors.set(name, { shape: shape as number[], data: toFloats(copy, type) });
  }
  spans.sort((a, b) => a.first - b.first || a.end - b.end);
  for (let i = 1; i < spans.length; i++) {
    if (spans[i].first < spans[i - 1].end) throw bad(`Tensors "${spans[i - 1].name}" and "${spans[i].name}" overlap.`);
  }
  return result;
}

export function writeSafetensors(
  tensors: ReadonlyMap<string, { shape: readonly number[]; data: Float32Array }>,
  metadata: Record<string, string> = {},
): Uint8Array {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt', ...metadata } };
  let offset = 0;
  for (const [name, { shape, data }] of tensors) {
    header[name] = { dtype: 'F32', shape, data_offsets: [offset, offset + data.byteLength] };
    offset += data.byteLength;
  }
  let json = JSON.stringify(header);
  json += ' '.repeat((8 - (json.length % 8)) % 8); // data starts on a multiple of 8, as the reference writer does
  const head = new TextEncoder().encode(json);
  const bytes = new Uint8Array(8 + head.length + offset);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(head.length), true);
  bytes.set(head, 8);
  let at = 8 + head.length;
  for (const { data } of tensors.values()) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    at += data.byteLength;
  }
  return bytes;
}
