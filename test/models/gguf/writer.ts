/** @file Writes GGUF files: any metadata, any tensors, whole small models of each family. */
import type { ByteSource } from '../../../src/models/weights';
import { randomWeights, types } from './reference';

export type Value =
  | { type: 'u32' | 'i32' | 'f32' | 'u64'; value: number }
  | { type: 'bool'; value: boolean }
  | { type: 'string'; value: string }
  | { type: 'strings'; value: readonly string[] }
  | { type: 'i32s' | 'f32s'; value: readonly number[] };

export interface TensorData {
  /** As in the file: fastest dimension first. */
  dimensions: readonly number[];
  type: string;
  bytes: Uint8Array;
}

export const u32 = (value: number): Value => ({ type: 'u32', value });
export const f32 = (value: number): Value => ({ type: 'f32', value });
export const text = (value: string): Value => ({ type: 'string', value });

class Writer {
  readonly bytes: number[] = [];
  private readonly scratch = new DataView(new ArrayBuffer(8));

  u32(value: number): void {
    this.scratch.setUint32(0, value, true);
    this.take(4);
  }
  u64(value: number): void {
    this.scratch.setBigUint64(0, BigInt(value), true);
    this.take(8);
  }
  f32(value: number): void {
    this.scratch.setFloat32(0, value, true);
    this.take(4);
  }
  string(value: string): void {
    const utf8 = new TextEncoder().encode(value);
    this.u64(utf8.length);
    for (const byte of utf8) this.bytes.push(byte);
  }
  value(entry: Value): void {
    this.u32({ u32: 4, i32: 5, f32: 6, bool: 7, string: 8, u64: 10, strings: 9, i32s: 9, f32s: 9 }[entry.type]);
    switch (entry.type) {
      case 'u32':
      case 'i32':
        this.u32(entry.value);
        break;
      case 'f32':
        this.f32(entry.value);
        break;
      case 'bool':
        this.bytes.push(entry.value ? 1 : 0);
        break;
      case 'string':
        this.string(entry.value);
        break;
      case 'u64':
        this.u64(entry.value);
        break;
      default:
        this.u32({ strings: 8, i32s: 5, f32s: 6 }[entry.type]);
        this.u64(entry.value.length);
        for (const item of entry.value) {
          if (typeof item === 'string') this.string(item);
          else if (entry.type === 'i32s') this.u32(item);
          else this.f32(item);
        }
    }
  }
  align(): void {
    while (this.bytes.length % 32) this.bytes.push(0);
  }
  private take(count: number): void {
    for (let i = 0; i < count; i++) this.bytes.push(this.scratch.getUint8(i));
  }
}

export interface GgufParts {
  version?: number;
  metadata: Record<string, Value>;
  tensors: Record<string, TensorData>;
  /** To write false ones. */
  offsets?: Record<string, number>;
  typeIds?: Record<string, number>;
}

export function writeGguf({
  version = 3,
  metadata,
  tensors,
  offsets = {},
  typeIds = {},
}: GgufParts): Uint8Array<ArrayBuffer> {
  const w = new Writer();
  w.u32(0x46554747);
  w.u32(version);
  w.u64(Object.keys(tensors).length);
  w.u64(Object.keys(metadata).length);
  for (const [key, value] of Object.entries(metadata)) {
    w.string(key);
    w.value(value);
  }
  let offset = 0;
  for (const [name, { dimensions, type, bytes }] of Object.entries(tensors)) {
    w.string(name);
    w.u32(dimensions.length);
    for (const n of dimensions) w.u64(n);
    w.u32(typeIds[name] ?? types[type].id);
    w.u64(offsets[name] ?? offset);
    offset += padded(bytes);
  }
  w.align();
  const file = new Uint8Array(w.bytes.length + offset);
  file.set(w.bytes);
  let at = w.bytes.length;
  for (const { bytes } of Object.values(tensors)) {
    file.set(bytes, at);
    at += padded(bytes);
  }
  return file;
}

const padded = (bytes: Uint8Array): number => Math.ceil(bytes.length / 32) * 32;

/** Remembers the largest read: what a parser allocates at the file's word. */
export class MemorySource implements ByteSource {
  largest = 0;
  constructor(
    private readonly bytes: Uint8Array,
    readonly name = 'tiny.gguf',
  ) {}
  get size(): number {
    return this.bytes.length;
  }
  async read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    this.largest = Math.max(this.largest, length);
    if (!(length >= 0 && offset >= 0 && offset + length <= this.size)) throw new Error(`read ${offset} + ${length}`);
    return new Uint8Array(this.bytes.subarray(offset, offset + length));
  }
}

/** Dimensions of the models below: every row is a whole block of every type. */
export const tiny = { vocab: 8, width: 256, layers: 2, heads: 4, kvHeads: 2, headDim: 64, ffn: 256 };

export interface ModelOptions {
  architecture?: string;
  /** The type of every matrix. */
  type?: string;
  bias?: boolean;
  qkNorm?: boolean;
  untied?: boolean;
  layers?: number;
  vocab?: number;
  metadata?: Record<string, Value>;
}

/** The parts of a whole model with random weights; F32 norms. */
export function modelParts(options: ModelOptions = {}): GgufParts {
  const {
    architecture = 'llama',
    type = 'Q4_0',
    bias,
    qkNorm,
    untied,
    layers = tiny.layers,
    vocab = tiny.vocab,
  } = options;
  const { width, heads, kvHeads, headDim, ffn } = tiny;
  const tensors: Record<string, TensorData> = {};
  let seed = 1;
  const matrix = (name: string, rows: number, columns: number) => {
    tensors[name] = { dimensions: [columns, rows], type, bytes: randomWeights(type, rows * columns, seed++) };
  };
  const vector = (name: string, n: number) => {
    tensors[name] = { dimensions: [n], type: 'F32', bytes: randomWeights('F32', n, seed++) };
  };
  matrix('token_embd.weight', vocab, width);
  for (let l = 0; l < layers; l++) {
    vector(`blk.${l}.attn_norm.weight`, width);
    matrix(`blk.${l}.attn_q.weight`, heads * headDim, width);
    matrix(`blk.${l}.attn_k.weight`, kvHeads * headDim, width);
    matrix(`blk.${l}.attn_v.weight`, kvHeads * headDim, width);
    if (bias) {
      vector(`blk.${l}.attn_q.bias`, heads * headDim);
      vector(`blk.${l}.attn_k.bias`, kvHeads * headDim);
      vector(`blk.${l}.attn_v.bias`, kvHeads * headDim);
    }
    if (qkNorm) {
      vector(`blk.${l}.attn_q_norm.weight`, headDim);
      vector(`blk.${l}.attn_k_norm.weight`, headDim);
    }
    matrix(`blk.${l}.attn_output.weight`, width, heads * headDim);
    vector(`blk.${l}.ffn_norm.weight`, width);
    matrix(`blk.${l}.ffn_gate.weight`, ffn, width);
    matrix(`blk.${l}.ffn_up.weight`, ffn, width);
    matrix(`blk.${l}.ffn_down.weight`, width, ffn);
  }
  vector('output_norm.weight', width);
  if (untied) matrix('output.weight', vocab, width);
  const metadata: Record<string, Value> = {
    'general.architecture': text(architecture),
    [`${architecture}.block_count`]: u32(layers),
    [`${architecture}.context_length`]: u32(128),
    [`${architecture}.embedding_length`]: u32(width),
    [`${architecture}.feed_forward_length`]: u32(ffn),
    [`${architecture}.attention.head_count`]: u32(heads),
    [`${architecture}.attention.head_count_kv`]: u32(kvHeads),
    [`${architecture}.attention.layer_norm_rms_epsilon`]: f32(1e-5),
    [`${architecture}.rope.freq_base`]: f32(10000),
    ...options.metadata,
  };
  return { metadata, tensors };
}
