/** @file Blocks of 32 quantised weights in plain code: made at random, and read in double precision. */
import type { Rows, ScaleForm } from '../../src/models/weights';
import type { QuantisedForm } from '../../src/nn/quantised-matrix';
import { randomSource } from '../numbers';

type QuantisedRows = Extract<Rows, { codes: Uint32Array }>;

/** A half that f32 holds exactly, from its 16 bits; only normal numbers are made here. */
function halfToNumber(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const value = exponent === 0 ? (bits & 1023) * 2 ** -24 : (1 + (bits & 1023) / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -value : value;
}

/** Random codes; scales about 1 / the largest code, minima about -0.5, so that weights are about -1 .. 1. */
export function randomRows(
  seed: number,
  rows: number,
  columns: number,
  form: QuantisedForm,
  scales: ScaleForm,
): QuantisedRows {
  const uniform = randomSource(seed);
  const blocks = (rows * columns) / 32;
  const codes = Uint32Array.from({ length: blocks * (form === 'q4' ? 4 : 8) }, () => uniform() * 2 ** 32);
  const step = form === 'q4' ? 1 / 15 : 1 / 255;
  if (scales === 'half') {
    // Exponents by hand: 2^-4 (q4) or 2^-8 (q8) times 1..2, and -(0.5..1).
    const exponent = form === 'q4' ? 11 : 7;
    const words = Uint32Array.from({ length: blocks }, () => {
      const scale = (exponent << 10) | Math.floor(uniform() * 1024);
      const minimum = 0x8000 | (14 << 10) | Math.floor(uniform() * 1024);
      return ((minimum << 16) | scale) >>> 0;
    });
    return { form, codes, scales: words };
  }
  const floats = new Float32Array(blocks * 2);
  for (let block = 0; block < blocks; block++) {
    floats[2 * block] = step * (1 + uniform());
    floats[2 * block + 1] = -0.5 - 0.5 * uniform();
  }
  return { form, codes, scales: new Uint32Array(floats.buffer) };
}

/** All weights in order, w = code * scale + minimum. */
export function dequantise({ form, codes, scales }: QuantisedRows, scaleForm: ScaleForm): Float64Array {
  const bits = form === 'q4' ? 4 : 8;
  const perWord = 32 / bits;
  const floats = new Float32Array(scales.buffer, scales.byteOffset, scales.length);
  return Float64Array.from({ length: codes.length * perWord }, (_, at) => {
    const block = Math.floor(at / 32);
    const word = codes[block * bits + Math.floor((at % 32) / perWord)];
    const code = (word >>> (bits * (at % perWord))) & (2 ** bits - 1);
    return scaleForm === 'half'
      ? code * halfToNumber(scales[block] & 0xffff) + halfToNumber(scales[block] >>> 16)
      : code * floats[2 * block] + floats[2 * block + 1];
  });
}

/** Rows [first, first + count) of rows of `columns` weights. */
export function sliceRows(rows: QuantisedRows, columns: number, first: number, count: number): QuantisedRows {
  const codeWords = (columns / 32) * (rows.form === 'q4' ? 4 : 8);
  const scaleWords = rows.scales.length / (rows.codes.length / codeWords);
  return {
    form: rows.form,
    codes: rows.codes.slice(first * codeWords, (first + count) * codeWords),
    scales: rows.scales.slice(first * scaleWords, (first + count) * scaleWords),
  };
}
