import { afterEach, describe, expect, test } from 'vitest';
import { DecoderModel, type DecoderModelOptions } from '../../src/nn/decoder-model';
import { initialise } from '../../src/nn/initialise';
import type { Loss, OptimizerSettings, TrainSequence } from '../../src/nn/language-model';
import { PolicyLoss } from '../../src/rl/kernels/policy-loss';
import { testGpu } from '../gpu';
import { expectClose, normals, randomSource } from '../numbers';
import { ReferenceDecoder } from '../reference/decoder';
import { policyGradient, policyLoss } from '../reference/policy-loss';
import { livelyWeights, randomTokens, tinyConfig, tinyModel } from './tiny-models';

const sft: Loss = { kind: 'sft' };
const policy = { kind: 'policy', clipLow: 0.2, clipHigh: 0.28, dualClip: 3, klCoef: 0.1, entropyCoef: 0.02 } as const;
const settings: OptimizerSettings = {
  learningRate: 3e-3,
  beta1: 0.9,
  beta2: 0.99,
  eps: 1e-8,
  weightDecay: 0.01,
  maxGradNorm: 1,
};

const open: DecoderModel[] = [];
async function model(options: DecoderModelOptions = {}, seed = 1): Promise<DecoderModel> {
  const made = await tinyModel(options, tinyConfig, seed);
  open.push(made);
  return made;
}
afterEach(() => {
  for (const made of open.splice(0)) made.dispose();
});

/** Prompt masked, words between masked, the rest weighted; everything a policy loss asks for. */
function trainingData(seed: number, lengths: readonly number[]): TrainSequence[] {
  const uniform = randomSource(seed);
  return randomTokens(seed, lengths).map((tokens) => ({
    tokens,
    weights: tokens.map((_, t) => (t < 2 || uniform() < 0.3 ? 0 : Math.fround(uniform() / 20))),
    oldLogProbs: tokens.map(() => Math.fround(-6 * uniform())),
    refLogProbs: tokens.map(() => Math.fround(-6 * uniform())),
    advantages: tokens.map(() => Math.fround(4 * uniform() - 2)),
  }));
}

async function gradients(m: DecoderModel): Promise<Map<string, Float32Array>> {
  const gpu = await testGpu();
  const result = new Map<string, Float32Array>();
  for (const p of m.decoder.trainable) result.set(p.name, await gpu.readF32(p.gradient!, p.count));
  return result;
}

/** Loss and gradient of every weight in double precision. */
function reference(m: DecoderModel, sequences: readonly TrainSequence[], loss: Loss) {
  const weights = livelyWeights(m.named(), 1);
  const decoder = new ReferenceDecoder(
    m.config,
    weights,
    sequences.map((s) => s.tokens),
  );
  const places = sequences.flatMap((s) => s.tokens.slice(1).map((_, i) => ({ s, t: i + 1 })));
  const tokens = places.map(({ s, t }, row) => ({
    logProb: decoder.head.logProbs[row],
    entropy: decoder.head.entropy[row],
    weight: s.weights[t],
    oldLogProb: s.oldLogProbs?.[t] ?? 0,
    refLogProb: s.refLogProbs?.[t] ?? 0,
    advantage: s.advantages?.[t] ?? 0,
  }));
  const slope = tokens.map((x) => (loss.kind === 'sft' ? -x.weight : policyGradient(x, loss)));
  const entropySlope = tokens.map((x) => (loss.kind === 'sft' ? 0 : -loss.entropyCoef * x.weight));
  const value = tokens.reduce((sum, x) => sum + (loss.kind === 'sft' ? -x.weight * x.logProb : policyLoss(x, loss)), 0);
  return { value, gradients: decoder.backward(slope, entropySlope), tokens: tokens.filter((x) => x.weight > 0).length };
}

describe.each([
  ['SFT', sft],
  ['policy loss', policy],
])('%s', (_, loss) => {
  const data = trainingData(5, [12, 3, 25, 1, 8]);

  test('loss, norm and the gradient of every weight equal the reference', async () => {
    const m = await model();
    const want = reference(m, data, loss);
    await m.accumulateGradients(data, loss);
    const got = await gradients(m);
    let squares = 0;
    for (const [name, gradient] of want.gradients) {
      const size = Math.max(...gradient.map(Math.abs));
      // The clip of the policy loss multiplies the log-probability's own rounding.
      expectClose(got.get(name)!, gradient, size, 3e-5);
      squares += gradient.reduce((sum, x) => sum + x * x, 0);
    }
    const stats = await m.trainStep(data, loss, settings);
    expectClose([stats.loss, stats.gradNorm], [want.value, Math.sqrt(squares)]);
    expect(stats).toMatchObject({ tokens: want.tokens, applied: true });
  });

  test('several passes add up to one', async () => {
    const [whole, pieces] = [await model(), await model({ tokensPerPass: 14 })];
    await whole.accumulateGradients(data, loss);
    await pieces.accumulateGradients(data, loss);
    const want = await gradients(whole);
    for (const [name, gradient] of await gradients(pieces)) {
      expectClose(gradient, want.get(name)!, Math.max(...want.get(name)!.map(Math.abs)), 1e-5);
    }
  });

  test('two models trained alike are alike to the bit; another seed is another model', async () => {
    const train = async (seed: number) => {
      const m = await model({ tokensPerPass: 20 }, seed);
      const stats = [];
      for (let step = 0; step < 3; step++) {
        stats.push(await m.trainStep(trainingData(40 + step, [12, 3, 25, 8]), loss, settings));
      }
      return { stats, state: await m.exportState(true) };
    };
    const first = await train(1);
    expect(await train(1)).toEqual(first);
    expect((await train(2)).state.weights).not.toEqual(first.state.weights);
  });
});

test('masked tokens and empty sequences change nothing', async () => {
  const [a, b] = [await model(), await model()];
  const data = trainingData(9, [10, 6]);
  const silent = { ...trainingData(10, [7])[0], weights: new Float32Array(7) };
  const plain = await a.trainStep(data, policy, settings);
  const nonsense = data.map((s) => ({
    ...s,
    advantages: Array.from(s.advantages!, (x, t) => (s.weights[t] === 0 ? Number.NaN : x)),
    oldLogProbs: Array.from(s.oldLogProbs!, (x, t) => (s.weights[t] === 0 ? Number.NaN : x)),
  }));
  const masked = await b.trainStep(
    [{ tokens: [], weights: [] }, ...nonsense, { tokens: [3], weights: [1] }],
    policy,
    settings,
  );
  expect(masked).toEqual(plain);
  expect(await b.exportState(true)).toEqual(await a.exportState(true));
  // A sequence without loss takes no part in it, though it is computed.
  const c = await model();
  expect(await c.trainStep([...data, silent], policy, settings)).toMatchObject({ tokens: plain.tokens });
});

test('overfits eight short sequences', async () => {
  const gpu = await testGpu();
  const m = await new DecoderModel(gpu, tinyConfig, new PolicyLoss(gpu)).prepare();
  open.push(m);
  initialise(m, 3);
  // A distinct first token each, so that what follows can be known.
  const data = randomTokens(21, Array(8).fill(10)).map((tokens, i) => {
    const own = [i, ...tokens.slice(1)];
    return { tokens: own, weights: own.map(() => 1 / 72) };
  });
  const first = await m.trainStep(data, sft, { ...settings, learningRate: 1e-2 });
  expect(Math.abs(first.loss - Math.log(tinyConfig.vocabSize))).toBeLessThan(0.5);
  let last = first;
  for (let step = 0; step < 120; step++) last = await m.trainStep(data, sft, { ...settings, learningRate: 1e-2 });
  expect(last.loss).toBeLessThan(0.05);
  const sessions = m.sessions(8);
  data.forEach(({ tokens }, i) => {
    sessions.append(i, tokens.slice(0, 1));
  });
  const options = { temperature: 0, seed: 0, stopTokens: [], maxNewTokens: 9 };
  const spoken = await sessions.generate([0, 1, 2, 3, 4, 5, 6, 7], options);
  expect(spoken.map(({ tokens }) => tokens)).toEqual(data.map(({ tokens }) => tokens.slice(1)));
  sessions.dispose();
});

test('the policy gradient moves probability towards what was rewarded', async () => {
  const m = await model();
  const [good, bad] = randomTokens(50, [8, 8]);
  const old = await m.score([good, bad]);
  const data = [good, bad].map((tokens, i) => ({
    tokens,
    weights: tokens.map(() => 1 / 14),
    oldLogProbs: old[i],
    advantages: tokens.map(() => (i === 0 ? 1 : -1)),
  }));
  const loss = { ...policy, klCoef: 0, entropyCoef: 0 };
  const stats = await m.trainStep(data, loss, settings);
  // On-policy: the ratio is 1 up to rounding, nothing is clipped, the surrogate is the mean advantage: 0.
  expect(Math.abs(stats.loss)).toBeLessThan(1e-5);
  expect(stats.logProbGap).toBeLessThan(1e-5);
  expect(stats.clipFraction).toBe(0);
  const now = await m.score([good, bad]);
  const total = (x: Float32Array) => x.reduce((a, b) => a + b, 0);
  expect(total(now[0])).toBeGreaterThan(total(old[0]));
  expect(total(now[1])).toBeLessThan(total(old[1]));
});

describe('state', () => {
  test('a model continued from its state equals one that never stopped, to the bit', async () => {
    const through = await model();
    for (let step = 0; step < 2; step++) await through.trainStep(trainingData(60 + step, [9, 14]), policy, settings);
    const state = await through.exportState(true);
    const resumed = await model({}, 2);
    // Moments of its own, to be overwritten.
    await resumed.trainStep(trainingData(99, [9]), sft, settings);
    await resumed.importState(state);
    expect(await resumed.exportState(true)).toEqual(state);
    for (let step = 2; step < 4; step++) {
      const data = trainingData(60 + step, [9, 14]);
      expect(await resumed.trainStep(data, policy, settings)).toEqual(await through.trainStep(data, policy, settings));
    }
    expect(await resumed.exportState(true)).toEqual(await through.exportState(true));
    expect(resumed.step).toBe(4);
  });

  test('weights without moments start a new optimiser', async () => {
    const trained = await model();
    await trained.trainStep(trainingData(1, [9]), sft, settings);
    const { weights } = await trained.exportState(false);
    const [fresh, used] = [await model({}, 2), await model({}, 3)];
    await used.trainStep(trainingData(2, [9]), sft, settings);
    for (const m of [fresh, used]) {
      await m.importState({ step: 0, weights });
      await m.trainStep(trainingData(3, [9]), sft, settings);
    }
    expect(await used.exportState(true)).toEqual(await fresh.exportState(true));
  });

  test('a weight of the wrong size is refused in words', async () => {
    const m = await model();
    const weights = new Map([['norm', new Float32Array(3)]]);
    expect(() => m.setWeights(weights)).toThrow(expect.objectContaining({ code: 'bad-weights' }));
  });
});

test('a gradient that is not finite skips the step', async () => {
  const m = await model();
  await m.trainStep(trainingData(1, [9]), sft, settings);
  const before = await m.exportState(true);
  const data = trainingData(2, [9]).map((s) => ({ ...s, weights: s.tokens.map(() => Number.POSITIVE_INFINITY) }));
  const stats = await m.trainStep(data, sft, settings);
  expect(stats.applied).toBe(false);
  expect(await m.exportState(true)).toEqual(before);
  expect((await m.trainStep(trainingData(3, [9]), sft, settings)).applied).toBe(true);
});

test('scores: 0 first, the reference after, in batches as alone', async () => {
  const m = await model({ tokensPerPass: 32 });
  const sequences = randomTokens(70, [5, 0, 30, 1, 60, 2]);
  const scores = await m.score(sequences);
  const used = sequences.filter((s) => s.length > 0);
  const { head } = new ReferenceDecoder(m.config, livelyWeights(m.named(), 1), used);
  const got = scores.flatMap((s) => [...s.slice(1)]);
  expectClose(got, head.logProbs, 1);
  for (const [i, sequence] of sequences.entries()) {
    expect(scores[i].length).toBe(sequence.length);
    expect(scores[i][0] ?? 0).toBe(0);
    expect(await m.score([sequence])).toEqual([scores[i]]);
  }
});

test('embeddings are the means of the final hidden states', async () => {
  const m = await model({ tokensPerPass: 16 });
  const sequences = randomTokens(80, [4, 11, 20]);
  const { final } = new ReferenceDecoder(m.config, livelyWeights(m.named(), 1), sequences);
  const { width } = m.config;
  let first = 0;
  const embedded = await m.embed(sequences);
  sequences.forEach(({ length }, i) => {
    const mean = Array.from({ length: width }, (_, d) => {
      let sum = 0;
      for (let t = 0; t < length; t++) sum += final[(first + t) * width + d];
      return sum / length;
    });
    expectClose(embedded[i], mean, 1);
    first += length;
  });
});

test('a sequence beyond the context is refused in words', async () => {
  const m = await model();
  const tokens = Array(tinyConfig.contextLength + 1).fill(1);
  await expect(m.trainStep([{ tokens, weights: normals(1, tokens.length) }], sft, settings)).rejects.toMatchObject({
    code: 'sequence-too-long',
  });
});

test('training and scoring give their memory back', async () => {
  const gpu = await testGpu();
  const m = await model();
  await m.trainStep(trainingData(1, [9, 4]), policy, settings);
  const inUse = gpu.memory.bytesInUse;
  await m.trainStep(trainingData(2, [9, 4]), policy, settings);
  await m.score(randomTokens(1, [5, 6]));
  await m.embed(randomTokens(1, [5, 6]));
  expect(gpu.memory.bytesInUse).toBe(inUse);
  m.dispose();
  open.length = 0;
});
