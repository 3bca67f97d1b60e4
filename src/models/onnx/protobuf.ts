/**
 * @file Protocol buffers, as much as ONNX needs: the fields of a message, walked by range.
 *
 * A model with its weights inside is gigabytes long. So a field is an offset and a length, its bytes are read only when
 * asked for, and skipping a field costs nothing: the walk holds one window of the file.
 * Wire format: https://protobuf.dev/programming-guides/encoding/
 */
import { DreamError } from '../../data/errors';
import type { ByteSource } from '../weights';

export interface Field {
  readonly number: number;
  /** 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes. */
  readonly wire: number;
  /** Where the content lies in the file (wire 1, 2, 5). */
  readonly offset: number;
  readonly length: number;
  /** Wire 0: as int64. Beyond 2^53 it is rounded, which no size or index of ours survives unnoticed. */
  readonly value: number;
}

const WINDOW_BYTES = 2 ** 18;
/** Names, and the paths of external files. Longer is damage. */
const MAX_TEXT_BYTES = 2 ** 16;

export function badOnnx(file: ByteSource, message: string): DreamError {
  return new DreamError(
    'bad-onnx',
    `${file.name}: ${message}`,
    'The file is damaged, incomplete or not ONNX; get it again.',
  );
}

export class ProtobufReader {
  private window: Uint8Array = new Uint8Array();
  private windowAt = 0;
  /** The next byte that `varint` takes. */
  private at = 0;

  constructor(readonly file: ByteSource) {}

  /** The fields of the message in [start, end). Nested walks may be interleaved. Throws `bad-onnx`. */
  async *fields(start: number, end: number): AsyncGenerator<Field> {
    let offset = start;
    while (offset < end) {
      // Two varints of ten bytes are the longest head a field has.
      await this.load(offset, Math.min(20, end - offset));
      this.at = offset;
      const key = this.varint(end);
      const wire = key % 8;
      const number = Math.floor(key / 8);
      if (number < 1 || number >= 2 ** 29) throw this.damaged(offset);
      let length = 0;
      let value = 0;
      if (wire === 0) value = this.varint(end);
      else if (wire === 1) length = 8;
      else if (wire === 5) length = 4;
      else if (wire === 2) length = this.varint(end);
      else throw this.damaged(offset);
      const content = this.at;
      if (length < 0 || length > end - content) throw this.damaged(offset);
      yield { number, wire, offset: content, length, value };
      offset = content + length;
    }
  }

  async text(field: Field): Promise<string> {
    if (field.wire !== 2 || field.length > MAX_TEXT_BYTES) throw this.damaged(field.offset);
    await this.load(field.offset, field.length);
    const first = field.offset - this.windowAt;
    return new TextDecoder().decode(this.window.subarray(first, first + field.length));
  }

  /** A repeated integer field's values: one, or many packed into one field of at most `limit` bytes. */
  async integers(field: Field, limit: number): Promise<number[]> {
    if (field.wire === 0) return [field.value];
    if (field.wire !== 2 || field.length > limit) throw this.damaged(field.offset);
    const end = field.offset + field.length;
    await this.load(field.offset, field.length);
    const values: number[] = [];
    for (this.at = field.offset; this.at < end; ) values.push(this.varint(end));
    return values;
  }

  async float(field: Field): Promise<number> {
    if (field.wire !== 5) throw this.damaged(field.offset);
    await this.load(field.offset, 4);
    return new DataView(this.window.buffer, this.window.byteOffset + field.offset - this.windowAt, 4).getFloat32(
      0,
      true,
    );
  }

  private damaged(offset: number): DreamError {
    return badOnnx(this.file, `what stands at byte ${offset} is no protocol buffer.`);
  }

  private async load(offset: number, length: number): Promise<void> {
    if (offset >= this.windowAt && offset + length <= this.windowAt + this.window.length) return;
    const wanted = Math.min(Math.max(length, WINDOW_BYTES), this.file.size - offset);
    if (wanted < length) throw this.damaged(offset);
    const bytes = await this.file.read(offset, wanted);
    if (bytes.length < length) throw this.damaged(offset);
    this.window = bytes;
    this.windowAt = offset;
  }

  /** Seven bits a byte, low first; the window must hold them. */
  private varint(end: number): number {
    const start = this.at;
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 10; i++, scale *= 128) {
      if (this.at >= end) throw this.damaged(start);
      const byte = this.window[this.at++ - this.windowAt];
      if (i === 9 && byte > 1) throw this.damaged(start);
      value += (byte & 127) * scale;
      if (byte < 128) return value < 2 ** 63 ? value : this.negative(start);
    }
    throw this.damaged(start);
  }

  /** Ten bytes: a negative int64. Exact arithmetic, because small negative numbers (an axis of -1) matter. */
  private negative(start: number): number {
    let bits = 0n;
    for (let i = 0; i < 10; i++) bits |= BigInt(this.window[start - this.windowAt + i] & 127) << BigInt(7 * i);
    return Number(BigInt.asIntN(64, bits));
  }
}
