/**
 * @file The loop on the real engine: a decoder of a few thousand weights, taught the box world's language by SFT, dreams,
 * learns by GRPO and is interrupted, every number computed by the kernels on Dawn.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mean } from '../../src/data/statistics';
import { DreamLoop } from '../../src/dream/loop';
import type { LoopParts } from '../../src/dream/loop-parts';
import { resolveConfig } from '../../src/dream/presets';
import { Draws } from '../../src/dream/random';
import type { Transition } from '../../src/dream/run-store';
import { DecoderModel } from '../../src/nn/decoder-model';
import { initialise } from '../../src/nn/initialise';
import type { ModelState, TrainSequence } from '../../src/nn/language-model';
import { gpuAdvantages } from '../../src/rl/kernels/advantages';
import { PolicyLoss } from '../../src/rl/kernels/policy-loss';
import { gpuTopK } from '../../src/rl/kernels/topk';
import type { RunConfig } from '../../src/worker/protocol';
import { testGpu } from '../gpu';
import { colours, encode, fakeDomain, id, rule, task } from './fake-world';
import { MemoryStore } from './memory-store';

const domain = fakeDomain();

/** One episode of a player without a plan, as the policy's or the experience model's stream. */
function demonstration(draws: Draws, role: 'policy' | 'experience'): TrainSequence {
  const goal = task('a', colours[draws.below(3)]);
  const { policy, experience } = domain.dialect;
  const tokens = role === 'policy' ? policy.opening(goal, 'shut') : experience.opening(goal, 'shut');
  const weights = tokens.map(() => 0);
  const add = (more: readonly number[], weight: number) => {
    tokens.push(...more);
    weights.push(...more.map(() => weight));
  };
  let opened = false;
  for (let turn = 0; turn < 4; turn++) {
    const action = draws.next() < (opened ? 0.2 : 0.6) ? 'open' : `press ${colours[draws.below(3)]}`;
    const { observation, reward } = rule(goal.instruction, opened, action);
    opened ||= observation === 'opened';
    if (role === 'policy') {
      add([...encode(action), id('\n')], 1);
      add(policy.reply([id('\n')], observation), 0);
    } else {
      const memory = { nextState: observation } as Transition;
      add(experience.question(goal, action, draws.next() < 0.5 ? [memory] : []), 0);
      add([...encode(observation), id(reward > 0 ? 'r1' : 'r0')], 1);
    }
    if (reward > 0) break;
  }
  const sum = weights.reduce((a, b) => a + b, 0);
  return { tokens, weights: weights.map((w) => w / (16 * sum)) };
}

async function decoder(seed: number): Promise<DecoderModel> {
  const gpu = await testGpu();
  const config = {
    vocabSize: 20,
    width: 32,
    layers: 2,
    heads: 2,
    kvHeads: 2,
    headDim: 16,
    ffn: 64,
    ropeTheta: 10_000,
    normEps: 1e-5,
    contextLength: 64,
  };
  const model = new DecoderModel(gpu, config, new PolicyLoss(gpu));
  await model.prepare();
  initialise(model, seed);
  return model;
}

async function taught(role: 'policy' | 'experience', steps: number): Promise<DecoderModel> {
  const model = await decoder(role === 'policy' ? 1 : 2);
  const draws = new Draws(role === 'policy' ? 11 : 12);
  const optimizer = { beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, maxGradNorm: 1 };
  for (let step = 0; step < steps; step++) {
    const batch = Array.from({ length: 16 }, () => demonstration(draws, role));
    await model.trainStep(batch, { kind: 'sft' }, { ...optimizer, learningRate: 1e-2 * (1 - step / steps) });
  }
  return model;
}

const config = (changes: Partial<RunConfig>) =>
  resolveConfig({
    seed: 3,
    tasksPerIteration: 6,
    groupSize: 8,
    maxSteps: 4,
    experienceTemperature: 0.5,
    evalEvery: 100,
    evalTasks: 90,
    bufferCapacity: 200,
    minReplayPrecision: 0,
    ...changes,
  });

describe('the loop on Dawn', () => {
  let policy: DecoderModel;
  let experience: DecoderModel;
  let warmStart: ModelState;
  let parts: (store?: MemoryStore, emit?: LoopParts['emit']) => LoopParts;

  beforeAll(async () => {
    const gpu = await testGpu();
    policy = await taught('policy', 60);
    experience = await taught('experience', 60);
    warmStart = await policy.exportState(false);
    parts = (store = new MemoryStore(), emit = () => {}) => ({
      policy,
      experience,
      domain,
      kernels: { advantages: gpuAdvantages(gpu), topK: gpuTopK(gpu) },
      store,
      adapter: gpu.adapterName,
      gpuBytes: () => gpu.memory.bytesPeak,
      emit,
    });
  });

  afterAll(() => {
    policy.dispose();
    experience.dispose();
  });

  it('dreams in one batch what is mostly true, and resumes bit-identical', async () => {
    await policy.importState(warmStart);
    const whole = DreamLoop.fresh(parts(), config({ iterations: 3 }), 'run');
    await whole.run();
    const { metrics, weightsHash } = whole.state;
    for (const m of metrics) {
      // Sampler and trainer agree on what was sampled.
      expect(m.logProbGap).toBeLessThan(1e-4);
      expect(m.nextStateAccuracy).toBeGreaterThan(0.8);
      expect(m.gpuBytes).toBeGreaterThan(0);
    }
    expect(metrics.some((m) => m.kl > 0)).toBe(true);

    await policy.importState(warmStart);
    const store = new MemoryStore();
    const killed: DreamLoop = DreamLoop.fresh(
      parts(store, (event) => {
        if (event.type !== 'progress' || event.progress.iteration !== 1) return;
        // After the first of the second iteration's two updates.
        if (event.progress.phase === 'learning' && event.progress.fraction > 0) killed.control.stop();
      }),
      config({ iterations: 3 }),
      'run',
    );
    await killed.run();
    expect(killed.state.iteration).toBe(1);

    await policy.importState(warmStart);
    const resumed = await DreamLoop.restore(parts(store), (await store.load('run'))!);
    await resumed.run();
    expect(resumed.state.weightsHash).toBe(weightsHash);
    expect(resumed.state.metrics.map((m) => m.loss)).toEqual(metrics.map((m) => m.loss));
  });

  it('with a critic it resumes bit-identical too, from the head’s own moments', async () => {
    const changes = { algorithm: 'ppo', iterations: 2, evalTasks: 10 } as const;
    await policy.importState(warmStart);
    const whole = DreamLoop.fresh(parts(), config(changes), 'run');
    await whole.run();
    expect(whole.state.metrics.every((m) => m.valueLoss! > 0 && m.explainedVariance !== undefined)).toBe(true);

    await policy.importState(warmStart);
    const store = new MemoryStore();
    const killed: DreamLoop = DreamLoop.fresh(
      parts(store, (event) => {
        if (event.type === 'iteration') killed.control.stop();
      }),
      config(changes),
      'run',
    );
    await killed.run();
    expect(killed.state.iteration).toBe(1);
    await policy.importState(warmStart);
    const stored = (await store.load('run'))!;
    expect(stored.policy.moments2!.has('value_head')).toBe(true);
    const resumed = await DreamLoop.restore(parts(store), stored);
    await resumed.run();
    expect(resumed.state.weightsHash).toBe(whole.state.weightsHash);
  });

  it('learns', async () => {
    await policy.importState(warmStart);
    const loop = DreamLoop.fresh(parts(), config({ iterations: 8, rollouts: 'real', learningRate: 3e-3 }), 'run');
    await loop.run();
    const [before, after] = loop.state.evaluations.map((e) => e.atRolloutTemperature.rate);
    const rewards = loop.state.metrics.map((m) => m.trainReward);
    // A third of the evaluation asks for a colour that no training task has.
    expect(after).toBeGreaterThan(before);
    expect(mean(rewards.slice(-3))).toBeGreaterThan(mean(rewards.slice(0, 2)) + 0.15);
  });
});
