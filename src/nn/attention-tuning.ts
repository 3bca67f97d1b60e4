/** @file Which attention is the fastest here: a ragged batch forward and backward, and single tokens against a cache. */
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import type { Recorder } from '../gpu/recorder';
import type { Attention, AttentionVariant } from './attention';
import { tileTokens } from './attention-tiles';

export interface AttentionTuning {
  variant: AttentionVariant;
  decodeVariant: AttentionVariant;
  milliseconds: Record<string, number>;
}

/** Streams and keys of each while decoding. */
const [STREAMS, KEYS] = [16, 40];

/** Leaves `attention`'s choices as it found them only by chance: the caller sets them from the result. */
export async function tuneAttention(gpu: Gpu, attention: Attention): Promise<AttentionTuning> {
  const milliseconds: Record<string, number> = {};
  const held: GpuBuffer[] = [];
  const hold = (buffer: GpuBuffer): GpuBuffer => {
    held.push(buffer);
    return buffer;
  };
  const variant = await faster(gpu, milliseconds, '', trainingCase(gpu, attention, hold), (chosen) => {
    attention.variant = chosen;
  });
  const decodeVariant = await faster(gpu, milliseconds, 'decode, ', decodingCase(gpu, attention, hold), (chosen) => {
    attention.decodeVariant = chosen;
  });
  for (const buffer of held) buffer.release();
  return { variant, decodeVariant, milliseconds };
}

interface Case {
  record(rec: Recorder): void;
  /** What it writes, and how many floats of each. */
  results: readonly (readonly [GpuBuffer, number])[];
}

async function faster(
  gpu: Gpu,
  milliseconds: Record<string, number>,
  prefix: string,
  { record, results }: Case,
  choose: (variant: AttentionVariant) => void,
): Promise<AttentionVariant> {
  const found: Record<string, Float32Array[]> = {};
  for (const variant of ['plain', 'subgroup'] as const) {
    choose(variant);
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 3; round++) {
      const rec = gpu.record('tune');
      record(rec);
      const start = performance.now();
      rec.submit();
      await gpu.finish();
      if (round > 0) best = Math.min(best, performance.now() - start);
    }
    milliseconds[prefix + variant] = best;
    found[variant] = [];
    for (const [buffer, count] of results) found[variant].push(await gpu.readF32(buffer, count));
  }
  // To the bit: timing decides, and it may decide otherwise tomorrow. The run must not depend on it.
  const equal = found.plain.every((values, i) => values.every((value, at) => value === found.subgroup[i][at]));
  return equal && milliseconds[`${prefix}subgroup`] < milliseconds[`${prefix}plain`] ? 'subgroup' : 'plain';
}

const wave = (n: number): Float32Array => Float32Array.from({ length: n }, (_, i) => ((i * 37) % 101) / 50 - 1);

function trainingCase(gpu: Gpu, attention: Attention, hold: (buffer: GpuBuffer) => GpuBuffer): Case {
  const { heads, headDim } = attention.config;
  const places: number[] = []; // base, position per token
  const last: number[] = [];
  let base = 0;
  for (const length of [131, 3, 122]) {
    for (let i = 0; i < length; i++) {
      places.push(base, i);
      last.push(base + length);
    }
    base += length;
  }
  const t = base;
  const width = attention.qWidth4 * 4;
  const cut = tileTokens(places);
  const tiles = { buffer: hold(gpu.upload(cut, 'tune tiles')), count: cut.length / 4 };
  const rows = hold(gpu.upload(Uint32Array.from(places), 'tune rows'));
  const ends = hold(gpu.upload(Uint32Array.from(last), 'tune ends'));
  const qkv = hold(gpu.upload(wave(t * width), 'tune qkv'));
  const dO = hold(gpu.upload(wave(t * heads * headDim), 'tune d o'));
  const o = hold(gpu.alloc(t * heads * headDim * 4, 'tune o'));
  const lse = hold(gpu.alloc(t * heads * 4, 'tune lse'));
  const delta = hold(gpu.alloc(t * heads * 4, 'tune delta'));
  const dqkv = hold(gpu.alloc(t * width * 4, 'tune dqkv'));
  return {
    record(rec) {
      attention.forward(rec, qkv, rows, o, lse, t, t / 2, tiles);
      attention.backward(rec, qkv, rows, ends, o, dO, lse, delta, dqkv, t, t / 2, tiles);
    },
    results: [
      [o, t * heads * headDim],
      [lse, t * heads],
      [dqkv, t * width],
    ],
  };
}

function decodingCase(gpu: Gpu, attention: Attention, hold: (buffer: GpuBuffer) => GpuBuffer): Case {
  const { heads, headDim } = attention.config;
  const places = Array.from({ length: STREAMS }, (_, stream) => [stream * KEYS, KEYS - 1 - (stream % 3)]);
  const rows = hold(gpu.upload(Uint32Array.from(places.flat()), 'tune rows'));
  const qkv = hold(gpu.upload(wave(STREAMS * attention.qWidth4 * 4), 'tune qkv'));
  const cache = hold(gpu.upload(wave(STREAMS * KEYS * attention.kvWidth4 * 4), 'tune cache'));
  const o = hold(gpu.alloc(STREAMS * heads * headDim * 4, 'tune o'));
  const lse = hold(gpu.alloc(STREAMS * heads * 4, 'tune lse'));
  return {
    record: (rec) => attention.forwardCached(rec, qkv, cache, rows, o, lse, STREAMS, KEYS),
    results: [
      [o, STREAMS * heads * headDim],
      [lse, STREAMS * heads],
    ],
  };
}
