/** @file The subgroup attention against the plain one, which test/nn/attention.test.ts holds against the CPU. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Gpu } from '../../src/gpu/device';
import { Attention, type AttentionVariant } from '../../src/nn/attention';
import { tileTokens } from '../../src/nn/attention-tiles';
import type { DecoderConfig } from '../../src/nn/config';
import { testGpu } from '../gpu';
import { normals } from '../numbers';
import { runKernel } from './run-kernel';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await testGpu();
});

function config(heads: number, kvHeads: number, headDim: number): DecoderConfig {
  const rest = { ropeTheta: 10000, normEps: 1e-5, contextLength: 128 };
  return { vocabSize: 8, width: heads * headDim, layers: 1, heads, kvHeads, headDim, ffn: 8, ...rest };
}

/** (base, position) and the sequence's end of every token of sequences that follow each other. */
function layout(lengths: readonly number[]): { rows: Uint32Array; ends: Uint32Array } {
  const rows: number[] = [];
  const ends: number[] = [];
  for (const length of lengths) {
    const base = ends.length;
    for (let i = 0; i < length; i++) {
      rows.push(base, i);
      ends.push(base + length);
    }
  }
  return { rows: Uint32Array.from(rows), ends: Uint32Array.from(ends) };
}

async function trained(attention: Attention, c: DecoderConfig, lengths: readonly number[], variant: AttentionVariant) {
  const { rows, ends } = layout(lengths);
  const t = ends.length;
  const tiles = tileTokens(rows);
  const width = attention.qWidth4 * 4;
  const o = c.heads * c.headDim;
  const data = {
    qkv: normals(1, t * width),
    dO: normals(2, t * o),
    rows,
    ends,
    tiles,
    o: new Float32Array(t * o),
    lse: new Float32Array(t * c.heads),
    delta: new Float32Array(t * c.heads),
    dqkv: new Float32Array(t * width),
  };
  attention.variant = variant;
  return runKernel(gpu, data, (rec, b) => {
    const tiled = { buffer: b.tiles, count: tiles.length / 4 };
    attention.forward(rec, b.qkv, b.rows, b.o, b.lse, t, t / 2, tiled);
    attention.backward(rec, b.qkv, b.rows, b.ends, b.o, b.dO, b.lse, b.delta, b.dqkv, t, t / 2, tiled);
  });
}

describe('tileTokens', () => {
  it('covers every token once, never across sequences or gaps', () => {
    const places = [0, 0, 0, 1, 2, 0, 100, 7, 100, 8, 100, 10];
    expect([...tileTokens(places)]).toEqual([0, 2, 0, 0, 2, 1, 2, 0, 3, 2, 100, 7, 5, 1, 100, 10]);
  });

  it('cuts long runs after 8 tokens', () => {
    const { rows } = layout([19]);
    expect([...tileTokens(rows)]).toEqual([0, 8, 0, 0, 8, 8, 0, 8, 16, 3, 0, 16]);
  });

  it('finds nothing in an empty batch', () => {
    expect(tileTokens([])).toHaveLength(0);
  });
});

describe('subgroup attention', () => {
  const shapes = [
    [2, 2, 8],
    [4, 2, 16],
    [4, 2, 32],
  ] as const;

  it.each(shapes)(
    'gives the plain results with %i heads, %i key-value heads of width %i',
    async (heads, kvHeads, headDim) => {
      const c = config(heads, kvHeads, headDim);
      const attention = new Attention(gpu, c);
      await attention.tune();
      if (!attention.hasSubgroupVariant) {
        // Nothing to compare on such a device, but then the choice must say so.
        expect(gpu.features.includes('subgroups') && gpu.subgroupMinSize >= 8).toBe(false);
        expect(attention.variant).toBe('plain');
        return;
      }
      for (const lengths of [[1], [8], [9, 1, 7, 40], [65, 16, 3]]) {
        const plain = await trained(attention, c, lengths, 'plain');
        const subgroup = await trained(attention, c, lengths, 'subgroup');
        for (const name of ['o', 'lse', 'delta', 'dqkv'] as const) {
          expect(plain[name].some((x) => x !== 0)).toBe(true);
          expect(subgroup[name]).toEqual(plain[name]); // to the bit: the choice by timing must not change a run
        }
        expect(await trained(attention, c, lengths, 'subgroup')).toEqual(subgroup);
      }
    },
  );

  it('reads the cache as the plain one does when streams go on where they stopped', async () => {
    const c = config(4, 2, 16);
    const attention = new Attention(gpu, c);
    await attention.tune();
    if (!attention.hasSubgroupVariant) return expect(attention.variant).toBe('plain');
    // Two streams of 64 rows; 11 tokens after the first 20 of one, 3 after the first 5 of the other.
    const rows = Uint32Array.from([...Array(11).keys()].flatMap((i) => [0, 20 + i]).concat([64, 5, 64, 6, 64, 7]));
    const t = rows.length / 2;
    const tiles = tileTokens(rows);
    const data = {
      qkv: normals(3, t * attention.qWidth4 * 4),
      cache: normals(4, 128 * attention.kvWidth4 * 4),
      rows,
      tiles,
      o: new Float32Array(t * 64),
      lse: new Float32Array(t * 4),
    };
    const run = (variant: AttentionVariant) => {
      attention.variant = variant;
      return runKernel(gpu, data, (rec, b) =>
        attention.forwardCached(rec, b.qkv, b.cache, b.rows, b.o, b.lse, t, 20, {
          buffer: b.tiles,
          count: tiles.length / 4,
        }),
      );
    };
    const plain = await run('plain');
    const subgroup = await run('subgroup');
    expect(subgroup.o).toEqual(plain.o);
    expect(subgroup.lse).toEqual(plain.lse);
  });

  it.each([...shapes, [9, 3, 64]] as const)(
    'decodes single tokens as the plain one does: %i heads, %i key-value heads of width %i',
    async (heads, kvHeads, headDim) => {
      const c = config(heads, kvHeads, headDim);
      const attention = new Attention(gpu, c);
      await attention.tune();
      if (!attention.hasSubgroupVariant) return expect(attention.decodeVariant).toBe('plain');
      const positions = [0, 1, 7, 8, 15, 16, 30];
      const t = positions.length;
      const data = {
        qkv: normals(5, t * attention.qWidth4 * 4),
        cache: normals(6, t * 32 * attention.kvWidth4 * 4),
        rows: Uint32Array.from(positions.flatMap((position, stream) => [stream * 32, position])),
        o: new Float32Array(t * heads * headDim).fill(777),
        lse: new Float32Array(t * heads).fill(777),
      };
      const run = (variant: AttentionVariant) => {
        attention.decodeVariant = variant;
        return runKernel(gpu, data, (rec, b) =>
          attention.forwardCached(rec, b.qkv, b.cache, b.rows, b.o, b.lse, t, 12),
        );
      };
      const plain = await run('plain');
      const subgroup = await run('subgroup');
      expect(plain.o).not.toContain(777);
      expect(subgroup.o).toEqual(plain.o);
      expect(subgroup.lse).toEqual(plain.lse);
    },
  );
});
