import { describe, expect, test } from 'vitest';
import { Attention } from '../../src/nn/attention';
import { testGpu } from '../gpu';
import { expectClose, normals } from '../numbers';
import { type AttentionShape, attention, attentionBackward } from '../reference/attention';
import { runKernel } from './run-kernel';
import { dot, sampleEntries, slopes } from './slopes';
import { tinyConfig } from './tiny-models';

const lengths = [1, 7, 2, 33, 18];
const t = lengths.reduce((a, b) => a + b, 0);

// Every group size and head width once, the embedded model's shape among them; not all pairs, because lavapipe takes up
// to a minute to compile the widest.
const shapes: AttentionShape[] = [
  [4, 4, 8],
  [4, 2, 16],
  [4, 2, 32],
  [4, 1, 8],
].map(([heads, kvHeads, headDim]) => ({ heads, kvHeads, headDim, lengths }));
const name = ({ heads, kvHeads, headDim }: AttentionShape) => `${heads} heads over ${kvHeads} key heads of ${headDim}`;

const width = ({ heads, kvHeads, headDim }: AttentionShape) => (heads + 2 * kvHeads) * headDim;

/** (base, position) and the sequence's end for every token. */
function places(of: readonly number[]) {
  const rows: number[] = [];
  const ends: number[] = [];
  let base = 0;
  for (const length of of) {
    for (let i = 0; i < length; i++) {
      rows.push(base, i);
      ends.push(base + length);
    }
    base += length;
  }
  return { rows: Uint32Array.from(rows), ends: Uint32Array.from(ends) };
}

/** Scores of size 2: some rows look at one key, some at many. */
function data(shape: AttentionShape) {
  const { heads, headDim } = shape;
  const seed = heads * 100 + headDim + shape.kvHeads;
  return {
    qkv: normals(seed, t * width(shape), 1.4),
    dO: normals(seed + 1, t * heads * headDim),
    ...places(lengths),
    o: new Float32Array(t * heads * headDim),
    lse: new Float32Array(t * heads),
    delta: new Float32Array(t * heads),
    // Whatever was there before: the kernels must write all of it.
    dqkv: new Float32Array(t * width(shape)).fill(777),
  };
}

async function kernel({ heads, kvHeads, headDim }: AttentionShape) {
  return new Attention(await testGpu(), { ...tinyConfig, heads, kvHeads, headDim });
}

async function run(shape: AttentionShape) {
  const kernels = await kernel(shape);
  return runKernel(await testGpu(), data(shape), (rec, b) => {
    kernels.forward(rec, b.qkv, b.rows, b.o, b.lse, t, 10);
    kernels.backward(rec, b.qkv, b.rows, b.ends, b.o, b.dO, b.lse, b.delta, b.dqkv, t, 10);
  });
}

describe.each(shapes.map((shape) => [name(shape), shape] as const))('%s', (_, shape) => {
  test('forward equals the reference', async () => {
    const { o, lse } = attention(data(shape).qkv, shape);
    const got = await run(shape);
    expectClose(got.o, o, 1);
    expectClose(got.lse, lse, 1);
  });

  test('gradients of queries, keys and values equal the reference', async () => {
    const { qkv, dO } = data(shape);
    const want = attentionBackward(qkv, dO, shape);
    const got = await run(shape);
    // Keys and values collect from up to 33 tokens of several heads.
    expectClose(got.dqkv, want, 5);
    expect(await run(shape)).toEqual(got);
  });

  test('against the cache, in pieces and in any slots: the same to the bit as in one batch', async () => {
    const kernels = await kernel(shape);
    const gpu = await testGpu();
    const { qkv, rows, o, lse } = data(shape);
    const { heads, headDim } = shape;
    const slots = 40; // per sequence
    const order = [2, 0, 4, 1, 3]; // where each sequence lives in the cache
    const cache = new Float32Array(order.length * slots * kernels.kvWidth4 * 4).fill(1e6);
    const [whole, parts] = [await run(shape), { o: o.slice(), lse: lse.slice() }];
    let held: Float32Array = cache;
    // Each piece: the tokens of all sequences whose position lies in it, like one append and single steps after it.
    for (const [from, to] of [
      [0, 5],
      [5, 6],
      [6, 7],
      [7, 30],
      [30, 40],
    ]) {
      const piece = Array.from({ length: t }, (_, i) => i).filter(
        (i) => rows[2 * i + 1] >= from && rows[2 * i + 1] < to,
      );
      const take = (x: Float32Array, row: number) =>
        Float32Array.from(piece.flatMap((i) => [...x.subarray(i * row, (i + 1) * row)]));
      const sequence = (i: number) => [0, 1, 8, 10, 43].indexOf(rows[2 * i]);
      const all = {
        qkv: take(qkv, width(shape)),
        rows: Uint32Array.from(piece.flatMap((i) => [order[sequence(i)] * slots, rows[2 * i + 1]])),
        cache: held,
        o: new Float32Array(piece.length * heads * headDim),
        lse: new Float32Array(piece.length * heads),
      };
      const got = await runKernel(gpu, all, (rec, b) => {
        kernels.store(rec, b.qkv, b.rows, b.cache, piece.length);
        kernels.forwardCached(rec, b.qkv, b.cache, b.rows, b.o, b.lse, piece.length, 10);
      });
      held = got.cache;
      piece.forEach((i, j) => {
        parts.o.set(got.o.subarray(j * heads * headDim, (j + 1) * heads * headDim), i * heads * headDim);
        parts.lse.set(got.lse.subarray(j * heads, (j + 1) * heads), i * heads);
      });
    }
    expect(parts.o).toEqual(whole.o);
    expect(parts.lse).toEqual(whole.lse);
    // Slots nobody wrote are untouched: 40 minus the sequence's length in every region.
    const untouched = held.filter((x) => x === 1e6).length;
    expect(untouched).toBe((order.length * slots - t) * kernels.kvWidth4 * 4);
  });
});

test.each([1, 2, 4])('the reference gradient is the slope of the reference (group %i)', (group) => {
  const shape = { heads: 4, kvHeads: 4 / group, headDim: 4, lengths: [5, 1, 3] };
  const qkv = normals(group, 9 * width(shape));
  const dO = normals(9, 9 * 16);
  const entries = sampleEntries(3, qkv.length, 80);
  const slope = slopes((v) => dot(attention(v, shape).o, dO), qkv, entries);
  const gradient = attentionBackward(qkv, dO, shape);
  expectClose(
    entries.map((i) => gradient[i]),
    slope,
    1,
    1e-7,
  );
});

test('large scores neither overflow nor lose the others', async () => {
  const shape = { heads: 1, kvHeads: 1, headDim: 8, lengths: [3] };
  const kernels = await kernel(shape);
  const row = (q: number, k: number, v: number) => [...Array(8).fill(q), ...Array(8).fill(k), ...Array(8).fill(v)];
  const qkv = Float32Array.from([row(1, -40, 1), row(40, 30, 2), row(40, 30, 3)].flat());
  const all = { qkv, ...places([3]), o: new Float32Array(24), lse: new Float32Array(3) };
  const { o, lse } = await runKernel(await testGpu(), all, (rec, b) =>
    kernels.forward(rec, b.qkv, b.rows, b.o, b.lse, 3, 2),
  );
  const want = attention(qkv, shape);
  expectClose(o, want.o, 1);
  expectClose(lse, want.lse, 1);
  expectClose(o.slice(16), Array(8).fill(2.5), 1);
});
