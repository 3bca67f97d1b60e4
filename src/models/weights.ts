/**
 * @file What a model file offers the engine, whatever its format: a description, and rows of tensors in one of the three
 * forms the kernels read. Files are read piece by piece and never held in memory as a whole.
 *
 * The two quantised forms (design.md): blocks of 32 consecutive weights of a row, w = code * scale + minimum.
 *
 * | form | codes per block                                      | scales per block                                    |
 * | q4   | 4 u32, weight k of the block in bits 4 (k % 8) of u32 k / 8 | `half`: one u32 = pack2x16float(scale, minimum) |
 * | q8   | 8 u32, weight k in bits 8 (k % 4) of u32 k / 4       | `single`: two f32, scale then minimum               |
 *
 * Codes are unsigned (0..15, 0..255). A row of `columns` weights has columns / 32 blocks; rows follow each other.
 * q4 becomes q8 without loss (same codes, same scales), so that stacked matrices of mixed origin stay exact.
 */
import type { DecoderConfig } from '../nn/config';

export type WeightForm = 'f32' | 'q4' | 'q8';
/** `half` is exact for GGUF's 32-blocks and f16 ONNX scales; `single` for f32 ONNX scales and K-quants. */
export type ScaleForm = 'half' | 'single';

export const BLOCK = 32;

export interface TensorInfo {
  /** Hugging Face's name, e.g. `model.layers.0.self_attn.q_proj.weight`, whatever the file calls it. */
  readonly name: string;
  /** [rows, columns] = [outputs, inputs]; vectors are [1, n]. */
  readonly rows: number;
  readonly columns: number;
  /** As the file calls it: `Q4_1`, `BF16`, `MatMulNBits 4/32`, ... */
  readonly stored: string;
  /** Bytes in the file. */
  readonly bytes: number;
  /** The form that keeps it as it is: q4 or q8 where it is quantised and its rows are whole blocks, else f32. */
  readonly form: WeightForm;
  /** The scales that lose nothing (quantised forms). */
  readonly scales: ScaleForm;
}

/** Consecutive rows of a tensor. */
export type Rows =
  | { form: 'f32'; values: Float32Array<ArrayBuffer> }
  | {
      form: 'q4' | 'q8';
      codes: Uint32Array<ArrayBuffer>;
      /** One word (`half`) or two (`single`, the bits of f32) per block. */
      scales: Uint32Array<ArrayBuffer>;
    };

/** What the tokenizer is made from: tokenizer.json's text, or what a GGUF says of its own. */
export interface TokenizerSource {
  /** Content of tokenizer.json and tokenizer_config.json (or the same rebuilt). */
  tokenizer: Record<string, unknown>;
  tokenizerConfig: Record<string, unknown>;
}

export interface WeightSource {
  /** For messages: the file's or folder's name. */
  readonly label: string;
  /** The architecture's name in the file, e.g. `LlamaForCausalLM` or `llama`. */
  readonly architecture: string;
  readonly config: DecoderConfig;
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  /** Null when the file brings none and none lies beside it. */
  tokenizer(): Promise<TokenizerSource | null>;
  /**
   * Rows [first, first + count) of a tensor, converted. Any form may be asked for: f32 dequantises, a quantised form of a
   * float tensor is rounded to nearest (per block: minimum and range), q8 of q4 is exact.
   * Throws `bad-weights` (damaged, not finite), `file-read` (the file went away).
   */
  read(name: string, first: number, count: number, form: WeightForm, scales: ScaleForm): Promise<Rows>;
  close(): void;
}

/** Random access to a file wherever it lies: a Blob, a path, a hub address, OPFS. */
export interface ByteSource {
  readonly name: string;
  readonly size: number;
  /** Bytes [offset, offset + length). Throws `file-read`; short reads are errors. */
  read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>>;
}
