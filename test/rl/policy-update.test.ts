import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Trajectory } from '../../src/data/trajectory';
import { type Aggregation, lossWeights, type SampleUnit } from '../../src/rl/aggregation';
import { discountedReturn, learnable } from '../../src/rl/groups';
import { miniBatchesOf, scheduledRate } from '../../src/rl/optimizer';
import type { UpdateInput } from '../../src/rl/policy-update';
import { frozenReference } from '../../src/rl/reference';
import type { TokenStream } from '../../src/rl/rollout';
import { cpuAdvantages } from './cpu-advantages';
import { recorder, rollout, update } from './rollouts';

describe('a discount', () => {
  it('is per turn before the reward, and nothing is earned by a lost episode', () => {
    expect(discountedReturn(rollout(0, 1, [2, 2, 2]).trajectory, 0.5)).toBe(0.25);
    expect(discountedReturn(rollout(0, 1, [2]).trajectory, 0.5)).toBe(1);
    expect(discountedReturn(rollout(0, 1, [2], { lost: true }).trajectory, 0.5)).toBe(0);
    const several = { ...rollout(0, 0, [2, 2]).trajectory, turns: [{ reward: 1 }, { reward: 0 }, { reward: 2 }] };
    expect(discountedReturn(several as unknown as Trajectory, 0.5)).toBe(1 + 0.25 * 2);
  });

  it('makes a group of successes teach when some were quicker', async () => {
    const rollouts = [rollout(0, 1, [2, 2]), rollout(0, 1, [2, 2, 2, 2])];
    expect(learnable(rollouts).varied).toHaveLength(0);
    expect((await update(rollouts)).steps).toBe(0);
    expect((await update(rollouts, { discount: 0.9 })).steps).toBe(1);
    expect(rollouts[0].trajectory.advantage).toBeGreaterThan(0);
    expect(rollouts[1].trajectory.advantage).toBeLessThan(0);
    expect(learnable(rollouts, 0.9).report.successRate.get(0)).toBe(1);
  });
});

describe('groups', () => {
  it('of equal rewards are dropped and counted, lost episodes are never kept', () => {
    const rollouts = [
      rollout(0, 1, [2]),
      rollout(0, 0, [2]),
      rollout(0, 1, [2], { lost: true }),
      rollout(1, 0, [2]),
      rollout(1, 0, [2]),
      rollout(2, 1, [2]),
      rollout(3, 1, [2], { lost: true }),
    ];
    const { varied, finished, report } = learnable(rollouts);
    expect(finished).toHaveLength(5);
    expect(varied).toEqual(rollouts.slice(0, 2));
    // Group 2 has one episode, hence no baseline; group 3 was lost altogether.
    expect(report).toMatchObject({ groups: 3, zeroVarianceGroups: 2 });
    expect(report.groupStd).toBeCloseTo(0.5 / 3);
    expect([...report.successRate]).toEqual([
      [0, 0.5],
      [1, 0],
      [2, 1],
    ]);
  });

  it('all without variance: no step is taken', async () => {
    const { calls, policy } = recorder();
    const report = await update([rollout(0, 0, [2]), rollout(0, 0, [3])], {}, policy);
    expect(calls).toHaveLength(0);
    expect(report).toMatchObject({ steps: 0, loss: 0, zeroVarianceGroups: 1, episodes: 0 });
  });

  it('get advantages from their own mean, with dense ids for the kernel', async () => {
    const rollouts = [
      rollout(7, 1, [1]),
      rollout(7, 0, [1]),
      rollout(40, 1, [1]),
      rollout(40, 0, [1]),
      rollout(40, 0, [1]),
    ];
    let ids: number[] = [];
    const kernels: UpdateInput['kernels'] = {
      ...cpuAdvantages,
      group(returns, groupIds, mode) {
        ids = [...groupIds];
        return cpuAdvantages.group(returns, groupIds, mode);
      },
    };
    await update(rollouts, {}, undefined, { kernels });
    expect(ids).toEqual([0, 0, 1, 1, 1]);
    const advantages = rollouts.map((r) => r.trajectory.advantage!);
    expect(advantages[0]).toBeCloseTo(Math.SQRT1_2, 4);
    expect(advantages[1]).toBeCloseTo(-Math.SQRT1_2, 4);
    expect(advantages[2]).toBeCloseTo(2 / 3 / Math.sqrt(1 / 3), 4);
    expect(advantages[3] + advantages[4]).toBeCloseTo(-advantages[2], 4);
  });
});

describe('training sequences', () => {
  it('mask observations and keep the sampler’s log-probabilities', async () => {
    const { calls, policy } = recorder();
    await update([rollout(0, 1, [2, 1]), rollout(0, 0, [1])], {}, policy);
    const [first] = calls[0].sequences;
    expect(first.tokens).toEqual([90, 91, 0, 1, 90, 91, 10]);
    expect(Array.from(first.weights, (w) => w > 0)).toEqual([false, false, true, true, false, false, true]);
    expect(Array.from(first.oldLogProbs!)).toEqual(Array.from(Float32Array.of(0, 0, -0.1, -0.2, 0, 0, -1.1)));
    expect(Array.from(first.advantages!).filter((a) => a !== 0)).toHaveLength(3);
    expect(first.refLogProbs).toBeUndefined();
  });

  const streamsOf = (shapes: number[][]): TokenStream[] => shapes.map((shape) => rollout(0, 0, shape).stream);
  const total = (weights: Float32Array[]) => weights.reduce((sum, w) => sum + w.reduce((a, b) => a + b, 0), 0);
  const shapes = fc.array(fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 6,
  });

  it.each<[Aggregation, SampleUnit]>([
    ['token-mean', 'episode'],
    ['token-mean', 'step'],
    ['sequence-mean', 'episode'],
    ['sequence-mean', 'step'],
  ])('%s by %s: weights sum to one', (aggregation, unit) => {
    fc.assert(
      fc.property(shapes, (shape) => {
        expect(total(lossWeights(streamsOf(shape), aggregation, unit, 7))).toBeCloseTo(1, 5);
      }),
    );
  });

  it('sequence-mean: an episode counts once by episode, once per turn by step', () => {
    const streams = streamsOf([[1, 3], [2]]);
    const byEpisode = lossWeights(streams, 'sequence-mean', 'episode', 1).map((w) => total([w]));
    expect(byEpisode[0]).toBeCloseTo(1 / 2);
    expect(byEpisode[1]).toBeCloseTo(1 / 2);
    const byStep = lossWeights(streams, 'sequence-mean', 'step', 1);
    expect(byStep.map((w) => total([w]))[0]).toBeCloseTo(2 / 3);
    // The turn of one token weighs as much as the turn of three.
    expect(byStep[0][2]).toBeCloseTo(1 / 3);
    expect(byStep[0][5]).toBeCloseTo(1 / 9);
  });

  it('sequence-sum-norm divides by a constant, whatever the lengths', () => {
    const streams = streamsOf([[1, 3], [2]]);
    const nonZero = lossWeights(streams, 'sequence-sum-norm', 'episode', 10).flatMap((w) =>
      [...w].filter((x) => x > 0),
    );
    expect(new Set(nonZero)).toEqual(new Set([Math.fround(1 / 20)]));
  });

  it('a step alone behind its prefix gets the weights it has inside its episode', () => {
    const whole = rollout(0, 0, [2, 3]).stream;
    const alone: TokenStream = { ...whole, turns: whole.turns.map((turn) => (turn === 1 ? 1 : -1)) };
    const first: TokenStream = {
      tokens: whole.tokens.slice(0, 4),
      logProbs: whole.logProbs.slice(0, 4),
      turns: whole.turns.slice(0, 4),
    };
    const together = lossWeights([whole], 'sequence-mean', 'step', 1)[0];
    const apart = lossWeights([first, alone], 'sequence-mean', 'episode', 1);
    expect([...together]).toEqual([...apart[0], ...apart[1].slice(4)]);
  });
});

describe('the update', () => {
  it('splits into non-empty mini-batches that cover everything once', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 20 }), fc.integer({ min: 1, max: 8 }), (items, parts) => {
        const batches = miniBatchesOf(items, parts);
        expect(batches.flat()).toEqual(items);
        expect(batches.every((batch) => batch.length > 0)).toBe(true);
        const sizes = batches.map((batch) => batch.length);
        if (sizes.length > 0) expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('takes one step a mini-batch, in the shuffled order, and averages what they report', async () => {
    const { calls, policy } = recorder();
    const rollouts = [0, 1, 0, 1].map((reward, i) => rollout(0, reward, [i + 1]));
    const report = await update(rollouts, { miniBatches: 2 }, policy, {
      iteration: 0,
      shuffle: (items) => [...items].reverse(),
    });
    expect(calls.map((call) => call.sequences.map((s) => s.tokens.length))).toEqual([
      [6, 5],
      [4, 3],
    ]);
    expect(report).toMatchObject({ steps: 2, skipped: 0, loss: 1.5, logProbGap: 1, episodes: 4, tokens: 18 });
    expect(calls[0].learningRate).toBeCloseTo(1e-4);
  });

  it('warms up over three iterations', () => {
    expect([0, 1, 2, 3, 50].map((i) => scheduledRate(3, i))).toEqual([1, 2, 3, 3, 3]);
    expect([0, 2, 6, 7, 8].map((i) => scheduledRate(3, i, 9))).toEqual([1, 3, 3, 2, 1]);
  });

  it('counts skipped steps and averages nothing over them', async () => {
    const { policy } = recorder({ applied: false });
    const report = await update([rollout(0, 1, [2]), rollout(0, 0, [2])], {}, policy);
    expect(report).toMatchObject({ steps: 1, skipped: 1, loss: 0, gradNorm: 0 });
  });

  it('asks for reference log-probabilities only when KL costs something', async () => {
    const reference = async (sequences: readonly (readonly number[])[]) =>
      sequences.map((s) => Float32Array.from(s, (token) => -token));
    for (const klCoef of [0, 0.01]) {
      const { calls, policy } = recorder();
      const rollouts = [rollout(0, 1, [2]), rollout(0, 0, [3])];
      await update(rollouts, { klCoef, miniBatches: 2 }, policy, { reference });
      for (const { sequences } of calls)
        for (const { tokens, refLogProbs } of sequences)
          expect(refLogProbs ? Array.from(refLogProbs) : null).toEqual(klCoef > 0 ? tokens.map((t) => -t) : null);
    }
  });

  it('the frozen reference scores under the old weights and puts the new ones back', async () => {
    let weights = 1;
    const model = {
      exportState: async () => ({ step: 0, weights: new Map([['w', Float32Array.of(weights)]]) }),
      importState: async (state: { weights: Map<string, Float32Array> }) => {
        weights = state.weights.get('w')![0];
      },
      score: async () => [Float32Array.of(weights)],
    };
    const score = await frozenReference(model);
    weights = 5;
    expect(await score([[0]])).toEqual([Float32Array.of(1)]);
    expect(weights).toBe(5);
  });
});
