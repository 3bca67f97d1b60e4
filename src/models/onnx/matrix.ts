/**
 * @file Weights as ONNX stores them, read row by row: plain floats, [out, in] or transposed, and blocks of 4 or 8 bits.
 *
 * MatMulNBits (contrib operator; measured, see test/models/onnx): row n, block b of `blockSize` weights, low nibble first,
 * w = (code - zero) * scale; zero is 8 (128) unless stored, packed two to a byte or as floats. A block of 64 is two of our
 * 32-blocks with one scale; a row whose blocks do not divide so is read as floats.
 */
import { type FloatType, floatBytes, spreadFloats, toFloats } from '../float-bytes';
import { floatToHalf, halfToFloat } from '../half';
import { badWeights, codeWords, dequantiseRows, type QuantisedRows, quantiseRows, requireFinite } from '../quantise';
import { readExactly } from '../read-exactly';
import { BLOCK, type Rows, type ScaleForm, type WeightForm } from '../weights';
import type { Initializer } from './model';

export type Located = Initializer & { readonly data: NonNullable<Initializer['data']> };

/** A matrix in the file; `rows` are outputs, `columns` inputs, however it is stored. */
export type Matrix = FloatMatrix | BlockMatrix;

export interface FloatMatrix {
  readonly kind: 'floats';
  readonly rows: number;
  readonly columns: number;
  readonly values: Located;
  /** Stored [columns, rows]. */
  readonly transposed: boolean;
}

export interface BlockMatrix {
  readonly kind: 'blocks';
  readonly rows: number;
  readonly columns: number;
  /** For people: `MatMulNBits 4/32`. */
  readonly stored: string;
  readonly bits: 4 | 8;
  readonly blockSize: number;
  readonly blocksPerRow: number;
  readonly codes: Located;
  readonly scales: Located;
  readonly zeros: Located | null;
  /** Without `zeros`, as a number to take from unsigned codes. */
  readonly defaultZero: number;
  /** Codes (and zeros) are two's complement. */
  readonly signed: boolean;
  /** Zeros of 4 bits run on over row ends (int4 tensors), instead of each row starting a byte. */
  readonly zerosRunOn: boolean;
}

/** Blocks that are whole 32-blocks of ours. */
const isWhole = (m: BlockMatrix): boolean => m.blockSize % BLOCK === 0 && m.columns % BLOCK === 0;

export const storedAs = (m: Matrix): string => (m.kind === 'blocks' ? m.stored : m.values.type);

export function storedBytes(m: Matrix): number {
  if (m.kind === 'floats') return m.values.data.bytes;
  return m.codes.data.bytes + m.scales.data.bytes + (m.zeros?.data.bytes ?? 0);
}

export function nativeForm(m: Matrix): { form: WeightForm; scales: ScaleForm } {
  if (m.kind === 'floats' || !isWhole(m)) return { form: 'f32', scales: 'single' };
  // -8 * scale and -128 * scale are exact in f16; a stored zero times a scale need not be.
  const scales = m.scales.type === 'F16' && !m.zeros ? 'half' : 'single';
  return { form: m.bits === 4 ? 'q4' : 'q8', scales };
}

/** @throws DreamError `bad-weights` naming the tensor and the file, `file-read`. */
export async function readRows(
  m: Matrix,
  first: number,
  count: number,
  form: WeightForm,
  scales: ScaleForm,
): Promise<Rows> {
  if (m.kind === 'blocks' && isWhole(m)) {
    const rows = await readWholeBlocks(m, first, count, form === 'f32' ? 'single' : scales);
    if (form === rows.form) return rows;
    if (form === 'q8') return { form, codes: widen(rows.codes), scales: rows.scales };
    const values = dequantiseRows(rows, m.columns);
    return form === 'f32' ? { form, values } : quantiseRows(values, m.columns, form, scales, labelOf(m.codes));
  }
  const values = m.kind === 'blocks' ? await readBlocks(m, first, count) : await readFloats(m, first, count);
  const label = labelOf(m.kind === 'blocks' ? m.codes : m.values);
  if (form !== 'f32') return quantiseRows(values, m.columns, form, scales, label);
  requireFinite(values, label);
  return { form, values };
}

const labelOf = ({ name, data }: Located): string => `"${name}" in ${data.file.name}`;

/** Bytes [first, first + count) of a tensor. */
const bytesOf = ({ data }: Located, first: number, count: number): Promise<Uint8Array<ArrayBuffer>> =>
  readExactly(data.file, data.offset + first, count);

/** Elements [first, first + count) of a float tensor. */
export async function readVector(tensor: Located, first: number, count: number): Promise<Float32Array<ArrayBuffer>> {
  const size = floatBytes(tensor.type as FloatType);
  const values = toFloats(await bytesOf(tensor, first * size, count * size), tensor.type as FloatType);
  requireFinite(values, labelOf(tensor));
  return values;
}

/** How much of a transposed matrix is read at a time, and how many reads are under way together. */
const PIECE_BYTES = 2 ** 24;
const READS_AT_ONCE = 32;

async function readFloats(m: FloatMatrix, first: number, count: number): Promise<Float32Array<ArrayBuffer>> {
  const type = m.values.type as FloatType;
  const size = floatBytes(type);
  if (!m.transposed) return toFloats(await bytesOf(m.values, first * m.columns * size, count * m.columns * size), type);
  // Stored [columns, rows]: our rows are its columns. A wide strip is cheaper read with what lies between, in few pieces;
  // a narrow one as one short read per stored row.
  const values = new Float32Array(count * m.columns);
  const isWide = count * 8 >= m.rows;
  const rowsPerRead = isWide ? Math.max(1, Math.floor(PIECE_BYTES / (m.rows * size))) : 1;
  const step = rowsPerRead * (isWide ? 1 : READS_AT_ONCE);
  const readStrip = async (k: number): Promise<void> => {
    const stored = Math.min(rowsPerRead, m.columns - k);
    const bytes = await bytesOf(m.values, (k * m.rows + first) * size, ((stored - 1) * m.rows + count) * size);
    for (let i = 0; i < stored; i++)
      spreadFloats(bytes, type, values, { first: i * m.rows * size, count, at: k + i, stride: m.columns });
  };
  for (let k = 0; k < m.columns; k += step) {
    const strips: Promise<void>[] = [];
    for (let strip = k; strip < Math.min(k + step, m.columns); strip += rowsPerRead) strips.push(readStrip(strip));
    await Promise.all(strips);
  }
  return values;
}

/** Scale and zero (of unsigned codes) of every block of the rows. */
async function readScales(m: BlockMatrix, first: number, count: number): Promise<[Float32Array, Float32Array]> {
  const blocks = count * m.blocksPerRow;
  const scales = await readVector(m.scales, first * m.blocksPerRow, blocks);
  if (!m.zeros) return [scales, new Float32Array(blocks).fill(m.defaultZero)];
  if (m.zeros.type !== 'U8' && m.zeros.type !== 'I8' && m.zeros.type !== 'U4' && m.zeros.type !== 'I4') {
    return [scales, await readVector(m.zeros, first * m.blocksPerRow, blocks)];
  }
  const zeros = new Float32Array(blocks);
  const flip = m.signed ? 2 ** (m.bits - 1) : 0;
  if (m.bits === 8) {
    zeros.set((await bytesOf(m.zeros, first * m.blocksPerRow, blocks)).map((zero) => zero ^ flip));
    return [scales, zeros];
  }
  // In nibbles: each row's own bytes, or one run over all rows.
  const rowNibbles = m.zerosRunOn ? m.blocksPerRow : 2 * Math.ceil(m.blocksPerRow / 2);
  const start = Math.floor((first * rowNibbles) / 2);
  const bytes = await bytesOf(m.zeros, start, Math.ceil(((first + count) * rowNibbles) / 2) - start);
  for (let row = 0; row < count; row++) {
    for (let block = 0; block < m.blocksPerRow; block++) {
      const nibble = (first + row) * rowNibbles + block - 2 * start;
      zeros[row * m.blocksPerRow + block] = ((bytes[nibble >> 1] >> (4 * (nibble & 1))) & 15) ^ flip;
    }
  }
  return [scales, zeros];
}

/** Rows whose blocks are ours: codes are copied, each scale serves its 32-blocks. */
async function readWholeBlocks(
  m: BlockMatrix,
  first: number,
  count: number,
  wanted: ScaleForm,
): Promise<QuantisedRows> {
  const form = m.bits === 4 ? 'q4' : 'q8';
  const storedRow = (m.blocksPerRow * m.blockSize * m.bits) / 8;
  const usedRow = (m.columns * m.bits) / 8; // the last block of 64 may be half padding
  const bytes = await bytesOf(m.codes, first * storedRow, count * storedRow);
  const [scales, zeros] = await readScales(m, first, count);
  const blocks = m.columns / BLOCK;
  const codes = new Uint32Array(count * blocks * codeWords(form));
  const target = new Uint8Array(codes.buffer);
  for (let row = 0; row < count; row++)
    target.set(bytes.subarray(row * storedRow, row * storedRow + usedRow), row * usedRow);
  if (m.signed) for (let i = 0; i < codes.length; i++) codes[i] ^= m.bits === 4 ? 0x88888888 : 0x80808080;

  const packed = new Uint32Array(count * blocks * (wanted === 'half' ? 1 : 2));
  const singles = new Float32Array(packed.buffer);
  for (let block = 0; block < count * blocks; block++) {
    const row = Math.floor(block / blocks);
    const at = row * m.blocksPerRow + Math.floor(((block % blocks) * BLOCK) / m.blockSize);
    if (Math.abs(scales[at]) > 1e30) throw badWeights(labelOf(m.scales), 'absurdly large'); // times a code: infinite
    const minimum = 0 - zeros[at] * scales[at]; // 0 -, not -: a scale of zero shall not make minus zero
    if (wanted === 'half') {
      const scale16 = floatToHalf(scales[at]);
      const minimum16 = floatToHalf(minimum);
      if (!Number.isFinite(halfToFloat(scale16)) || !Number.isFinite(halfToFloat(minimum16)))
        throw badWeights(labelOf(m.scales), 'too large for 16-bit scales');
      packed[block] = scale16 | (minimum16 << 16);
    } else {
      singles[block * 2] = scales[at];
      singles[block * 2 + 1] = minimum;
    }
  }
  return { form, codes, scales: packed };
}

/** Any block size, any row length. [count, columns] */
async function readBlocks(m: BlockMatrix, first: number, count: number): Promise<Float32Array<ArrayBuffer>> {
  const storedRow = (m.blocksPerRow * m.blockSize * m.bits) / 8;
  const bytes = await bytesOf(m.codes, first * storedRow, count * storedRow);
  const [scales, zeros] = await readScales(m, first, count);
  const flip = m.signed ? 2 ** (m.bits - 1) : 0;
  const values = new Float32Array(count * m.columns);
  for (let row = 0; row < count; row++) {
    for (let k = 0; k < m.columns; k++) {
      const byte = bytes[row * storedRow + ((k * m.bits) >> 3)];
      const code = (m.bits === 8 ? byte : k & 1 ? byte >> 4 : byte & 15) ^ flip;
      const block = row * m.blocksPerRow + Math.floor(k / m.blockSize);
      values[row * m.columns + k] = (code - zeros[block]) * scales[block];
    }
  }
  return values;
}

/** 4-bit codes as 8-bit codes of the same value: eight to a word become four and four. */
function widen(codes: Uint32Array): Uint32Array<ArrayBuffer> {
  const spread = (word: number): number =>
    (word & 15) | ((word & 0xf0) << 4) | ((word & 0xf00) << 8) | ((word & 0xf000) << 12);
  const wide = new Uint32Array(codes.length * 2);
  for (let i = 0; i < codes.length; i++) {
    wide[2 * i] = spread(codes[i]);
    wide[2 * i + 1] = spread(codes[i] >>> 16);
  }
  return wide;
}
