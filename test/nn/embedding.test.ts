import { describe, expect, test } from 'vitest';
import { Embedding, sortByToken } from '../../src/nn/embedding';
import { testGpu } from '../gpu';
import { expectClose, normals, randomSource } from '../numbers';
import { embeddingBackward, gather, scatter } from '../reference/embedding';
import { runKernel } from './run-kernel';
import { dot, slopes } from './slopes';

/** Half the tokens are one of four, so that rows have many positions, one or none. */
function tokens(seed: number, t: number, vocab: number): Uint32Array {
  const uniform = randomSource(seed);
  return Uint32Array.from({ length: t }, () => Math.floor(uniform() * (uniform() < 0.5 ? Math.min(4, vocab) : vocab)));
}

describe.each([
  [1, 4, 4],
  [37, 12, 16],
  [200, 300, 128],
  [65, 100, 132],
])('%i tokens of %i, width %i', (t, vocab, d) => {
  test('gather copies rows to the bit', async () => {
    const gpu = await testGpu();
    const kernels = new Embedding(gpu);
    const all = { table: normals(1, vocab * d), rows: tokens(2, t, vocab), y: new Float32Array(t * d) };
    const { y } = await runKernel(gpu, all, (rec, b) => kernels.gather(rec, b.table, b.rows, b.y, t, d));
    expect([...y]).toEqual([...gather(all.table, all.rows, d)]);
  });

  test('scatter puts rows back and leaves the others', async () => {
    const gpu = await testGpu();
    const kernels = new Embedding(gpu);
    const rows = Uint32Array.from(new Set(tokens(3, t, vocab)));
    const all = { x: normals(4, rows.length * d), rows, y: new Float32Array(vocab * d) };
    const { y } = await runKernel(gpu, all, (rec, b) => kernels.scatter(rec, b.x, b.rows, b.y, rows.length, d));
    expect([...y]).toEqual([...scatter(all.x, rows, vocab, d)]);
  });

  test('the table gradient is added, equals the reference, and is the same to the bit twice', async () => {
    const gpu = await testGpu();
    const kernels = new Embedding(gpu);
    const ids = tokens(5, t, vocab);
    const all = { dy: normals(6, t * d), ...sortByToken(ids, vocab), dtable: normals(7, vocab * d) };
    const run = () =>
      runKernel(gpu, all, (rec, b) => kernels.backward(rec, b.dy, b.order, b.starts, b.dtable, vocab, d));
    const { dtable } = await run();
    const want = embeddingBackward(all.dy, ids, vocab, d).map((x, i) => x + all.dtable[i]);
    expectClose(dtable, want, Math.sqrt(t));
    expect((await run()).dtable).toEqual(dtable);
  });
});

test('the reference gradient is the slope of the reference', () => {
  const ids = tokens(8, 12, 6);
  const [table, dy] = [normals(9, 6 * 4), normals(10, 12 * 4)];
  const slope = slopes((v) => dot(gather(v, ids, 4), dy), table);
  expectClose(embeddingBackward(dy, ids, 6, 4), slope, 1, 1e-7);
});

test('sortByToken is stable and counts every token', () => {
  const { order, starts } = sortByToken(Uint32Array.of(2, 0, 2, 4, 0, 2), 6);
  expect([...order]).toEqual([1, 4, 0, 2, 5, 3]);
  expect([...starts]).toEqual([0, 2, 2, 5, 5, 6, 6]);
});
