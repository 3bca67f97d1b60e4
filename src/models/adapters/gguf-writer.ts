/** @file A GGUF file (version 3) of f32 tensors: magic, metadata, tensor list, aligned data. */

export type GgufPair = { key: string } & ({ string: string } | { f32: number } | { u32: number });

export interface GgufTensor {
  name: string;
  /** [rows, columns]; written in GGUF's order, the fastest dimension first. */
  rows: number;
  columns: number;
  values: Float32Array;
}

const VERSION = 3;
const ALIGNMENT = 32;
const TYPE = { u32: 4, f32: 6, string: 8 };
const TENSOR_F32 = 0;

const aligned = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

export function writeGguf(pairs: readonly GgufPair[], tensors: readonly GgufTensor[]): Uint8Array<ArrayBuffer> {
  const head = new Head();
  head.ascii('GGUF');
  head.u32(VERSION);
  head.u64(tensors.length);
  head.u64(pairs.length);
  for (const pair of pairs) {
    head.string(pair.key);
    if ('string' in pair) {
      head.u32(TYPE.string);
      head.string(pair.string);
    } else if ('f32' in pair) {
      head.u32(TYPE.f32);
      head.f32(pair.f32);
    } else {
      head.u32(TYPE.u32);
      head.u32(pair.u32);
    }
  }
  let offset = 0;
  for (const { name, rows, columns, values } of tensors) {
    head.string(name);
    head.u32(2);
    head.u64(columns);
    head.u64(rows);
    head.u32(TENSOR_F32);
    head.u64(offset);
    offset += aligned(values.byteLength);
  }
  const start = aligned(head.length);
  const bytes = new Uint8Array(start + offset);
  let at = 0;
  for (const piece of head.pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  at = start;
  for (const { values } of tensors) {
    bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), at);
    at += aligned(values.byteLength);
  }
  return bytes;
}

/** Little-endian pieces of the file's head. */
class Head {
  readonly pieces: Uint8Array[] = [];
  length = 0;

  private add(piece: Uint8Array): void {
    this.pieces.push(piece);
    this.length += piece.length;
  }
  private number(bytes: number, write: (view: DataView) => void): void {
    const piece = new Uint8Array(bytes);
    write(new DataView(piece.buffer));
    this.add(piece);
  }

  u32(value: number): void {
    this.number(4, (view) => view.setUint32(0, value, true));
  }
  u64(value: number): void {
    this.number(8, (view) => view.setBigUint64(0, BigInt(value), true));
  }
  f32(value: number): void {
    this.number(4, (view) => view.setFloat32(0, value, true));
  }
  ascii(text: string): void {
    this.add(new TextEncoder().encode(text));
  }
  string(text: string): void {
    const encoded = new TextEncoder().encode(text);
    this.u64(encoded.length);
    this.add(encoded);
  }
}
