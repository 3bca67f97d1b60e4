/** @file What each advantage estimator says of episodes made by hand, and of those that say nothing. */
import { describe, expect, test } from 'vitest';
import type { LearnerSettings } from '../../src/rl/algorithms';
import { estimateCredit } from '../../src/rl/credit';
import { explainedVariance } from '../../src/rl/critic';
import { missingGroups } from '../../src/rl/dynamic-sampling';
import { nextKlCoef } from '../../src/rl/kl-control';
import type { Rollout } from '../../src/rl/rollout';
import { cpuAdvantages } from './cpu-advantages';
import { recorder, rollout, settings, update } from './rollouts';

const credit = (rollouts: Rollout[], changes: Partial<LearnerSettings>, values = 0) =>
  estimateCredit({
    rollouts,
    settings: { ...settings, ...changes },
    kernels: cpuAdvantages,
    values: rollouts.map(({ stream }) => new Float32Array(stream.tokens.length).fill(values)),
    muted: rollouts.map(() => false),
  });

/** Advantage of the first token of each turn. */
const byTurn = ({ stream }: Rollout, advantages: Float32Array): number[] => {
  const firsts = stream.turns
    .map((turn, t) => (turn >= 0 && stream.turns[t - 1] !== turn ? t : -1))
    .filter((t) => t >= 0);
  return firsts.map((t) => advantages[t]);
};

test('leave-one-out: against the mean of the others', async () => {
  const rollouts = [rollout(0, 1, [1]), rollout(0, 0, [1]), rollout(0, 0, [2])];
  const { advantages } = await credit(rollouts, { advantage: 'leave-one-out' });
  expect(advantages.map((a) => a[2])).toEqual([1, -0.5, -0.5]);
  expect(advantages.every((a) => a[0] === 0 && a[1] === 0)).toBe(true);
});

test('whitened returns: turns before the reward are praised less, all of a turn alike', async () => {
  const rollouts = [rollout(0, 1, [2, 2]), rollout(1, 0, [2, 2])];
  const { advantages } = await credit(rollouts, { advantage: 'whitened-returns', stepDiscount: 0.5 });
  // Returns .5 .5 1 1 and 0 0 0 0, whitened.
  const [early, late] = byTurn(rollouts[0], advantages[0]);
  expect(late).toBeGreaterThan(early);
  expect(early).toBeGreaterThan(byTurn(rollouts[1], advantages[1])[0]);
  expect(advantages[0][2]).toBe(advantages[0][3]);
  const all = advantages.flatMap((a, i) => [...a].filter((_, t) => rollouts[i].stream.turns[t] >= 0));
  expect(all.reduce((a, b) => a + b, 0)).toBeCloseTo(0, 5);
});

test('anchor groups: two turns from the same place are compared with each other', async () => {
  // Both see "start"; only one of them then goes on to the goal. A third group's lone episode is compared with nobody.
  const rollouts = [rollout(0, 1, [1, 1]), rollout(0, 0, [1, 1]), rollout(1, 1, [1])];
  const { advantages } = await credit(rollouts, {
    advantage: 'anchor-groups',
    normalization: 'group-mean',
    stepDiscount: 0.5,
    stepWeight: 2,
  });
  // Episode: +-.5. First turns: returns .5 and 0, so +-.25, weighed twice. Second turns: 1 and 0.
  expect(byTurn(rollouts[0], advantages[0])).toEqual([0.5 + 2 * 0.25, 0.5 + 2 * 0.5]);
  expect(byTurn(rollouts[1], advantages[1])).toEqual([-0.5 - 2 * 0.25, -0.5 - 2 * 0.5]);
  expect(byTurn(rollouts[2], advantages[2])).toEqual([0]);
});

describe('gae', () => {
  test('token level: targets are what followed; observations are passed over', async () => {
    const rollouts = [rollout(0, 1, [2, 3]), rollout(0, 0, [1])];
    const { advantages, value } = await credit(rollouts, { advantage: 'gae', stepDiscount: 0.5 }, 0.25);
    // Within a turn nothing is discounted: .5 before the second turn, 1 in it.
    expect([...value!.returns[0]].filter((_, t) => rollouts[0].stream.turns[t] >= 0)).toEqual([0.5, 0.5, 1, 1, 1]);
    expect(value!.old[0][3]).toBe(0.25);
    expect(advantages[0][0]).toBe(0);
    expect(advantages[0][6]).toBeGreaterThan(advantages[0][2]);
    expect(advantages[1][2]).toBeLessThan(0);
  });

  test('turn level: one value a turn, its advantage for all its tokens', async () => {
    const rollouts = [rollout(0, 1, [2, 3]), rollout(0, 0, [1])];
    const changes = { advantage: 'gae', valueLevel: 'turn', stepDiscount: 0.5, gaeLambda: 0 } as const;
    const { advantages, value } = await credit(rollouts, changes, 0.25);
    // Targets are r + gamma V': .5 x .25 for the first turn, 1 for the second.
    expect(byTurn(rollouts[0], value!.returns[0])).toEqual([0.125, 1]);
    expect(new Set(advantages[0].slice(6)).size).toBe(1);
    expect(value!.explainedVariance).toBeCloseTo(0);
  });

  test('explained variance: 1 of a seer, 0 of a constant, null where nothing varies', () => {
    expect(explainedVariance([1, 2, 3], [1, 2, 3])).toBe(1);
    expect(explainedVariance([5, 5, 5], [1, 2, 3])).toBeCloseTo(0);
    expect(explainedVariance([1, 2], [4, 4])).toBeNull();
    expect(explainedVariance([], [])).toBeNull();
  });

  test('a mini-batch carries values and targets; by turn, weight only at first tokens', async () => {
    for (const valueLevel of ['token', 'turn'] as const) {
      const { calls, policy } = recorder({ values: 0.5 });
      const report = await update(
        [rollout(0, 1, [2, 3]), rollout(1, 0, [2])],
        { advantage: 'gae', valueLevel },
        policy,
      );
      const [{ sequences, loss }] = calls;
      expect(loss).toMatchObject({ critic: { valueClip: 0.5, trunkCoef: 0.1 } });
      expect(sequences[0].oldValues![2]).toBe(0.5);
      expect(sequences[0].returns![2]).toBe(1);
      const weights = sequences[0].valueWeights ? [...(sequences[0].valueWeights as Float32Array)] : null;
      if (valueLevel === 'token') expect(weights).toBeNull();
      else {
        expect(weights!.map((w) => w > 0)).toEqual([false, false, true, false, false, false, true, false, false]);
        expect(weights![6]).toBeCloseTo(3 * Number(sequences[0].weights[6]), 6);
      }
      expect(report.episodes).toBe(2);
      expect(report.explainedVariance).toBeCloseTo(0);
    }
  });

  test('a model that cannot have a critic is refused in words', async () => {
    const { policy } = recorder();
    const { values: _, ...without } = policy;
    await expect(update([rollout(0, 1, [2])], { advantage: 'gae' }, without)).rejects.toMatchObject({
      code: 'no-critic',
    });
  });
});

const everyEstimator = [
  'group',
  'leave-one-out',
  'whitened-returns',
  'whitened-group',
  'anchor-groups',
  'gae',
] as const;

describe.each(everyEstimator)('%s', (advantage) => {
  test('no episodes, or only lost ones: no step', async () => {
    const { calls, policy } = recorder();
    for (const rollouts of [[], [rollout(0, 1, [2], { lost: true })]])
      expect(await update(rollouts, { advantage }, policy)).toMatchObject({ steps: 0, episodes: 0, loss: 0 });
    expect(calls).toHaveLength(0);
  });

  test('all rewards equal: no policy step, and every number is finite', async () => {
    const { calls, policy } = recorder();
    const rollouts = [0, 1].flatMap((group) => [rollout(group, 0, [2, 1]), rollout(group, 0, [3])]);
    const report = await update(rollouts, { advantage }, policy);
    expect(report.zeroVarianceGroups).toBe(2);
    // A critic learns even then.
    expect(calls).toHaveLength(advantage === 'gae' ? 1 : 0);
    for (const { sequences } of calls)
      for (const s of sequences) expect([...(s.advantages as Float32Array)].every((a) => a === 0)).toBe(true);
  });

  test('a group of one gets a finite advantage: 0 where it would be compared with itself', async () => {
    const rollouts = [rollout(0, 1, [2]), rollout(1, 1, [2]), rollout(1, 0, [2])];
    const { policy } = recorder();
    await update(rollouts, { advantage }, policy);
    const { advantages } = await credit(rollouts, { advantage });
    expect(advantages.flatMap((a) => [...a]).every(Number.isFinite)).toBe(true);
    if (['group', 'leave-one-out', 'anchor-groups'].includes(advantage))
      expect([...advantages[0]]).toEqual([0, 0, 0, 0]);
  });

  test('empty completions count for the baseline and bear no loss', async () => {
    const { calls, policy } = recorder();
    const silent = rollout(0, 0, []);
    const rollouts = [rollout(0, 1, [2]), silent, rollout(0, 0, [1])];
    const report = await update(rollouts, { advantage }, policy);
    expect(report.steps).toBe(1);
    const weights = calls[0].sequences.flatMap((s) => [...(s.weights as Float32Array)]);
    expect(weights.every(Number.isFinite)).toBe(true);
    expect(weights.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 5);
    expect(calls[0].sequences.flatMap((s) => [...(s.advantages as Float32Array)]).every(Number.isFinite)).toBe(true);
  });

  test('masked cut-off episodes bear no loss; where all were cut off there is no step', async () => {
    const cut = { truncated: true };
    const some = [rollout(0, 1, [2]), rollout(0, 0, [3], cut), rollout(0, 0, [1], cut), rollout(0, 0, [1])];
    const { calls, policy } = recorder();
    const report = await update(some, { advantage, maskTruncated: true }, policy);
    expect(report).toMatchObject({ maskedEpisodes: 2, episodes: 2, steps: 1 });
    expect(calls[0].sequences).toHaveLength(2);
    const all = [rollout(0, 1, [2], cut), rollout(0, 0, [3], cut)];
    expect(await update(all, { advantage, maskTruncated: true }, policy)).toMatchObject({ steps: 0, episodes: 0 });
  });
});

describe('the KL', () => {
  const reference = async (sequences: readonly (readonly number[])[]) =>
    sequences.map((s) => Float32Array.from(s, (token) => -0.1 * (token + 1) - 0.5));

  test('as a price: the reward falls with every word that the reference would not have said', async () => {
    const { calls, policy } = recorder();
    const rollouts = [rollout(0, 1, [1]), rollout(0, 1, [4]), rollout(0, 0, [1])];
    const changes = { klCoef: 0.1, klPlacement: 'reward', klEstimator: 'k1', advantage: 'leave-one-out' } as const;
    const report = await update(rollouts, changes, policy, { reference });
    expect(report.referenceKl).toBeCloseTo(0.5, 6);
    expect(calls[0].loss).toMatchObject({ klCoef: 0 });
    expect(calls[0].sequences[0].refLogProbs).toBeUndefined();
    const [short, long] = rollouts.map((r) => r.trajectory.advantage!);
    // 1 - .05 and 1 - .2, against the others' mean.
    expect(short - long).toBeCloseTo(1.5 * 0.15, 5);
  });

  test('steered: too far apart raises the coefficient, by at most a fifth per horizon, and the state goes on', async () => {
    expect(nextKlCoef(0.1, 1, { klTarget: 0.1, klHorizon: 100 }, 50)).toBeCloseTo(0.1 * 1.1);
    expect(nextKlCoef(0.1, 0.01, { klTarget: 0.1, klHorizon: 100 }, 50)).toBeCloseTo(0.1 * 0.9);
    expect(nextKlCoef(0.1, 0.105, { klTarget: 0.1, klHorizon: 100 }, 100)).toBeCloseTo(0.1 * 1.05);
    expect(nextKlCoef(0.1, Number.NaN, { klTarget: 0.1, klHorizon: 100 }, 100)).toBe(0.1);
    const { calls, policy } = recorder();
    const rollouts = [rollout(0, 1, [1]), rollout(0, 0, [2])];
    const changes = { klCoef: 0.1, klTarget: 0.01, klHorizon: 4 };
    const first = await update(rollouts, changes, policy, { reference });
    expect(first.state.klCoef).toBeGreaterThan(0.1);
    await update(rollouts, changes, policy, { reference, state: first.state });
    expect(calls.map(({ loss }) => (loss.kind === 'policy' ? loss.klCoef : 0))).toEqual([0.1, first.state.klCoef]);
  });

  test('fixed: the coefficient stays', async () => {
    const report = await update([rollout(0, 1, [1]), rollout(0, 0, [2])], { klCoef: 0.1 }, undefined, { reference });
    expect(report.state.klCoef).toBe(0.1);
    expect(report.referenceKl).toBeNull();
  });
});

describe('sampler and trainer', () => {
  test('agreeing: the correction changes nothing', async () => {
    const plain = recorder();
    const corrected = recorder();
    const rollouts = () => [rollout(0, 1, [2]), rollout(0, 0, [3])];
    await update(rollouts(), {}, plain.policy);
    await update(rollouts(), { importanceCorrection: 'token-truncate' }, corrected.policy);
    const numbers = (calls: typeof plain.calls) => calls[0].sequences.map((s) => [...(s.advantages as Float32Array)]);
    expect(numbers(corrected.calls)).toEqual(numbers(plain.calls));
  });

  test('disagreeing: old log-probabilities are the trainer’s, advantages are weighed', async () => {
    const { calls, policy } = recorder();
    policy.score = async (sequences) =>
      sequences.map((s) => Float32Array.from(s, (token) => -0.1 * (token + 1) + Math.log(5)));
    const rollouts = [rollout(0, 1, [1]), rollout(0, 0, [1])];
    await update(rollouts, { importanceCorrection: 'token-truncate', importanceCap: 2 }, policy);
    const [first] = calls[0].sequences;
    expect(first.oldLogProbs![2]).toBeCloseTo(-0.1 + Math.log(5), 5);
    expect(first.advantages![2]).toBeCloseTo(2 * rollouts[0].trajectory.advantage!, 5);
  });
});

test('epochs: the same episodes again, in another order', async () => {
  const { calls, policy } = recorder();
  const rollouts = [1, 0, 1, 0].map((reward, i) => rollout(0, reward, [i + 1]));
  const report = await update(rollouts, { epochs: 2, miniBatches: 2 }, policy, {
    shuffle: (items, epoch) => (epoch === 0 ? [...items] : [...items].reverse()),
  });
  expect(report.steps).toBe(4);
  expect(calls.map(({ sequences }) => sequences.map((s) => s.tokens.length - 2))).toEqual([
    [1, 2],
    [3, 4],
    [4, 3],
    [2, 1],
  ]);
});

test('GSPO by step: every turn has its own ratio', async () => {
  const { calls, policy } = recorder();
  const changes = { importanceLevel: 'sequence', sampleUnit: 'step' } as const;
  await update([rollout(0, 1, [2, 1]), rollout(0, 0, [1])], changes, policy);
  expect(calls[0].loss).toMatchObject({ importance: 'sequence' });
  expect(calls[0].sequences[0].samples).toEqual([-1, -1, 0, 0, -1, -1, 1]);
});

describe('updates that are not numbers', () => {
  const rollouts = () => [0, 1, 0, 1].map((reward, i) => rollout(0, reward, [i + 1]));

  test('are counted, and remembered from one iteration to the next', async () => {
    const { policy } = recorder({ applied: false });
    const first = await update(rollouts(), { miniBatches: 2 }, policy);
    expect(first).toMatchObject({ steps: 2, skipped: 2, loss: 0, state: { skippedInARow: 2 } });
    const good = await update(rollouts(), {}, recorder().policy, { state: first.state });
    expect(good.state.skippedInARow).toBe(0);
    await expect(update(rollouts(), {}, policy, { state: first.state })).rejects.toMatchObject({
      code: 'training-diverged',
      advice: expect.stringContaining('lower learning rate'),
    });
  });

  test('three in a row end the training at once', async () => {
    const { calls, policy } = recorder({ applied: false });
    await expect(update(rollouts(), { miniBatches: 4 }, policy)).rejects.toMatchObject({ code: 'training-diverged' });
    expect(calls).toHaveLength(3);
  });
});

test('dynamic sampling counts the groups that are still missing', () => {
  const rollouts = [rollout(0, 1, [1]), rollout(0, 0, [1]), rollout(1, 1, [1]), rollout(1, 1, [1]), rollout(2, 0, [1])];
  expect(missingGroups(rollouts, 3, 1)).toBe(2);
  expect(missingGroups(rollouts, 1, 1)).toBe(0);
  expect(missingGroups([], 2, 1)).toBe(2);
});
