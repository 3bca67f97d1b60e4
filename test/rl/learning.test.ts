/**
 * @file Every algorithm on the real engine: a decoder of a few thousand weights on Dawn plays a game of two words, and each of
 * the methods makes it better at it. One update moves the weights, and twice the same update is the same to the bit.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mean } from '../../src/data/statistics';
import type { Trajectory } from '../../src/data/trajectory';
import { resolveConfig } from '../../src/dream/presets';
import { Draws, deriveSeed } from '../../src/dream/random';
import type { DecoderConfig } from '../../src/nn/config';
import { DecoderModel } from '../../src/nn/decoder-model';
import { initialise } from '../../src/nn/initialise';
import type { ModelState } from '../../src/nn/language-model';
import { type AlgorithmName, algorithmNames } from '../../src/rl/algorithms';
import { dpoDefaults, dpoUpdate, preferencePairs } from '../../src/rl/dpo';
import { gpuAdvantages } from '../../src/rl/kernels/advantages';
import { gpuDpo } from '../../src/rl/kernels/dpo-loss';
import { PolicyLoss } from '../../src/rl/kernels/policy-loss';
import { policyUpdate } from '../../src/rl/policy-update';
import { frozenReference } from '../../src/rl/reference';
import { appendObserved, appendSampled, emptyStream, type Rollout } from '../../src/rl/rollout';
import { sftDefaults, sftUpdate } from '../../src/rl/sft';
import type { RunConfig } from '../../src/worker/protocol';
import { testGpu } from '../gpu';
import '../nn/patience';

const shape: DecoderConfig = {
  vocabSize: 12,
  width: 16,
  layers: 1,
  heads: 2,
  kvHeads: 1,
  headDim: 8,
  ffn: 24,
  ropeTheta: 10_000,
  normEps: 1e-5,
  contextLength: 16,
};
/** Words 0..7 can be said; 8 and 9 are the two tasks, 10 and 11 what the world answers. */
const [tasks, group] = [2, 24];
/** Beyond what a run may ask for: fourteen iterations must do. */
const learningRate = 2e-2;

/** Said in task 0 an even word is right, in task 1 an odd one; the second word decides, and the first earns nothing. */
const right = (task: number, word: number): boolean => word < 8 && word % 2 === task;

let model: DecoderModel;
let start: ModelState;

beforeAll(async () => {
  const gpu = await testGpu();
  model = await new DecoderModel(gpu, shape, new PolicyLoss(gpu)).prepare();
  initialise(model, 5);
  start = await model.exportState(false);
});
afterAll(() => model.dispose());

/** One group per task, played in one batch. */
async function play(seed: number): Promise<Rollout[]> {
  const sessions = model.sessions(tasks * group);
  const streams = Array.from({ length: tasks * group }, () => emptyStream());
  const all = streams.map((_, i) => i);
  const observe = (i: number, token: number) => {
    sessions.append(i, [token]);
    appendObserved(streams[i], [token]);
  };
  for (const i of all) observe(i, 8 + Math.floor(i / group));
  const words: number[][] = streams.map(() => []);
  for (let turn = 0; turn < 2; turn++) {
    const said = await sessions.generate(all, { temperature: 1, seed, stopTokens: [], maxNewTokens: 1 });
    for (const i of all) {
      appendSampled(streams[i], said[i].tokens, said[i].logProbs, turn);
      words[i].push(said[i].tokens[0]);
      if (turn === 0) observe(i, 10 + (said[i].tokens[0] % 2));
    }
  }
  sessions.dispose();
  return streams.map((stream, i) => {
    const task = Math.floor(i / group);
    const reward = right(task, words[i][1]) ? 1 : 0;
    const trajectory = {
      task: { id: `task ${task}` },
      group: task,
      firstObservation: 'say',
      turns: [
        { reward: 0, observation: `heard ${words[i][0] % 2}` },
        { reward, observation: 'end' },
      ],
      return: reward,
      success: reward > 0,
      truncated: false,
      lost: false,
    } as unknown as Trajectory;
    return { trajectory, stream };
  });
}

const success = (rollouts: readonly Rollout[]): number => mean(rollouts.map((r) => r.trajectory.return));

/** From the start: play, learn, play. Returns the success of each iteration, and the state at the end. */
async function learn(algorithm: AlgorithmName, iterations: number, changes: Partial<RunConfig> = {}) {
  const settings = { ...resolveConfig({ algorithm, criticLearningRate: 5e-2, ...changes }), learningRate };
  const kernels = gpuAdvantages(await testGpu());
  await model.importState(start);
  const reference = settings.klCoef > 0 ? await frozenReference(model) : undefined;
  const rates: number[] = [];
  const reports = [];
  let state: Awaited<ReturnType<typeof policyUpdate>>['state'] | undefined;
  for (let iteration = 0; iteration < iterations; iteration++) {
    const rollouts = await play(deriveSeed(7, iteration));
    rates.push(success(rollouts));
    const report = await policyUpdate({
      policy: model,
      rollouts,
      settings,
      horizon: 2,
      iteration: iteration + 2,
      kernels,
      shuffle: (items, epoch) => new Draws(deriveSeed(iteration, epoch)).shuffled(items),
      reference,
      state,
    });
    state = report.state;
    reports.push(report);
  }
  return { rates, reports, state: await model.exportState(true) };
}

describe.each(algorithmNames)('%s', (algorithm) => {
  test('one update moves the weights, and the same update is the same to the bit', async () => {
    const once = await learn(algorithm, 1);
    const twice = await learn(algorithm, 1);
    expect(twice).toEqual(once);
    const moved = [...start.weights].filter(([name, before]) =>
      once.state.weights.get(name)!.some((x, i) => x !== before[i]),
    );
    expect(moved.length).toBe(start.weights.size);
    expect(once.reports[0]).toMatchObject({ skipped: 0 });
    // What was sampled is what is trained.
    expect(once.reports[0].logProbGap).toBeLessThan(1e-4);
    expect(once.state.weights.has('value_head')).toBe(algorithm === 'ppo');
  });

  test('learns', async () => {
    // GSPO's clip is for steps a hundred times smaller.
    const wide = algorithm === 'gspo' ? { clipLow: 0.2, clipHigh: 0.28 } : {};
    const { rates, reports } = await learn(algorithm, 14, wide);
    expect(mean(rates.slice(-3))).toBeGreaterThan(mean(rates.slice(0, 3)) + 0.3);
    expect(reports.every((r) => Number.isFinite(r.loss))).toBe(true);
    const critics = reports.map((r) => [r.valueLoss !== null, r.explainedVariance !== null]);
    expect(critics.every(([loss, variance]) => loss === (algorithm === 'ppo') && variance === loss)).toBe(true);
  });
});

describe('switches of the loss move what they should and nothing breaks', () => {
  test.each<[string, AlgorithmName, Partial<RunConfig>]>([
    ['KL as a price, steered', 'rloo', { klCoef: 0.05, klTarget: 0.02, klHorizon: 64 }],
    ['KL k2 in the loss', 'grpo', { klCoef: 0.05, klEstimator: 'k2' }],
    ['entropy', 'grpo', { entropyCoef: 0.01 }],
    ['correction by sequence', 'grpo', { importanceCorrection: 'sequence-mask' }],
    ['two epochs', 'grpo', { epochs: 2 }],
    ['values by turn', 'ppo', { valueLevel: 'turn', stepDiscount: 0.9, gaeLambda: 0.9 }],
    ['a critic that leaves the trunk alone', 'ppo', { valueCoef: 0 }],
    ['samples of one turn', 'gspo', { sampleUnit: 'step' }],
  ])('%s', async (_, algorithm, changes) => {
    const plain = await learn(algorithm, 2);
    const changed = await learn(algorithm, 2, changes);
    expect(changed.reports.every((r) => r.steps > 0 && r.skipped === 0 && Number.isFinite(r.loss))).toBe(true);
    if (!('importanceCorrection' in changes)) expect(changed.state.weights).not.toEqual(plain.state.weights);
    if (changes.klTarget) expect(changed.reports[1].state.klCoef).not.toBe(0.05);
  });
});

test('an adaptive KL run and a PPO run go on from their state as if they had not stopped', async () => {
  const kernels = gpuAdvantages(await testGpu());
  const settings = resolveConfig({ algorithm: 'ppo', klCoef: 0.1, klTarget: 0.05, klHorizon: 64 });
  const run = async (interrupted: boolean) => {
    await model.importState(start);
    const reference = await frozenReference(model);
    let state: Awaited<ReturnType<typeof policyUpdate>>['state'] | undefined;
    for (let iteration = 0; iteration < 3; iteration++) {
      if (interrupted && iteration === 2) {
        const kept = await model.exportState(true);
        await model.importState(start);
        await model.importState(kept);
        state = JSON.parse(JSON.stringify(state));
      }
      const rollouts = await play(iteration);
      const shuffle = <T>(items: readonly T[]): T[] => [...items];
      const input = { policy: model, rollouts, settings, horizon: 2, iteration, kernels, shuffle, reference, state };
      state = (await policyUpdate(input)).state;
    }
    return { state, model: await model.exportState(true) };
  };
  expect(await run(true)).toEqual(await run(false));
});

describe('without rewards', () => {
  test('DPO prefers what won: the margin grows, and so does success', async () => {
    await model.importState(start);
    const reference = await frozenReference(model);
    const rollouts = await play(1);
    const pairs = preferencePairs(rollouts);
    expect(pairs.length).toBeGreaterThan(3);
    const settings = { ...dpoDefaults, learningRate, beta: 0.5 };
    const kernel = gpuDpo(await testGpu());
    const reports = [];
    for (let i = 0; i < 6; i++)
      reports.push(
        await dpoUpdate({ policy: model, reference, pairs, settings, kernel, shuffle: (items) => [...items] }),
      );
    expect(reports[0].loss).toBeCloseTo(Math.log(2), 4);
    expect(reports.at(-1)!.loss).toBeLessThan(reports[0].loss - 0.1);
    expect(reports.at(-1)!.margin).toBeGreaterThan(0);
    expect(reports.at(-1)!.accuracy).toBeGreaterThan(0.8);
    expect(success(await play(999))).toBeGreaterThan(success(rollouts));
  });

  test('SFT on what won does what they did', async () => {
    await model.importState(start);
    const rollouts = [...(await play(1)), ...(await play(2)), ...(await play(3)), ...(await play(4))];
    const streams = rollouts.filter((r) => r.trajectory.success).map((r) => r.stream);
    const settings = { ...sftDefaults, learningRate };
    const losses: number[] = [];
    for (let i = 0; i < 20; i++)
      losses.push((await sftUpdate({ policy: model, streams, settings, shuffle: (items) => [...items] })).loss);
    expect(losses.at(-1)!).toBeLessThan(losses[0] - 0.3);
    expect(success(await play(999))).toBeGreaterThan(success(rollouts) + 0.2);
  });
});
