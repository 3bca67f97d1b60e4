/** @file The loop in plain English: models that really speak, through the dialect, in the dream and in the real world. */
import { describe, expect, test } from 'vitest';
import { TaskPool } from '../../../src/dream/curriculum';
import { DreamLoop } from '../../../src/dream/loop';
import type { LoopParts } from '../../../src/dream/loop-parts';
import { resolveConfig } from '../../../src/dream/presets';
import { ReplayBuffer } from '../../../src/dream/replay-buffer';
import type { RunModel } from '../../../src/dream/run-store';
import { generateTasks } from '../../../src/dream/task-generator';
import { householdTextDomain } from '../../../src/dream/text-household';
import type { RunConfig } from '../../../src/worker/protocol';
import { cpuAdvantages } from '../../rl/cpu-advantages';
import { cpuTopK } from '../cpu-top-k';
import { MemoryStore } from '../memory-store';
import '../../nn/patience';
import { experienceSpeaker, KnownTasks, policySpeaker, SpeakingModel } from './speaking-models';
import { chatTokenizer } from './tokenizers';

const tokenizer = chatTokenizer('chatml');
const domain = householdTextDomain(tokenizer);
const tasks = new KnownTasks(domain);

const config = (changes: Partial<RunConfig>) =>
  resolveConfig({
    seed: 5,
    iterations: 1,
    tasksPerIteration: 4,
    groupSize: 4,
    maxSteps: 20,
    evalTasks: 10,
    bufferCapacity: 400,
    klCoef: 0.01,
    ...changes,
  });

const model: RunModel = { label: 'a', sha256: 'a', rank: 8, alpha: 16, contextLength: 2048, parallel: 5 };

function setUp() {
  const policy = new SpeakingModel(tokenizer, policySpeaker(tasks, 8, 17));
  const store = new MemoryStore();
  const scored: number[] = [];
  const parts: LoopParts = {
    policy,
    experience: new SpeakingModel(tokenizer, experienceSpeaker(tasks)),
    domain,
    kernels: { advantages: cpuAdvantages, topK: cpuTopK },
    store,
    adapter: 'plain code',
    gpuBytes: () => 0,
    emit: () => {},
    parallel: 5,
    model,
    reference: async (sequences) => {
      scored.push(sequences.length);
      return sequences.map((tokens) => new Float32Array(tokens.length));
    },
  };
  return { parts, policy, store, scored };
}

describe.each(['dream', 'real'] as const)('%s', (rollouts) => {
  test('an iteration: what is understood is true, what is not is counted', async () => {
    const { parts, policy, scored } = setUp();
    const loop = DreamLoop.fresh(parts, config({ rollouts }), 'run');
    await loop.run();
    const [m] = loop.state.metrics;
    expect(m.trainReward).toBeGreaterThan(0.3);
    expect(m.malformedActions).toBeGreaterThan(0);
    expect(m.validActionRate).toBeGreaterThan(0.7);
    expect(loop.state.evaluations.at(-1)!.atRolloutTemperature.rate).toBeGreaterThan(0.3);
    expect(loop.state.record().model).toEqual(model);
    if (rollouts === 'dream') {
      expect(m).toMatchObject({ rewardError: 0, nextStateAccuracy: 1, replayFalse: 0 });
      expect(m.malformed).toBeGreaterThan(0);
    }
    // What was learned from is what was sampled: every loss-bearing token decodes to the policy's own words.
    expect(policy.trained.length).toBeGreaterThan(0);
    expect(scored).toEqual([policy.trained.length]);
    for (const { tokens, weights } of policy.trained) {
      const own = tokens.filter((_, t) => weights[t] !== 0);
      for (const words of tokenizer.decode(own).split('<|im_end|>').slice(0, -1))
        expect(words).toMatch(/^( step by step\.\nAction: .*|Let me think about it\.)$/);
    }
  });
});

test('a run goes on with its own model and adapter only', async () => {
  const { parts, store } = setUp();
  await DreamLoop.fresh(parts, config({ rollouts: 'real', maxSteps: 2 }), 'run').run();
  const stored = (await store.load('run'))!;
  expect(stored.model).toEqual(model);
  const moved = { ...model, label: 'b', contextLength: 4096, parallel: 2 };
  await DreamLoop.restore({ ...parts, model: moved }, stored, { iterations: 2 });
  for (const other of [undefined, { ...model, sha256: 'b' }, { ...model, rank: 4 }, { ...model, alpha: 8 }])
    await expect(DreamLoop.restore({ ...parts, model: other }, stored)).rejects.toMatchObject({ code: 'other-model' });
  const embedded = { ...stored, model: undefined };
  await expect(DreamLoop.restore(parts, embedded)).rejects.toMatchObject({ code: 'other-model' });
});

test('no more proposals are sampled at once than the caches hold', async () => {
  const speaker = new SpeakingModel(tokenizer, experienceSpeaker(tasks));
  const counts: number[] = [];
  const pool = new TaskPool(domain.trainingTasks());
  const report = await generateTasks({
    model: Object.assign(Object.create(speaker), {
      sessions(count: number) {
        counts.push(count);
        return speaker.sessions(count);
      },
    }),
    domain,
    pool,
    buffer: new ReplayBuffer(100),
    parents: pool.tasks().slice(0, 3),
    proposals: 5,
    temperature: 1,
    seed: 1,
    parallel: 2,
  });
  // It asks again while nothing passes; each time five, two at once.
  expect(counts.slice(0, 3)).toEqual([2, 2, 1]);
  expect(Math.max(...counts)).toBe(2);
  expect(report.asked).toBe(counts.reduce((a, b) => a + b));
  expect(report.malformed).toBeLessThan(report.asked);
});
