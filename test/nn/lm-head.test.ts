import { describe, expect, test } from 'vitest';
import { Linear } from '../../src/nn/linear';
import { LmHead } from '../../src/nn/lm-head';
import { Matmul } from '../../src/nn/matmul';
import { Parameter } from '../../src/nn/parameter';
import { testGpu } from '../gpu';
import { expectClose, normals, randomSource } from '../numbers';
import { lmHead, lmHeadBackward } from '../reference/lm-head';
import { runKernel } from './run-kernel';
import { dot, sampleEntries, slopes } from './slopes';

interface Size {
  n: number;
  vocab: number;
  width: number;
}

function data({ n, vocab, width }: Size) {
  const uniform = randomSource(n + vocab);
  return {
    hidden: normals(n, n * width),
    table: normals(vocab, vocab * width, 0.5),
    targets: Uint32Array.from({ length: n }, () => Math.floor(uniform() * vocab)),
    gradLogProb: normals(n + 1, n),
    gradEntropy: normals(n + 2, n),
    logProbs: new Float32Array(n),
    entropy: new Float32Array(n),
    lse: new Float32Array(n),
    dHidden: new Float32Array(n * width).fill(777),
    before: normals(n + 3, vocab * width),
  };
}

/** The head on a table that already holds a gradient, `before`. */
async function run(size: Size, blockFloats?: number, trainable = true, wideFrom?: number) {
  const gpu = await testGpu();
  const { n, vocab, width } = size;
  const matmul = new Matmul(gpu);
  const parameter = new Parameter(gpu, 'table', vocab, width, true);
  const head = new LmHead(gpu, new Linear(matmul, parameter, trainable), blockFloats, wideFrom);
  const all = data(size);
  let blocks = 'one';
  const gradient = { dTable: new Float32Array(vocab * width) };
  const got = await runKernel(gpu, { ...all, ...gradient }, (rec, b) => {
    parameter.prepareTraining(rec);
    rec.copy(b.table, 0, parameter.weight, 0, vocab * width * 4);
    rec.copy(b.before, 0, parameter.gradient!, 0, vocab * width * 4);
    parameter.refreshTransposed(rec, matmul);
    const kept = head.forward(rec, b.hidden, b.targets, b, n);
    if (!kept) blocks = 'several';
    head.backward(rec, b.hidden, b.targets, b, b.gradLogProb, b.gradEntropy, b.dHidden, n, kept);
    rec.copy(parameter.gradient!, 0, b.dTable, 0, vocab * width * 4);
  });
  parameter.dispose();
  return { ...got, blocks };
}

const sizes: Size[] = [
  { n: 1, vocab: 24, width: 16 },
  { n: 70, vocab: 4, width: 4 },
  { n: 200, vocab: 132, width: 20 },
  { n: 130, vocab: 1000, width: 64 },
];

describe.each(sizes)('$n rows, vocabulary $vocab, width $width', (size) => {
  test.each([
    ['one thread a row', 4096],
    ['a workgroup a row', 1],
  ])('log-probability, entropy and gradients equal the reference: %s', async (_, wideFrom) => {
    const { hidden, table, targets, gradLogProb, gradEntropy, before } = data(size);
    const want = lmHead(hidden, table, targets, size.width);
    const gradients = lmHeadBackward(hidden, table, targets, size.width, gradLogProb, gradEntropy);
    const got = await run(size, undefined, true, wideFrom);
    expect(got.blocks).toBe('one');
    expectClose(got.logProbs, want.logProbs, 1);
    expectClose(got.entropy, want.entropy, 1);
    expectClose(got.lse, want.lse, 1);
    expectClose(got.dHidden, gradients.dHidden, 1);
    const sums = gradients.dTable.map((x, i) => x + before[i]);
    expectClose(got.dTable, sums, Math.sqrt(size.n) * 2);
  });

  test('in several blocks: rows the same to the bit, the table gradient to rounding', async () => {
    const whole = await run(size);
    // 64 rows at a time, and the smallest block there is.
    for (const blockFloats of [64 * size.vocab, 1]) {
      const pieces = await run(size, blockFloats);
      expect(pieces.blocks).toBe(size.n > (blockFloats === 1 ? 16 : 64) ? 'several' : 'one');
      for (const key of ['logProbs', 'entropy', 'lse', 'dHidden'] as const) expect(pieces[key]).toEqual(whole[key]);
      expectClose(pieces.dTable, whole.dTable, Math.sqrt(size.n) * 2);
    }
  });

  test('a frozen table keeps its gradient', async () => {
    const got = await run(size, undefined, false);
    expect(got.dTable).toEqual(data(size).before);
    expect(got.dHidden).toEqual((await run(size)).dHidden);
  });
});

test('the reference gradient is the slope of the reference', () => {
  const size = { n: 6, vocab: 20, width: 8 };
  const { hidden, table, targets, gradLogProb, gradEntropy } = data(size);
  const loss = (h: ArrayLike<number>, w: ArrayLike<number>) => {
    const { logProbs, entropy } = lmHead(h, w, targets, size.width);
    return dot(logProbs, gradLogProb) + dot(entropy, gradEntropy);
  };
  const { dHidden, dTable } = lmHeadBackward(hidden, table, targets, size.width, gradLogProb, gradEntropy);
  expectClose(
    dHidden,
    slopes((v) => loss(v, table), hidden),
    1,
    1e-7,
  );
  const entries = sampleEntries(1, table.length, 60);
  expectClose(
    entries.map((i) => dTable[i]),
    slopes((v) => loss(hidden, v), table, entries),
    1,
    1e-7,
  );
});

test('far logits give finite numbers: certain, impossible, uniform', async () => {
  const gpu = await testGpu();
  const [n, vocab, width] = [3, 8, 4];
  const matmul = new Matmul(gpu);
  const parameter = new Parameter(gpu, 'table', vocab, width, true);
  const head = new LmHead(gpu, new Linear(matmul, parameter, true));
  const table = new Float32Array(vocab * width);
  for (let i = 0; i < vocab; i++) table[i * width] = i === 2 ? 1 : 0;
  const all = {
    table,
    hidden: Float32Array.from([500, 0, 0, 0, 80, 0, 0, 0, 0, 0, 0, 0]),
    targets: Uint32Array.of(2, 3, 5),
    logProbs: new Float32Array(n),
    entropy: new Float32Array(n),
    lse: new Float32Array(n),
    ones: new Float32Array(n).fill(1),
    dHidden: new Float32Array(n * width),
  };
  const got = await runKernel(gpu, all, (rec, b) => {
    parameter.prepareTraining(rec);
    rec.clear(parameter.gradient!);
    rec.copy(b.table, 0, parameter.weight, 0, table.byteLength);
    parameter.refreshTransposed(rec, matmul);
    const kept = head.forward(rec, b.hidden, b.targets, b, n);
    head.backward(rec, b.hidden, b.targets, b, b.ones, b.ones, b.dHidden, n, kept);
  });
  parameter.dispose();
  expectClose(got.logProbs, [0, -80, -Math.log(8)], 1);
  expectClose(got.entropy, [0, 0, Math.log(8)], 1);
  expectClose(got.dHidden, [0, 0, 0, 0, -1, 0, 0, 0, -1 / 8, 0, 0, 0], 1);
});
