import { afterEach, expect, test } from 'vitest';
import type { DecoderModel } from '../../src/nn/decoder-model';
import type { OptimizerSettings } from '../../src/nn/language-model';
import { testGpu } from '../gpu';
import { expectClose } from '../numbers';
import { ReferenceDecoder } from '../reference/decoder';
import { sampleEntries, slopes } from './slopes';
import { livelyWeights, randomTokens, tinyConfig, tinyModel } from './tiny-models';

const { vocabSize, width } = tinyConfig;
/** Tokens 12.. are "word number": part one of 0..3, part two of 4..7; 8 shares one part, the rest are their own. */
const parts = new Int32Array(vocabSize * 2).fill(-1);
for (let v = 12; v < vocabSize; v++) parts.set([v % 4, 4 + (v % 3)], v * 2);
parts.set([-1, 5], 8 * 2);

const settings: OptimizerSettings = {
  learningRate: 1e-2,
  beta1: 0.9,
  beta2: 0.99,
  eps: 1e-8,
  weightDecay: 0.01,
  maxGradNorm: 1,
};
const sft = { kind: 'sft' } as const;
const data = randomTokens(5, [20, 9, 31]).map((tokens) => ({ tokens, weights: tokens.map(() => 0.02) }));

const open: DecoderModel[] = [];
async function model(seed = 1): Promise<DecoderModel> {
  const made = await tinyModel({ embeddingParts: parts }, tinyConfig, seed);
  open.push(made);
  return made;
}
afterEach(() => {
  for (const made of open.splice(0)) made.dispose();
});

/** row(v) = own(v) + own(part 1) + own(part 2). */
function compose(own: ArrayLike<number>): Float64Array {
  return Float64Array.from({ length: own.length }, (_, at) => {
    const [v, d] = [Math.floor(at / width), at % width];
    const rows = [v, parts[v * 2], parts[v * 2 + 1]].filter((row) => row >= 0);
    return rows.reduce((sum, row) => sum + own[row * width + d], 0);
  });
}

test('the table is the sum of its parts, at the start and after every step', async () => {
  const m = await model();
  const check = async () => {
    const { weights } = await m.exportState(false);
    expectClose(weights.get('embed')!, compose(weights.get('embed.own')!), 1, 1e-6);
  };
  await check();
  const first = await m.trainStep(data, sft, settings);
  let last = first;
  for (let step = 0; step < 20; step++) {
    last = await m.trainStep(data, sft, settings);
    await check();
  }
  expect(last.loss).toBeLessThan(first.loss);
});

test("the parts' gradient is the slope of the reference loss", async () => {
  const gpu = await testGpu();
  const m = await model();
  const weights = livelyWeights(m.named(), 1);
  const loss = (own: ArrayLike<number>): number => {
    const whole = new Map<string, ArrayLike<number>>([...weights, ['embed', compose(own)]]);
    const reference = new ReferenceDecoder(
      tinyConfig,
      whole,
      data.map((s) => s.tokens),
    );
    return -0.02 * reference.head.logProbs.reduce((a, b) => a + b, 0);
  };
  const stats = await m.trainStep(data, sft, { ...settings, learningRate: 0 });
  const own = weights.get('embed.own')!;
  expectClose([stats.loss], [loss(own)]);
  const parameter = m.named().find((p) => p.name === 'embed.own')!;
  const gradient = await gpu.readF32(parameter.gradient!, own.length);
  // Some of each kind: shared words, shared numbers, plain and composed rows.
  const entries = [0, 4, 8, 9, 13, 20].flatMap((row) => sampleEntries(row, width, 4).map((d) => row * width + d));
  expectClose(
    entries.map((i) => gradient[i]),
    slopes(loss, own, entries, 1e-5),
    1,
    1e-5,
  );
  // A shared row collects the gradients of all who share it.
  const table = await gpu.readF32(m.decoder.table.gradient!, own.length);
  const sharers = [0, 12, 16, 20];
  for (let d = 0; d < width; d++) {
    const sum = sharers.reduce((total, v) => total + table[v * width + d], 0);
    expect(Math.abs(gradient[d] - sum)).toBeLessThan(1e-5);
  }
});

test('continues from its state to the bit', async () => {
  const m = await model();
  await m.trainStep(data, sft, settings);
  const state = await m.exportState(true);
  expect(state.moments1!.has('embed.own')).toBe(true);
  expect(state.moments1!.has('embed')).toBe(false);
  const resumed = await model(2);
  await resumed.importState(state);
  expect(await resumed.exportState(true)).toEqual(state);
  expect(await resumed.trainStep(data, sft, settings)).toEqual(await m.trainStep(data, sft, settings));
  expect(await resumed.exportState(true)).toEqual(await m.exportState(true));
});

test('its table works in a plain model, bit for bit', async () => {
  const m = await model();
  await m.trainStep(data, sft, settings);
  const { weights } = await m.exportState(false);
  const plain = await tinyModel();
  open.push(plain);
  plain.setWeights(weights); // "embed.own" means nothing to it
  const texts = randomTokens(9, [20, 3]);
  expect(await plain.score(texts)).toEqual(await m.score(texts));
});
