/**
 * @file GGUF's quantised blocks as codes, scales and minimums: w = code * scale + minimum over 32 weights.
 *
 * Layouts from ggml's reference dequantisers (`dequantize_row_*` in ggml-quants.c, MIT). Every format here but Q6_K is
 * exactly of our kind: Q4_0, Q5_0 and Q8_0 have codes around a middle, which becomes a minimum (8, 16 or 128 steps, a power
 * of two, so nothing is rounded). The products code * scale need at most 24 bits, so they are exact in f32 as well, and
 * the sum is rounded once, as in ggml.
 */
import { halfToFloat } from '../half';
import { BLOCK } from '../weights';

export interface Unpacked {
  /** One byte per weight. */
  codes: Uint8Array<ArrayBuffer>;
  /** One per 32 weights. */
  scale: Float32Array<ArrayBuffer>;
  minimum: Float32Array<ArrayBuffer>;
}

type Unpacker = (bytes: Uint8Array, blocks: number, out: Unpacked) => void;

/** By the stored type's name. `blocks` counts blocks of the stored type. */
const unpackers: Readonly<Record<string, Unpacker>> = {
  Q4_0: (bytes, blocks, out) => {
    for (let b = 0; b < blocks; b++) {
      setScale(out, b, half(bytes, b * 18), 8);
      nibbles(bytes, b * 18 + 2, out.codes, b * BLOCK);
    }
  },
  Q4_1: (bytes, blocks, out) => {
    for (let b = 0; b < blocks; b++) {
      out.scale[b] = half(bytes, b * 20);
      out.minimum[b] = half(bytes, b * 20 + 2);
      nibbles(bytes, b * 20 + 4, out.codes, b * BLOCK);
    }
  },
  Q5_0: (bytes, blocks, out) => {
    for (let b = 0; b < blocks; b++) {
      setScale(out, b, half(bytes, b * 22), 16);
      nibbles(bytes, b * 22 + 6, out.codes, b * BLOCK);
      fifthBits(bytes, b * 22 + 2, out.codes, b * BLOCK);
    }
  },
  Q5_1: (bytes, blocks, out) => {
    for (let b = 0; b < blocks; b++) {
      out.scale[b] = half(bytes, b * 24);
      out.minimum[b] = half(bytes, b * 24 + 2);
      nibbles(bytes, b * 24 + 8, out.codes, b * BLOCK);
      fifthBits(bytes, b * 24 + 4, out.codes, b * BLOCK);
    }
  },
  Q8_0: (bytes, blocks, out) => {
    for (let b = 0; b < blocks; b++) {
      setScale(out, b, half(bytes, b * 34), 128);
      // Two's complement plus 128 is the other sign bit.
      for (let k = 0; k < BLOCK; k++) out.codes[b * BLOCK + k] = bytes[b * 34 + 2 + k] ^ 128;
    }
  },
  Q4_K: (bytes, blocks, out) => {
    for (let b = 0; b < blocks; b++) {
      superScales(bytes, b * 144, out, b * 8);
      for (let pair = 0; pair < 4; pair++)
        pairOfBlocks(bytes, b * 144 + 16 + pair * 32, out.codes, b * 256 + pair * 64);
    }
  },
  Q5_K: (bytes, blocks, out) => {
    for (let b = 0; b < blocks; b++) {
      superScales(bytes, b * 176, out, b * 8);
      for (let pair = 0; pair < 4; pair++)
        pairOfBlocks(bytes, b * 176 + 48 + pair * 32, out.codes, b * 256 + pair * 64);
      // Bit j of high byte k is the fifth bit of weight k of sub-block j.
      for (let k = 0; k < BLOCK; k++) {
        const high = bytes[b * 176 + 16 + k];
        for (let j = 0; j < 8; j++) out.codes[b * 256 + j * BLOCK + k] |= ((high >> j) & 1) << 4;
      }
    }
  },
};

/** Null for types that are not codes with a scale and a minimum over 32 weights (floats, Q6_K). */
export function unpack(type: string, bytes: Uint8Array, storedBlocks: number, weights: number): Unpacked | null {
  const unpacker = unpackers[type];
  if (!unpacker) return null;
  const out = {
    codes: new Uint8Array(weights),
    scale: new Float32Array(weights / BLOCK),
    minimum: new Float32Array(weights / BLOCK),
  };
  unpacker(bytes, storedBlocks, out);
  return out;
}

/**
 * Q6_K to floats: 256 weights, w = d * scale[16-weight sub-block] * (code - 32). Its sub-blocks are narrower than ours,
 * so it has no exact codes; rounded to q8 over 32 weights the error is at most 1/510 of the block's range, an eighth of
 * the wider sub-block's own step.
 */
export function dequantiseQ6K(bytes: Uint8Array, storedBlocks: number): Float32Array<ArrayBuffer> {
  const scales = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values = new Float32Array(storedBlocks * 256);
  for (let b = 0; b < storedBlocks; b++) {
    const at = b * 210;
    const d = half(bytes, at + 208);
    // Sub-blocks of 16: four low bits of each weight in 64 bytes per 128 weights, two high bits in 32.
    for (let sub = 0; sub < 16; sub++) {
      const quarter = (sub >> 1) & 3;
      const low = at + (sub >> 3) * 64 + (sub & 3) * 16;
      const high = at + 128 + (sub >> 3) * 32 + (sub & 1) * 16;
      const lowShift = quarter < 2 ? 0 : 4;
      const highShift = quarter * 2;
      const scale = d * scales[at + 192 + sub];
      for (let k = 0; k < 16; k++) {
        const code = ((bytes[low + k] >> lowShift) & 15) | (((bytes[high + k] >> highShift) & 3) << 4);
        values[b * 256 + sub * 16 + k] = scale * (code - 32);
      }
    }
  }
  return values;
}

const half = (bytes: Uint8Array, at: number): number => halfToFloat(bytes[at] | (bytes[at + 1] << 8));

function setScale(out: Unpacked, block: number, scale: number, middle: number): void {
  out.scale[block] = scale;
  out.minimum[block] = -middle * scale;
}

/** 16 bytes: weight k in the low half of byte k, weight k + 16 in its high half. */
function nibbles(bytes: Uint8Array, at: number, codes: Uint8Array, first: number): void {
  for (let k = 0; k < 16; k++) {
    const byte = bytes[at + k];
    codes[first + k] = byte & 15;
    codes[first + k + 16] = byte >> 4;
  }
}

function fifthBits(bytes: Uint8Array, at: number, codes: Uint8Array, first: number): void {
  for (let k = 0; k < BLOCK; k++) codes[first + k] |= ((bytes[at + (k >> 3)] >> (k & 7)) & 1) << 4;
}

/** 32 bytes: weight k of one sub-block in the low half of byte k, of the next in its high half. */
function pairOfBlocks(bytes: Uint8Array, at: number, codes: Uint8Array, first: number): void {
  for (let k = 0; k < BLOCK; k++) {
    const byte = bytes[at + k];
    codes[first + k] = byte & 15;
    codes[first + BLOCK + k] = byte >> 4;
  }
}

/** d, dmin, and eight pairs of 6 bits in 12 bytes: the last four pairs keep their upper 2 bits in the first eight bytes. */
function superScales(bytes: Uint8Array, at: number, out: Unpacked, firstBlock: number): void {
  const d = half(bytes, at);
  const dmin = half(bytes, at + 2);
  const byte = (i: number): number => bytes[at + 4 + i];
  for (let j = 0; j < 8; j++) {
    const scale = j < 4 ? byte(j) & 63 : (byte(j + 4) & 15) | ((byte(j - 4) >> 6) << 4);
    const minimum = j < 4 ? byte(j + 4) & 63 : (byte(j + 4) >> 4) | ((byte(j) >> 6) << 4);
    out.scale[firstBlock + j] = d * scale;
    out.minimum[firstBlock + j] = -dmin * minimum;
  }
}
