/**
 * @file A GGUF file's key-value pairs: `general.architecture`, the model's dimensions, the tokenizer.
 *
 * Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (versions 2 and 3, little endian). Arrays of numbers
 * become typed arrays of the width they have in the file, so that reading never needs more memory than the file has bytes.
 */
import type { HeaderReader } from './header-reader';
import { badGguf } from './problem';

export type NumberArray =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array;
export type GgufValue = number | boolean | string | readonly string[] | NumberArray;

const STRING = 8;
const BOOLEAN = 7;
const ARRAY = 9;
/** Key length, one character, value type, one byte of value. */
const SMALLEST_PAIR = 8 + 1 + 4 + 1;

interface NumberType {
  bytes: number;
  read(reader: HeaderReader): number;
  array(count: number): NumberArray;
}

const numberTypes: ReadonlyMap<number, NumberType> = new Map<number, NumberType>([
  [0, { bytes: 1, read: (r) => r.u8(), array: (n) => new Uint8Array(n) }],
  [1, { bytes: 1, read: (r) => r.i8(), array: (n) => new Int8Array(n) }],
  [2, { bytes: 2, read: (r) => r.u16(), array: (n) => new Uint16Array(n) }],
  [3, { bytes: 2, read: (r) => r.i16(), array: (n) => new Int16Array(n) }],
  [4, { bytes: 4, read: (r) => r.u32(), array: (n) => new Uint32Array(n) }],
  [5, { bytes: 4, read: (r) => r.i32(), array: (n) => new Int32Array(n) }],
  [6, { bytes: 4, read: (r) => r.f32(), array: (n) => new Float32Array(n) }],
  [BOOLEAN, { bytes: 1, read: (r) => r.u8(), array: (n) => new Uint8Array(n) }],
  [10, { bytes: 8, read: (r) => r.u64(), array: (n) => new Float64Array(n) }],
  [11, { bytes: 8, read: (r) => r.i64(), array: (n) => new Float64Array(n) }],
  [12, { bytes: 8, read: (r) => r.f64(), array: (n) => new Float64Array(n) }],
]);

/** The pairs of one file, with getters that check the type. */
export class Metadata {
  constructor(
    private readonly file: string,
    private readonly values: ReadonlyMap<string, GgufValue>,
  ) {}

  has(key: string): boolean {
    return this.values.has(key);
  }

  /** Undefined when absent. Every getter throws `bad-gguf` for a value of another type. */
  number(key: string): number | undefined {
    return this.typed(key, 'a number', (value) => typeof value === 'number');
  }
  boolean(key: string): boolean | undefined {
    return this.typed(key, 'a boolean', (value) => typeof value === 'boolean');
  }
  string(key: string): string | undefined {
    return this.typed(key, 'a string', (value) => typeof value === 'string');
  }
  strings(key: string): readonly string[] | undefined {
    return this.typed(key, 'a list of strings', Array.isArray);
  }
  numbers(key: string): NumberArray | undefined {
    return this.typed(key, 'a list of numbers', (value) => ArrayBuffer.isView(value));
  }
  /** True for a value per layer where most files have one number. */
  isList(key: string): boolean {
    return typeof this.values.get(key) === 'object';
  }

  private typed<T extends GgufValue>(key: string, kind: string, fits: (value: GgufValue) => boolean): T | undefined {
    const value = this.values.get(key);
    if (value === undefined) return undefined;
    if (!fits(value)) throw badGguf(this.file, `"${key}" is not ${kind}`);
    return value as T;
  }
}

/** Reads `count` pairs at the cursor. */
export async function readMetadata(reader: HeaderReader, count: number): Promise<Metadata> {
  reader.claim(count * SMALLEST_PAIR, `its list of ${count} metadata entries`);
  const values = new Map<string, GgufValue>();
  for (let i = 0; i < count; i++) {
    const key = await reader.string('the name of a metadata entry');
    if (values.has(key)) throw badGguf(reader.file, `"${clip(key)}" stands in its metadata twice`);
    const what = `"${clip(key)}"`;
    await reader.need(4, what);
    values.set(key, await readValue(reader, reader.u32(), what));
  }
  return new Metadata(reader.file, values);
}

async function readValue(reader: HeaderReader, type: number, what: string): Promise<GgufValue> {
  if (type === STRING) return reader.string(what);
  if (type === ARRAY) {
    await reader.need(12, what);
    return readArray(reader, reader.u32(), reader.u64(), what);
  }
  const { bytes, read } = numberType(reader, type, what);
  await reader.need(bytes, what);
  const value = read(reader);
  return type === BOOLEAN ? value !== 0 : value;
}

async function readArray(reader: HeaderReader, type: number, count: number, what: string): Promise<GgufValue> {
  if (type === STRING) {
    reader.claim(count * 8, what);
    const strings: string[] = [];
    for (let i = 0; i < count; i++) strings.push(await reader.string(what));
    return strings;
  }
  const { bytes, read, array } = numberType(reader, type, what);
  reader.claim(count * bytes, what);
  const numbers = array(count);
  for (let i = 0; i < count; i++) {
    if (!reader.has(bytes)) await reader.need(bytes, what);
    numbers[i] = read(reader);
  }
  return numbers;
}

function numberType(reader: HeaderReader, type: number, what: string): NumberType {
  const known = numberTypes.get(type);
  if (!known) throw badGguf(reader.file, `${what} has the unknown type ${type}`);
  return known;
}

/** Names from a damaged file can be megabytes of noise. */
export function clip(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
