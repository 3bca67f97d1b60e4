/**
 * @file Stored rows into the form that was asked for: exactly where that form can hold them, rounded to nearest otherwise.
 */
import { type FloatType, toFloats } from '../float-bytes';
import { floatToHalf } from '../half';
import {
  badWeights,
  codeWords,
  type QuantisedForm,
  type QuantisedRows,
  quantiseRows,
  requireFinite,
} from '../quantise';
import type { Rows, ScaleForm, WeightForm } from '../weights';
import type { StoredType } from './stored-types';
import { dequantiseQ6K, type Unpacked, unpack } from './unpack';

/**
 * @param bytes Whole rows of `columns` weights, as in the file.
 * @param label For messages: the tensor and its file.
 * @throws DreamError `bad-weights` when a weight or a scale is not finite.
 */
export function convertRows(
  bytes: Uint8Array<ArrayBuffer>,
  type: StoredType,
  columns: number,
  form: WeightForm,
  scales: ScaleForm,
  label: string,
): Rows {
  const storedBlocks = bytes.length / type.bytes;
  const unpacked = unpack(type.name, bytes, storedBlocks, storedBlocks * type.block);
  if (!unpacked) {
    const values = isFloat(type.name) ? toFloats(bytes, type.name) : dequantiseQ6K(bytes, storedBlocks);
    return form === 'f32' ? finite(values, label) : quantiseRows(values, columns, form, scales, label);
  }
  requireFinite(unpacked.scale, label);
  requireFinite(unpacked.minimum, label);
  if (form === 'f32') return finite(dequantise(unpacked), label);
  const exact = (form === 'q8' || type.form === 'q4') && (scales === 'single' || type.scales === 'half');
  return exact ? pack(unpacked, form, scales, label) : quantiseRows(dequantise(unpacked), columns, form, scales, label);
}

function finite(values: Float32Array<ArrayBuffer>, label: string): Rows {
  requireFinite(values, label);
  return { form: 'f32', values };
}

const isFloat = (name: string): name is FloatType => name === 'F32' || name === 'F16' || name === 'BF16';

function dequantise({ codes, scale, minimum }: Unpacked): Float32Array<ArrayBuffer> {
  const values = new Float32Array(codes.length);
  for (let i = 0; i < codes.length; i++) values[i] = codes[i] * scale[i >> 5] + minimum[i >> 5];
  return values;
}

/** Little endian machines only, as WebGPU's are: four codes in a row of bytes are the u32 of q8. */
function pack(
  { codes, scale, minimum }: Unpacked,
  form: QuantisedForm,
  scales: ScaleForm,
  label: string,
): QuantisedRows {
  const blocks = scale.length;
  let words = new Uint32Array(codes.buffer);
  if (form === 'q4') {
    words = new Uint32Array(blocks * codeWords('q4'));
    const pairs = new Uint8Array(words.buffer);
    for (let i = 0; i < pairs.length; i++) pairs[i] = codes[2 * i] | (codes[2 * i + 1] << 4);
  }
  if (scales === 'single') {
    const packed = new Float32Array(blocks * 2);
    for (let b = 0; b < blocks; b++) {
      packed[2 * b] = scale[b];
      packed[2 * b + 1] = minimum[b];
    }
    return { form, codes: words, scales: new Uint32Array(packed.buffer) };
  }
  const packed = new Uint32Array(blocks);
  for (let b = 0; b < blocks; b++) {
    const bits = floatToHalf(minimum[b]);
    // A scale of 512 and more, times 128, leaves f16: no sound model has such weights.
    if ((bits & 0x7c00) === 0x7c00) throw badWeights(label, 'too large for 16-bit scales');
    packed[b] = floatToHalf(scale[b]) | (bits << 16);
  }
  return { form, codes: words, scales: packed };
}
