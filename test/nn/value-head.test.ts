import { afterEach, describe, expect, test } from 'vitest';
import type { DecoderModel, DecoderModelOptions } from '../../src/nn/decoder-model';
import type { Loss, OptimizerSettings, TrainSequence } from '../../src/nn/language-model';
import { policyModel } from '../../src/nn/reference-model';
import { ValueHead, valueHeadName } from '../../src/nn/value-head';
import { testGpu } from '../gpu';
import { expectClose, normals, randomSource } from '../numbers';
import { ReferenceDecoder, type Weights } from '../reference/decoder';
import type { Vector } from '../reference/matmul';
import { policyLoss } from '../reference/policy-loss';
import { headGradient, headValues, valueLoss } from '../reference/value-loss';
import { runKernel } from './run-kernel';
import { sampleEntries, slopes } from './slopes';
import { livelyWeights, randomTokens, tinyConfig, tinyModel } from './tiny-models';

const critic = { valueClip: 0.4, trunkCoef: 0.3, learningRate: 1e-2 };
const policy = {
  kind: 'policy',
  clipLow: 0.2,
  clipHigh: 0.28,
  dualClip: 3,
  klCoef: 0,
  entropyCoef: 0,
} as const;
const withCritic = { ...policy, critic } satisfies Loss;
const settings: OptimizerSettings = {
  learningRate: 3e-3,
  beta1: 0.9,
  beta2: 0.99,
  eps: 1e-8,
  weightDecay: 0,
  maxGradNorm: 1,
};

const open: DecoderModel[] = [];
afterEach(() => {
  for (const made of open.splice(0)) made.dispose();
});
async function model(options: DecoderModelOptions = {}): Promise<DecoderModel> {
  const made = await tinyModel(options);
  open.push(made);
  return made;
}

/** A head that says something: as a state to import. */
async function withHead(m: DecoderModel, seed = 77): Promise<Float32Array> {
  const head = normals(seed, tinyConfig.width + 1, 0.3);
  const { weights } = await m.exportState(false);
  await m.importState({ step: 0, weights: new Map([...weights, [valueHeadName, head]]) });
  return head;
}

function trainingData(seed: number, lengths: readonly number[]): TrainSequence[] {
  const uniform = randomSource(seed);
  return randomTokens(seed, lengths).map((tokens) => ({
    tokens,
    weights: tokens.map((_, t) => (t < 2 || uniform() < 0.3 ? 0 : Math.fround(uniform() / 20))),
    oldLogProbs: tokens.map(() => Math.fround(-6 * uniform())),
    advantages: tokens.map(() => Math.fround(4 * uniform() - 2)),
    oldValues: tokens.map(() => Math.fround(2 * uniform() - 1)),
    returns: tokens.map(() => Math.fround(2 * uniform() - 1)),
    valueWeights: tokens.map(() => Math.fround(uniform() / 20)),
  }));
}

describe('the kernels', () => {
  test.each([
    [1, 1],
    [5, 64],
    [33, 70],
    [7, 257],
  ])('%i rows of width %i', async (rows, width) => {
    const gpu = await testGpu();
    const head = new ValueHead(gpu, width);
    const weights = normals(1, width + 1);
    const hidden = normals(2, rows * width);
    const gradValues = normals(3, rows);
    const dHidden = normals(4, rows * width);
    await gpu.ready();
    const prepare = gpu.record('prepare');
    head.parameter.prepareTraining(prepare);
    prepare.clear(head.parameter.gradient!);
    prepare.submit();
    gpu.write(head.parameter.weight, weights);
    const got = await runKernel(gpu, { hidden, gradValues, dHidden, values: new Float32Array(rows) }, (rec, b) => {
      head.forward(rec, b.hidden, b.values, rows);
      head.backward(rec, b.hidden, b.gradValues, b.dHidden, rows, 0.5);
      // A second batch of the same step adds up.
      head.backward(rec, b.hidden, b.gradValues, b.dHidden, rows, 0);
    });
    expectClose(got.values, headValues(hidden, weights, rows), 1);
    const once = headGradient(hidden, [...gradValues], width);
    expectClose(
      await gpu.readF32(head.parameter.gradient!, width + 1),
      once.map((g) => 2 * g),
      1,
    );
    expectClose(
      got.dHidden,
      dHidden.map((x, i) => x + 0.5 * gradValues[Math.floor(i / width)] * weights[i % width]),
      1,
    );
    head.dispose();
  });
});

test('a model that never met a critic says 0; its state then carries one, and a state without takes it away', async () => {
  const m = await model();
  expect([...(await m.exportState(false)).weights.keys()]).not.toContain(valueHeadName);
  const sequences = randomTokens(3, [5, 0, 9]);
  expect(await m.values(sequences)).toEqual([new Float32Array(5), new Float32Array(0), new Float32Array(9)]);
  const { weights } = await m.exportState(false);
  expect(weights.get(valueHeadName)).toEqual(new Float32Array(tinyConfig.width + 1));
  weights.delete(valueHeadName);
  await m.importState({ step: 0, weights });
  expect([...(await m.exportState(false)).weights.keys()]).not.toContain(valueHeadName);
});

test('values are the head on what stood before each token, in batches as alone', async () => {
  const m = await model({ tokensPerPass: 16 });
  const head = await withHead(m);
  const sequences = randomTokens(9, [7, 12, 1, 20]);
  const { final } = new ReferenceDecoder(m.config, livelyWeights(m.named(), 1), sequences);
  const all = headValues(final, head, sequences.flat().length);
  const got = await m.values(sequences);
  let first = 0;
  for (const [i, sequence] of sequences.entries()) {
    expect(got[i][0]).toBe(0);
    expectClose(got[i].slice(1), all.slice(first, first + sequence.length - 1), 1);
    expect(await m.values([sequence])).toEqual([got[i]]);
    first += sequence.length;
  }
});

test('head and trunk get the slopes of policy loss + value loss', async () => {
  const m = await model();
  const head = await withHead(m);
  const data = trainingData(5, [12, 3, 25, 8]);
  await m.accumulateGradients(data, withCritic);
  const weights = livelyWeights(m.named(), 1);
  weights.delete(valueHeadName);
  const places = data.flatMap((s) => s.tokens.slice(1).map((_, i) => ({ s, t: i + 1 })));
  /** The loss in double precision, of any weights. */
  const loss = (changed: Weights, valueHead: ArrayLike<number>, trunkCoef: number) => {
    const decoder = new ReferenceDecoder(
      m.config,
      changed,
      data.map((s) => s.tokens),
    );
    const values = headValues(decoder.final, valueHead, data.flatMap((s) => s.tokens).length);
    return places.reduce((sum, { s, t }, i) => {
      if (s.weights[t] === 0) return sum;
      const token = {
        logProb: decoder.head.logProbs[i],
        oldLogProb: s.oldLogProbs![t],
        refLogProb: 0,
        advantage: s.advantages![t],
        weight: s.weights[t],
        entropy: 0,
      };
      const value = {
        value: values[decoder.rows[i]],
        oldValue: s.oldValues![t],
        return: s.returns![t],
        weight: s.valueWeights![t],
      };
      return sum + policyLoss(token, policy) + trunkCoef * valueLoss(value, critic.valueClip);
    }, 0);
  };

  const gpu = await testGpu();
  for (const name of ['embed', 'layer.0.qkv', 'layer.1.down', 'norm']) {
    const parameter = m.named().find((p) => p.name === name)!;
    const gradient = await gpu.readF32(parameter.gradient!, parameter.count);
    const entries = sampleEntries(1, parameter.count, 5);
    const want = slopes(
      (x) => loss(new Map<string, Vector>([...weights, [name, x]]), head, critic.trunkCoef),
      weights.get(name)!,
      entries,
    );
    const size = Math.max(...gradient.map(Math.abs));
    expectClose(
      entries.map((i) => gradient[i]),
      want,
      size,
      1e-4,
    );
  }
  const parameter = m.named().find((p) => p.name === valueHeadName)!;
  const gradient = await gpu.readF32(parameter.gradient!, parameter.count);
  // The head's own gradient is not scaled by the coefficient.
  const want = slopes((x) => loss(weights, x, 1), head);
  expectClose(gradient, want, Math.max(...want.map(Math.abs)), 1e-4);
});

test('a critic that may not touch the trunk leaves the policy’s step as it was, to the bit', async () => {
  const [without, beside] = [await model(), await model()];
  for (let step = 0; step < 2; step++) {
    const data = trainingData(20 + step, [12, 9]);
    await without.trainStep(data, policy, settings);
    const stats = await beside.trainStep(data, { ...policy, critic: { ...critic, trunkCoef: 0 } }, settings);
    expect(stats.value?.loss).toBeGreaterThan(0);
  }
  const [a, b] = [await without.exportState(false), await beside.exportState(false)];
  expect(b.weights.get(valueHeadName)!.some((x) => x !== 0)).toBe(true);
  b.weights.delete(valueHeadName);
  expect(b.weights).toEqual(a.weights);
});

test('it learns what came, is the same twice and continues exactly', async () => {
  const data = trainingData(31, [14, 14, 14]).map((s) => ({
    ...s,
    weights: s.tokens.map((_, t) => (t === 0 ? 0 : 1 / 39)),
    valueWeights: s.tokens.map(() => 1 / 39),
    returns: s.tokens.map((token) => (token % 2 === 0 ? 1 : 0)),
    advantages: s.tokens.map(() => 0),
  }));
  const loss = { ...policy, critic: { valueClip: 0, trunkCoef: 0, learningRate: 3e-2 } };
  const train = async (m: DecoderModel, steps: number) => {
    let stats = await m.trainStep(data, loss, settings);
    for (let step = 1; step < steps; step++) stats = await m.trainStep(data, loss, settings);
    return stats.value!;
  };
  const [a, b, c] = [await model(), await model(), await model()];
  const first = await train(a, 1);
  const last = await train(a, 19);
  expect(last.error).toBeLessThan(0.7 * first.error);
  await train(b, 10);
  await c.importState(await b.exportState(true));
  await train(b, 10);
  await train(c, 10);
  expect(await b.exportState(true)).toEqual(await a.exportState(true));
  expect(await c.exportState(true)).toEqual(await a.exportState(true));
});

test('where either loss is not a number, neither policy nor critic moves', async () => {
  const m = await model();
  await m.trainStep(trainingData(40, [9]), withCritic, settings);
  const before = await m.exportState(true);
  const [data] = trainingData(41, [9]);
  const nan = (key: 'advantages' | 'returns') => [{ ...data, [key]: data.tokens.map(() => Number.NaN) }];
  for (const key of ['advantages', 'returns'] as const)
    expect((await m.trainStep(nan(key), withCritic, settings)).applied).toBe(false);
  expect(await m.exportState(true)).toEqual(before);
  expect((await m.trainStep([data], withCritic, settings)).applied).toBe(true);
});

test('a loss that is not finite skips the step even where its gradient is', async () => {
  const m = await model();
  const before = await m.exportState(true);
  const [data] = trainingData(50, [9]);
  // k1 of an impossible reference: the value is infinite, the slope 1.
  const sequences = [{ ...data, refLogProbs: data.tokens.map(() => Number.NEGATIVE_INFINITY) }];
  const loss = { ...policy, klCoef: 0.1, klEstimator: 'k1' } as const;
  const stats = await m.trainStep(sequences, loss, settings);
  expect(stats.applied).toBe(false);
  expect((await m.exportState(true)).weights).toEqual(before.weights);
  expect(m.step).toBe(0);
});

test('over an adapter only adapter and head learn', async () => {
  const m = await model({ lora: { rank: 4, alpha: 8 } });
  const view = policyModel(m);
  const [values] = await view.values!([randomTokens(1, [6])[0]]);
  expect([...values]).toEqual([0, 0, 0, 0, 0, 0]);
  const base = (await m.exportState(false)).weights.get('layer.0.qkv');
  await view.trainStep(trainingData(60, [12, 9]), withCritic, settings);
  const { weights } = await view.exportState(true);
  expect([...weights.keys()].filter((name) => !name.includes('lora'))).toEqual([valueHeadName]);
  expect(weights.get(valueHeadName)!.some((x) => x !== 0)).toBe(true);
  expect((await m.exportState(false)).weights.get('layer.0.qkv')).toEqual(base);
});

test('one ratio per sample: samples of a stream, and streams that came apart, are alike', async () => {
  const gpu = await testGpu();
  const m = await model();
  const [data] = trainingData(70, [24]);
  const loss = { ...policy, clipLow: 3, clipHigh: 3, importance: 'sequence' } as const;
  const turns = data.tokens.map((_, t) => Math.floor(t / 8));
  const gradient = async (sequences: TrainSequence[]) => {
    await m.accumulateGradients(sequences, loss);
    const p = m.decoder.trainable[0];
    return gpu.readF32(p.gradient!, p.count);
  };
  const together = await gradient([{ ...data, samples: turns }]);
  // Each turn alone behind its prefix.
  const apart = await gradient(
    [0, 1, 2].map((turn) => ({
      ...data,
      weights: data.tokens.map((_, t) => (turns[t] === turn ? data.weights[t] : 0)),
    })),
  );
  expectClose(apart, together, Math.max(...together.map(Math.abs)), 1e-5);
  const whole = await gradient([data]);
  expect(Math.max(...whole.map((x, i) => Math.abs(x - together[i])))).toBeGreaterThan(
    1e-3 * Math.max(...whole.map(Math.abs)),
  );
});
