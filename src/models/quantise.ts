/**
 * @file Between floats and the two quantised forms of weights.ts: blocks of 32 weights, w = code * scale + minimum.
 *
 * Rounding is to nearest over a block's own minimum and range, so |error| <= scale / 2. With `half` scales the minimum is
 * rounded down and the scale up, so that the codes still span the block and that bound still holds for the rounded scale.
 */
import { DreamError } from '../data/errors';
import { halfAbove, halfBelow, halfToFloat } from './half';
import { BLOCK, type Rows, type ScaleForm } from './weights';

export type QuantisedForm = 'q4' | 'q8';
export type QuantisedRows = Extract<Rows, { codes: Uint32Array }>;

/** u32 of codes per block. */
export const codeWords = (form: QuantisedForm): number => (form === 'q4' ? 4 : 8);
/** u32 of scales per block. */
export const scaleWords = (scales: ScaleForm): number => (scales === 'half' ? 1 : 2);

/** @throws DreamError `bad-weights` naming `label` (the tensor, and its file) when a value is NaN or infinite. */
export function requireFinite(values: Float32Array, label: string): void {
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) throw badWeights(label, 'not finite');
}

/**
 * Whole rows, [rows, columns] row-major, rounded to nearest per block.
 * @param columns A multiple of 32, else DreamError `wrong-shape`.
 * @param label For messages: the tensor and its file.
 * @throws DreamError `bad-weights` for values that are not finite, or beyond f16's range with `half` scales.
 */
export function quantiseRows(
  values: Float32Array,
  columns: number,
  form: QuantisedForm,
  scales: ScaleForm,
  label = 'A tensor',
): QuantisedRows {
  requireBlocks(columns, label);
  const blocks = values.length / BLOCK;
  const levels = form === 'q4' ? 15 : 255;
  const codes = new Uint32Array(blocks * codeWords(form));
  const packed = new Uint32Array(blocks * scaleWords(scales));
  const singles = new Float32Array(packed.buffer);
  const perWord = form === 'q4' ? 8 : 4;
  const bits = 32 / perWord;
  for (let block = 0; block < blocks; block++) {
    const first = block * BLOCK;
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let k = first; k < first + BLOCK; k++) {
      const value = values[k];
      if (!Number.isFinite(value)) throw badWeights(label, 'not finite');
      if (value < low) low = value;
      if (value > high) high = value;
    }
    let scale: number;
    if (scales === 'half') {
      const minimum = halfBelow(low);
      low = halfToFloat(minimum);
      const step = halfAbove((high - low) / levels);
      scale = halfToFloat(step);
      if (!Number.isFinite(low) || !Number.isFinite(scale)) throw badWeights(label, 'too large for 16-bit scales');
      packed[block] = step | (minimum << 16);
    } else {
      scale = Math.fround((high - low) / levels);
      singles[block * 2] = scale;
      singles[block * 2 + 1] = low;
    }
    const perScale = scale > 0 ? 1 / scale : 0;
    let word = first / perWord;
    for (let k = first; k < first + BLOCK; word++) {
      let together = 0;
      for (let shift = 0; shift < 32; shift += bits, k++) {
        together |= Math.min(levels, Math.floor((values[k] - low) * perScale + 0.5)) << shift;
      }
      codes[word] = together;
    }
  }
  return { form, codes, scales: packed };
}

/** The f32 values of whole rows: code * scale + minimum, one rounding. */
export function dequantiseRows(rows: Rows, columns: number): Float32Array<ArrayBuffer> {
  if (rows.form === 'f32') return rows.values;
  requireBlocks(columns, 'A tensor');
  const { form, codes, scales } = rows;
  const blocks = codes.length / codeWords(form);
  const half = scales.length === blocks;
  const singles = new Float32Array(scales.buffer, scales.byteOffset, scales.length);
  const perWord = form === 'q4' ? 8 : 4;
  const bits = 32 / perWord;
  const mask = form === 'q4' ? 15 : 255;
  const values = new Float32Array(blocks * BLOCK);
  for (let block = 0; block < blocks; block++) {
    const scale = half ? halfToFloat(scales[block]) : singles[block * 2];
    const minimum = half ? halfToFloat(scales[block] >>> 16) : singles[block * 2 + 1];
    const first = block * BLOCK;
    for (let k = 0; k < BLOCK; k++) {
      const code = (codes[((first + k) / perWord) | 0] >>> (bits * (k % perWord))) & mask;
      values[first + k] = code * scale + minimum;
    }
  }
  return values;
}

function requireBlocks(columns: number, label: string): void {
  if (columns > 0 && columns % BLOCK === 0) return;
  throw new DreamError(
    'wrong-shape',
    `${label} has rows of ${columns} weights; quantised rows are whole blocks of ${BLOCK}.`,
    'Read this tensor as f32.',
  );
}

/** The one message for damaged weights, whatever the file's format. */
export function badWeights(label: string, what: string): DreamError {
  return new DreamError(
    'bad-weights',
    `${label} holds values that are ${what}.`,
    'The file is damaged, or its training diverged; get it again or use another model.',
  );
}
