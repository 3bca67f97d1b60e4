import { describe, expect, test } from 'vitest';
import type { GpuBuffer } from '../../src/gpu/buffers';
import { Activations } from '../../src/nn/activations';
import type { DecoderConfig } from '../../src/nn/config';
import { Decoder } from '../../src/nn/decoder';
import { lossTokens, packSequences, uploadPack } from '../../src/nn/packing';
import { testGpu } from '../gpu';
import { expectClose, normals } from '../numbers';
import { ReferenceDecoder } from '../reference/decoder';
import { dot, sampleEntries, slopes } from './slopes';
import { livelyWeights, randomTokens, tinyConfig } from './tiny-models';

interface Case {
  config: DecoderConfig;
  sequences: number[][];
  weights: Map<string, Float32Array>;
  /** Per predicted token. */
  gradLogProb: Float32Array;
  gradEntropy: Float32Array;
}

const configs: [string, DecoderConfig][] = [
  ['grouped-query', tinyConfig],
  ['multi-head, wide heads', { ...tinyConfig, heads: 2, kvHeads: 2, headDim: 16 }],
  ['one key head, three layers', { ...tinyConfig, kvHeads: 1, layers: 3, width: 20, ropeTheta: 500 }],
];

async function makeCase(config: DecoderConfig, seed: number): Promise<Case & { decoder: Decoder }> {
  const decoder = new Decoder(await testGpu(), config);
  const sequences = randomTokens(seed, [9, 1, 17, 2, 38], config.vocabSize);
  const predicted = sequences.reduce((sum, s) => sum + s.length - 1, 0);
  return {
    decoder,
    config,
    sequences,
    weights: livelyWeights(decoder.parameters, seed),
    gradLogProb: normals(seed + 1, predicted),
    gradEntropy: normals(seed + 2, predicted),
  };
}

/** Loss = sum(gradLogProb logProbs + gradEntropy entropy). */
async function onGpu(decoder: Decoder, c: Case, recompute: boolean, variant: 'plain' | 'subgroup' = 'plain') {
  const gpu = await testGpu();
  await gpu.ready();
  if (variant === 'subgroup') {
    await decoder.attention.tune(); // compiles the fast kernels
    decoder.matmul.variant = 'subgroup';
    if (decoder.attention.hasSubgroupVariant) decoder.attention.variant = 'subgroup';
  }
  const { width, vocabSize } = c.config;
  const held: GpuBuffer[] = [];
  const hold = (buffer: GpuBuffer): GpuBuffer => {
    held.push(buffer);
    return buffer;
  };
  const up = (data: Float32Array | Uint32Array, label: string): GpuBuffer => hold(gpu.upload(data, label));
  const alloc = (floats: number, label: string): GpuBuffer => hold(gpu.alloc(floats * 4, label));

  const [pack] = packSequences(c.sequences, 10_000);
  const batch = uploadPack(gpu, pack, vocabSize, held);
  const { t } = batch;
  const everyToken = c.sequences.map((tokens) => ({ tokens, weights: tokens.map(() => 1) }));
  const { n, rows, targets: predicted } = lossTokens(pack, everyToken);
  const lossRows = up(Uint32Array.from(rows), 'loss rows');
  const targets = up(Uint32Array.from(predicted), 'targets');
  const gradLogProb = up(c.gradLogProb, 'gradient');
  const gradEntropy = up(c.gradEntropy, 'entropy gradient');
  const out = { logProbs: alloc(n, 'log-probs'), entropy: alloc(n, 'entropy'), lse: alloc(n, 'lse') };
  const [hidden, dHidden, dFinal] = [
    alloc(n * width, 'hidden'),
    alloc(n * width, 'd hidden'),
    alloc(t * width, 'd final'),
  ];
  const acts = new Activations(gpu, c.config, t, recompute ? 'inputs' : 'all');

  for (const p of decoder.parameters) gpu.write(p.weight, c.weights.get(p.name)!);
  const rec = gpu.record('test');
  for (const p of decoder.parameters) {
    p.prepareTraining(rec);
    rec.clear(p.gradient!);
  }
  decoder.refreshTransposed(rec);
  decoder.forward(rec, batch, acts);
  decoder.embedding.gather(rec, acts.final, lossRows, hidden, n, width);
  const logits = decoder.head.forward(rec, hidden, targets, out, n);
  decoder.head.backward(rec, hidden, targets, out, gradLogProb, gradEntropy, dHidden, n, logits);
  rec.clear(dFinal);
  decoder.embedding.scatter(rec, dHidden, lossRows, dFinal, n, width);
  decoder.backward(rec, batch, acts, dFinal);
  rec.submit();

  const result = {
    final: await gpu.readF32(acts.final, t * width),
    logProbs: await gpu.readF32(out.logProbs, n),
    entropy: await gpu.readF32(out.entropy, n),
    gradients: new Map<string, Float32Array>(),
  };
  for (const p of decoder.parameters) result.gradients.set(p.name, await gpu.readF32(p.gradient!, p.count));
  acts.release();
  for (const buffer of held) buffer.release();
  return result;
}

describe.each(configs)('%s', (_, config) => {
  test('activations and the gradient of every weight equal the reference', async () => {
    const c = await makeCase(config, 3);
    const reference = new ReferenceDecoder(config, c.weights, c.sequences);
    const want = reference.backward(c.gradLogProb, c.gradEntropy);
    const got = await onGpu(c.decoder, c, false);
    expectClose(got.final, reference.final, 1);
    expectClose(got.logProbs, reference.head.logProbs, 1);
    expectClose(got.entropy, reference.head.entropy, 1);
    expect([...got.gradients.keys()].sort()).toEqual([...want.keys()].sort());
    for (const [name, gradient] of want) {
      // A weight's gradient is a sum over all tokens: known to the rounding of its largest entries.
      const size = Math.max(...gradient.map(Math.abs));
      expect(size, name).toBeGreaterThan(0.1);
      expectClose(got.gradients.get(name)!, gradient, size);
    }
    c.decoder.dispose();
  });

  test('the reference gradient is the slope of the reference loss', async () => {
    const c = await makeCase(config, 3);
    const want = new ReferenceDecoder(config, c.weights, c.sequences).backward(c.gradLogProb, c.gradEntropy);
    for (const [name, weight] of c.weights) {
      const loss = (values: Float64Array): number => {
        const { head } = new ReferenceDecoder(
          config,
          new Map<string, ArrayLike<number>>([...c.weights, [name, values]]),
          c.sequences,
        );
        return dot(c.gradLogProb, head.logProbs) + dot(c.gradEntropy, head.entropy);
      };
      const entries = sampleEntries(weight.length, weight.length, 6);
      const slope = slopes(loss, weight, entries, 1e-5);
      expectClose(
        entries.map((i) => want.get(name)![i]),
        slope,
        1,
        1e-6,
      );
    }
    c.decoder.dispose();
  });

  test('recomputed activations give the same gradients to the bit', async () => {
    const c = await makeCase(config, 4);
    const kept = await onGpu(c.decoder, c, false);
    expect(await onGpu(c.decoder, c, true)).toEqual(kept);
    expect(await onGpu(c.decoder, c, false)).toEqual(kept);
    c.decoder.dispose();
  });
});

test('the variants with subgroups give the same bits from end to end', async () => {
  const c = await makeCase(tinyConfig, 5);
  const plain = await onGpu(c.decoder, c, false);
  expect(await onGpu(c.decoder, c, false, 'subgroup')).toEqual(plain);
  c.decoder.dispose();
});

test('a sequence does not see its neighbours in the batch', async () => {
  const c = await makeCase(tinyConfig, 6);
  const together = await onGpu(c.decoder, c, false);
  let row = 0;
  for (const sequence of c.sequences) {
    const alone = await onGpu(c.decoder, { ...c, sequences: [sequence, [0, 1]] }, false);
    const n = sequence.length - 1;
    expect(together.logProbs.subarray(row, row + n)).toEqual(alone.logProbs.subarray(0, n));
    row += n;
  }
  c.decoder.dispose();
});
