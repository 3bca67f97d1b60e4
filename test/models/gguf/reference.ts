/**
 * @file Plain dequantisers, weight by weight in f32 arithmetic as ggml's C does it: independent of the product's code,
 * which goes through codes, scales and minimums. Also random blocks of every type.
 */

const f = Math.fround;

/** Half to float from the definition. */
export function half(bits: number): number {
  const sign = bits >> 15 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = (bits & 1023) / 1024;
  if (exponent === 0) return sign * fraction * 2 ** -14;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1 + fraction) * 2 ** (exponent - 15);
}

interface TypeFacts {
  id: number;
  block: number;
  bytes: number;
  /** Offsets of f16 in a block. */
  halves: number[];
  /** One block to weights. */
  weights(bytes: Uint8Array): number[];
}

const u16 = (b: Uint8Array, at: number) => b[at] | (b[at + 1] << 8);
const i8 = (byte: number) => (byte > 127 ? byte - 256 : byte);
const range = (n: number) => [...Array(n).keys()];
const nibble = (b: Uint8Array, at: number, k: number) => (k < 16 ? b[at + k] & 15 : b[at + k - 16] >> 4);
const bit = (b: Uint8Array, at: number, k: number) => (b[at + (k >> 3)] >> (k & 7)) & 1;
/** get_scale_min_k4 */
const scaleMin = (q: Uint8Array, j: number): [number, number] =>
  j < 4
    ? [q[j] & 63, q[j + 4] & 63]
    : [(q[j + 4] & 0xf) | ((q[j - 4] >> 6) << 4), (q[j + 4] >> 4) | ((q[j] >> 6) << 4)];

export const types: Record<string, TypeFacts> = {
  F32: {
    id: 0,
    block: 1,
    bytes: 4,
    halves: [],
    weights: (b) => [new DataView(b.buffer, b.byteOffset, 4).getFloat32(0, true)],
  },
  F16: { id: 1, block: 1, bytes: 2, halves: [0], weights: (b) => [half(u16(b, 0))] },
  BF16: {
    id: 30,
    block: 1,
    bytes: 2,
    halves: [],
    weights: (b) => [new Float32Array(new Uint8Array([0, 0, b[0], b[1]]).buffer)[0]],
  },
  Q4_0: {
    id: 2,
    block: 32,
    bytes: 18,
    halves: [0],
    weights: (b) => range(32).map((k) => f((nibble(b, 2, k) - 8) * half(u16(b, 0)))),
  },
  Q4_1: {
    id: 3,
    block: 32,
    bytes: 20,
    halves: [0, 2],
    weights: (b) => range(32).map((k) => f(f(nibble(b, 4, k) * half(u16(b, 0))) + half(u16(b, 2)))),
  },
  Q5_0: {
    id: 6,
    block: 32,
    bytes: 22,
    halves: [0],
    weights: (b) => range(32).map((k) => f((nibble(b, 6, k) + 16 * bit(b, 2, k) - 16) * half(u16(b, 0)))),
  },
  Q5_1: {
    id: 7,
    block: 32,
    bytes: 24,
    halves: [0, 2],
    weights: (b) =>
      range(32).map((k) => f(f((nibble(b, 8, k) + 16 * bit(b, 4, k)) * half(u16(b, 0))) + half(u16(b, 2)))),
  },
  Q8_0: {
    id: 8,
    block: 32,
    bytes: 34,
    halves: [0],
    weights: (b) => range(32).map((k) => f(i8(b[2 + k]) * half(u16(b, 0)))),
  },
  Q4_K: {
    id: 12,
    block: 256,
    bytes: 144,
    halves: [0, 2],
    weights: (b) =>
      range(256).map((i) => {
        const j = i >> 5;
        const [scale, min] = scaleMin(b.subarray(4, 16), j);
        const byte = b[16 + (j >> 1) * 32 + (i & 31)];
        const code = j % 2 ? byte >> 4 : byte & 15;
        return f(f(f(half(u16(b, 0)) * scale) * code) - f(half(u16(b, 2)) * min));
      }),
  },
  Q5_K: {
    id: 13,
    block: 256,
    bytes: 176,
    halves: [0, 2],
    weights: (b) =>
      range(256).map((i) => {
        const j = i >> 5;
        const [scale, min] = scaleMin(b.subarray(4, 16), j);
        const byte = b[48 + (j >> 1) * 32 + (i & 31)];
        const code = (j % 2 ? byte >> 4 : byte & 15) + (b[16 + (i & 31)] & (1 << j) ? 16 : 0);
        return f(f(f(half(u16(b, 0)) * scale) * code) - f(half(u16(b, 2)) * min));
      }),
  },
  Q6_K: {
    id: 14,
    block: 256,
    bytes: 210,
    halves: [208],
    weights: (b) => {
      const y: number[] = [];
      const d = half(u16(b, 208));
      for (let n = 0; n < 2; n++) {
        const ql = b.subarray(64 * n);
        const qh = b.subarray(128 + 32 * n);
        const sc = b.subarray(192 + 8 * n);
        for (let l = 0; l < 32; l++) {
          const is = l >> 4;
          const q = [
            (ql[l] & 0xf) | (((qh[l] >> 0) & 3) << 4),
            (ql[l + 32] & 0xf) | (((qh[l] >> 2) & 3) << 4),
            (ql[l] >> 4) | (((qh[l] >> 4) & 3) << 4),
            (ql[l + 32] >> 4) | (((qh[l] >> 6) & 3) << 4),
          ];
          for (let r = 0; r < 4; r++) y[128 * n + 32 * r + l] = f(f(d * i8(sc[is + 2 * r])) * (q[r] - 32));
        }
      }
      return y;
    },
  },
};

/** Weights of whole rows. */
export function dequantise(type: string, bytes: Uint8Array): Float32Array<ArrayBuffer> {
  const { weights, bytes: size, block } = types[type];
  const values = new Float32Array((bytes.length / size) * block);
  for (let b = 0; b < bytes.length / size; b++)
    values.set(weights(bytes.subarray(b * size, b * size + size)), b * block);
  return values;
}

/** Bytes of `count` random weights: any codes, scales of sound size and either sign. */
export function randomWeights(type: string, count: number, seed: number): Uint8Array<ArrayBuffer> {
  let state = seed >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 8;
  };
  const { block, bytes: size, halves } = types[type];
  const bytes = new Uint8Array((count / block) * size);
  for (let i = 0; i < bytes.length; i++) bytes[i] = next();
  for (let b = 0; b < count / block; b++) {
    for (const at of halves) bytes[b * size + at + 1] = (next() & 0x80) | 0x20 | (next() % 16); // 2^-7 to 2^-3
    if (type === 'F32' || type === 'BF16') bytes[b * size + size - 1] = (next() & 0x80) | 0x3d;
  }
  return bytes;
}
