/** @file The loop on the shop, on the web and in a world without a truth: with models that draw whatever they are allowed. */
import { describe, expect, test } from 'vitest';
import { DreamLoop } from '../../../src/dream/loop';
import type { LoopParts } from '../../../src/dream/loop-parts';
import { resolveConfig } from '../../../src/dream/presets';
import { defaultTextSettings } from '../../../src/dream/text-household';
import { type SpokenWorld, spokenDream, spokenWorlds, worldTextDomain } from '../../../src/dream/text-worlds';
import { parseDreamedWorld } from '../../../src/envs/dreamed-world';
import type { RunConfig } from '../../../src/worker/protocol';
import { cpuAdvantages } from '../../rl/cpu-advantages';
import { cpuTopK } from '../cpu-top-k';
import { MemoryStore } from '../memory-store';
import { chatTokenizer } from '../text-household/tokenizers';
import { WillingModel } from './willing-model';

const tokenizer = chatTokenizer('chatml');

async function runOn(world: SpokenWorld, changes: Partial<RunConfig> = {}) {
  const domain = worldTextDomain(tokenizer, 8192, world, { ...defaultTextSettings, thoughtTokens: 3 });
  const config = resolveConfig({
    ...{ seed: 5, iterations: 1, tasksPerIteration: 2, groupSize: 2, maxSteps: 3, evalTasks: 10 },
    ...{ bufferCapacity: 200, klCoef: 0 },
    ...changes,
  });
  const parts: LoopParts = {
    policy: new WillingModel(tokenizer),
    experience: new WillingModel(tokenizer),
    domain,
    kernels: { advantages: cpuAdvantages, topK: cpuTopK },
    store: new MemoryStore(),
    adapter: 'plain code',
    gpuBytes: () => 0,
    emit: () => {},
    parallel: 6,
  };
  const loop = DreamLoop.fresh(parts, config, 'run');
  await loop.run();
  return loop;
}

describe.each(['shop', 'web'] as const)('%s', (name) => {
  test('an iteration in the dream: every answer is read, every action is one, and the truth is asked', async () => {
    const { state, phase } = await runOn(await spokenWorlds[name]());
    expect(phase).toBe('finished');
    const [m] = state.metrics;
    expect(m.malformedActions).toBe(0);
    expect(m.dreamedTransitions).toBeGreaterThan(3);
    expect(m.measurementSteps).toBeGreaterThan(0);
    expect(m.rewardError).not.toBeNull();
    expect(m.nextStateAccuracy).not.toBeNull();
    expect(state.evaluations).toHaveLength(2);
    expect(state.evaluations[0].imagined).toBeUndefined();
    expect(state.buffer.count('imagined')).toBeGreaterThan(0);
    expect(state.buffer.count('offline')).toBeGreaterThan(80);
    const dreamed = state.rollouts[0].trajectories.flatMap(({ turns }) => turns);
    expect(dreamed.some(({ valid }) => valid)).toBe(true);
  });

  test('and in the real world', async () => {
    const { state } = await runOn(await spokenWorlds[name](), { rollouts: 'real' });
    expect(state.metrics[0].realTransitions).toBeGreaterThan(3);
    expect(state.metrics[0].replayPrecision).toBeNull();
  });
});

const definition = parseDreamedWorld(
  JSON.stringify({
    format: 'dreamed-world',
    version: 1,
    name: 'doors',
    systemPrompt: 'A corridor with doors.',
    actions: ['open door <number>', 'wait'],
    tasks: [{ instruction: 'open door 2', firstObservation: 'a corridor' }],
    transitions: [{ state: 'a corridor', action: 'wait', nextState: 'a corridor' }],
  }),
);

test('a world without a truth is dreamed and examined in the dream, and says so', async () => {
  const { state } = await runOn(spokenDream(definition), { groupSize: 6, maxSteps: 4 });
  const [m] = state.metrics;
  expect(m.dreamedTransitions).toBeGreaterThan(3);
  expect(m.malformed).toBe(0);
  // The model's own word is all there is, so it is believed.
  expect(m.trainReward).toBeGreaterThan(0);
  expect([m.replayPrecision, m.rewardError, m.nextStateAccuracy]).toEqual([null, null, null]);
  expect(m.measurementSteps).toBe(0);
  expect(state.evaluations.map(({ imagined }) => imagined)).toEqual([true, true]);
  expect(state.evaluations[0].atRolloutTemperature.episodes).toBe(1);
  await expect(runOn(spokenDream(definition), { rollouts: 'real' })).rejects.toMatchObject({ code: 'no-real-world' });
});
