import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DecoderModel } from '../../src/nn/decoder-model';
import { initialise } from '../../src/nn/initialise';
import type { LanguageModel, OptimizerSettings } from '../../src/nn/language-model';
import { policyModel, referenceModel } from '../../src/nn/reference-model';
import { livelyWeights, randomTokens, tinyModel } from './tiny-models';

const sampling = { temperature: 1, seed: 3, stopTokens: [], maxNewTokens: 10 };
const sequences = randomTokens(5, [12, 5, 20]);
const settings: OptimizerSettings = {
  learningRate: 1e-2,
  beta1: 0.9,
  beta2: 0.99,
  eps: 1e-8,
  weightDecay: 0,
  maxGradNorm: 1,
};
const data = sequences.map((tokens) => ({ tokens, weights: tokens.map(() => 0.05) }));

let base: DecoderModel;
let model: DecoderModel;
let policy: LanguageModel;
let reference: LanguageModel;

beforeAll(async () => {
  base = await tinyModel({ frozen: true });
  // Another adapter than none: every adapter weight is lively, B included.
  model = await tinyModel({ lora: { rank: 4, alpha: 8 } });
  model.setWeights(livelyWeights(base.named(), 1));
  policy = policyModel(model);
  reference = referenceModel(model);
});

afterAll(() => {
  reference.dispose();
  policy.dispose();
  base.dispose();
});

async function spoken(voice: LanguageModel, prompt: readonly number[] = [1, 2, 3]) {
  const sessions = voice.sessions(2);
  sessions.append(0, prompt);
  await sessions.copy(0, [1]);
  const said = await sessions.generate([0, 1], sampling);
  sessions.dispose();
  return said;
}

test('the reference is the base without an adapter, to the bit', async () => {
  expect(await reference.score(sequences)).toEqual(await base.score(sequences));
  expect(await reference.embed(sequences)).toEqual(await base.embed(sequences));
  expect(await spoken(reference)).toEqual(await spoken(base));
  expect(await policy.score(sequences)).not.toEqual(await base.score(sequences));
  expect(reference).toMatchObject({ vocabSize: base.vocabSize, contextLength: base.contextLength });
});

test('both views at once answer as each alone', async () => {
  const alone = {
    policy: [await policy.score(sequences), await spoken(policy)],
    reference: [await reference.score(sequences), await spoken(reference)],
  };
  const [a, b, c, d, e] = await Promise.all([
    spoken(policy),
    spoken(reference),
    policy.score(sequences),
    reference.score(sequences),
    spoken(policyModel(model)),
  ]);
  expect([c, a]).toEqual(alone.policy);
  expect([d, b]).toEqual(alone.reference);
  expect(e).toEqual(a);
  const update = policy.trainStep(data, { kind: 'sft' }, settings);
  const during = reference.score(sequences);
  expect((await update).applied).toBe(true);
  expect(await during).toEqual(alone.reference[0]);
  expect(await policy.score(sequences)).not.toEqual(alone.policy[0]);
});

test('the reference cannot be trained or replaced, and a failure holds nobody up', async () => {
  const refused = expect.objectContaining({ code: 'base-is-frozen' });
  await expect(reference.trainStep(data, { kind: 'sft' }, settings)).rejects.toEqual(refused);
  await expect(reference.importState({ step: 0, weights: new Map() })).rejects.toEqual(refused);
  const before = await policy.score(sequences);
  const tooLong = randomTokens(1, [model.contextLength + 1])[0];
  const failed = policy.trainStep([{ tokens: tooLong, weights: tooLong }], { kind: 'sft' }, settings);
  const next = policy.score(sequences);
  await expect(failed).rejects.toMatchObject({ code: 'sequence-too-long' });
  expect(await next).toEqual(before);
});

test("the policy's state is the adapter and its optimiser: the base is not copied", async () => {
  const adapters = model.decoder.adapters.map((p) => p.name).sort();
  const state = await policy.exportState(true);
  expect([...state.weights.keys()].sort()).toEqual(adapters);
  expect([...state.moments1!.keys()].sort()).toEqual(adapters);
  const scores = await policy.score(sequences);
  initialise(model, 9, 'adapters');
  // A new adapter's B is zero: the policy begins as the reference.
  expect(await policy.score(sequences)).toEqual(await reference.score(sequences));
  await policy.importState(state);
  expect(await policy.score(sequences)).toEqual(scores);
  expect(await policy.exportState(true)).toEqual(state);
  expect(await reference.exportState(true)).toEqual({ step: 0, weights: new Map() });
});
