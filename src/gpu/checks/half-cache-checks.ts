/**
 * @file The cache in half precision, checked apart from the start-up self-test: a device that fails here is not refused, it
 * keeps its cache in f32.
 */
import source from '../../../shaders/attention.wgsl?raw';
import keyValueHalf from '../../../shaders/key-value-half.wgsl?raw';
import storeSource from '../../../shaders/kv-cache-half.wgsl?raw';
import { type Check, numbers, sum, table } from './check';

const [heads, headDim, streams, slots] = [2, 8, 3, 5];
const width = (heads + 2) * headDim; // of qkv
const row = 2 * headDim; // of the cache
const scale = 1 / Math.sqrt(headDim);
/** (first row of the stream, position): streams of 4, 1 and 5 keys. */
const places = [3, 0, 4].map((position, stream) => [stream * slots, position] as const);
const positions = Uint32Array.from(places.flat());

/** The 16 bits of a number that is a half exactly and not smaller than 2^-14. */
function bitsOf(value: number): number {
  if (value === 0) return 0;
  const exponent = Math.floor(Math.log2(Math.abs(value)));
  const fraction = (Math.abs(value) / 2 ** exponent - 1) * 1024;
  return (value < 0 ? 0x8000 : 0) | ((exponent + 15) << 10) | fraction;
}

function packed(values: ArrayLike<number>): Uint32Array<ArrayBuffer> {
  return Uint32Array.from(
    { length: values.length / 2 },
    (_, i) => (bitsOf(values[2 * i]) | (bitsOf(values[2 * i + 1]) << 16)) >>> 0,
  );
}

/** Multiples of 1/64 in [-4, 4), halves exactly: how a device rounds is its own affair. */
const halves = (seed: number, n: number) => numbers(seed, n, 4).map((x) => Math.floor(x * 64) / 64);

export function halfCacheChecks(): Check[] {
  return [store(), attention()];
}

function store(): Check {
  const qkv = halves(31, streams * width);
  const first = heads * headDim;
  qkv[first] = 1e6; // becomes the largest half
  qkv[first + 1] = -1e6;
  const kept = new Float32Array(streams * slots * row).fill(1);
  const before = packed(kept);
  places.forEach(([base, position], token) => {
    for (let i = 0; i < row; i++) {
      const value = qkv[token * width + first + i];
      kept[(base + position) * row + i] = Math.max(-65504, Math.min(65504, value));
    }
  });
  return {
    name: 'half-cache-store',
    source: storeSource,
    entry: 'kv_store_half',
    workgroups: [1, streams],
    u32: [streams, width / 4, row / 4, first / 4],
    bindings: [qkv, positions, before],
    expected: [{ binding: 3, values: packed(kept) }],
    tolerance: 0,
  };
}

function attention(): Check {
  const q = numbers(32, streams * width, 2);
  const cache = halves(33, streams * slots * row);
  const o = new Float32Array(streams * heads * headDim);
  const lse = new Float32Array(streams * heads);
  places.forEach(([base, position], token) => {
    for (let head = 0; head < heads; head++) {
      const keys = Array.from({ length: position + 1 }, (_, j) => (base + j) * row);
      const scores = keys.map((at) =>
        sum(headDim, (i) => scale * q[token * width + head * headDim + i] * cache[at + i]),
      );
      const mass = sum(scores.length, (j) => Math.exp(scores[j]));
      lse[token * heads + head] = Math.log(mass);
      for (let i = 0; i < headDim; i++) {
        const value = sum(keys.length, (j) => Math.exp(scores[j]) * cache[keys[j] + headDim + i]);
        o[(token * heads + head) * headDim + i] = value / mass;
      }
    }
  });
  return {
    name: 'half-cache-attention',
    source: `const HEAD4 = ${headDim / 4}u;\nconst GROUP = ${heads}u;\n${keyValueHalf}${source}`,
    entry: 'attention_forward',
    workgroups: [1],
    u32: [streams, 1, width / 4, row / 4, 0, headDim / 4],
    f32: [scale],
    bindings: [q, packed(cache), positions, new Float32Array(o.length), new Float32Array(lse.length)],
    expected: [
      { binding: 4, values: o },
      { binding: 5, values: table(lse.length, (i) => lse[i]) },
    ],
    tolerance: 1e-5,
  };
}
