/** @file Little-endian bytes of a float type, as f32. Every browser's machine is little-endian, so views suffice. */
import { bfloatToFloat, halfToFloat } from './half';

export type FloatType = 'F32' | 'F16' | 'BF16';

export const floatBytes = (type: FloatType): number => (type === 'F32' ? 4 : 2);

/** `target[at + i * stride]` = the i-th of `count` values in `bytes` (from its byte `first`). */
export function spreadFloats(
  bytes: Uint8Array,
  type: FloatType,
  target: Float32Array,
  { first = 0, count = target.length, at = 0, stride = 1 } = {},
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset + first, count * floatBytes(type));
  if (type === 'F32') for (let i = 0; i < count; i++) target[at + i * stride] = view.getFloat32(i * 4, true);
  else {
    const decode = type === 'F16' ? halfToFloat : bfloatToFloat;
    for (let i = 0; i < count; i++) target[at + i * stride] = decode(view.getUint16(i * 2, true));
  }
}

/** All of `bytes`. F32 that lies aligned is not copied. */
export function toFloats(bytes: Uint8Array<ArrayBuffer>, type: FloatType): Float32Array<ArrayBuffer> {
  const count = bytes.byteLength / floatBytes(type);
  if (type === 'F32' && bytes.byteOffset % 4 === 0) return new Float32Array(bytes.buffer, bytes.byteOffset, count);
  const values = new Float32Array(count);
  spreadFloats(bytes, type, values);
  return values;
}
