/**
 * @file Kernels, and the plain references they are checked against elsewhere, against golden values made in PyTorch from the
 * formulas of TRL, verl and GiGPO (test/oracles/rl.py): masked tokens, groups of one, no variance, all failed, empty answers.
 */
import { describe, expect, test } from 'vitest';
import type { Trajectory } from '../../src/data/trajectory';
import type { CorrectionMode, GroupBaseline } from '../../src/rl/advantage-kernels';
import { lossWeights } from '../../src/rl/aggregation';
import { neutralSettings } from '../../src/rl/algorithms';
import { estimateCredit } from '../../src/rl/credit';
import { gpuAdvantages } from '../../src/rl/kernels/advantages';
import { gpuDpo } from '../../src/rl/kernels/dpo-loss';
import { PolicyLoss, type PolicyLossSettings } from '../../src/rl/kernels/policy-loss';
import { appendSampled, emptyStream, type Rollout } from '../../src/rl/rollout';
import { testGpu } from '../gpu';
import { expectClose } from '../numbers';
import golden from '../oracles/rl.json';
import { advantages } from '../reference/advantages';
import { type DpoSide, dpo } from '../reference/dpo-loss';
import { gae, whiten } from '../reference/gae';
import { gigpo } from '../reference/gigpo';
import { importanceCorrection } from '../reference/importance-correction';
import { type PolicyToken, policyGradient, policyLoss } from '../reference/policy-loss';
import { discountedReturns } from '../reference/returns';
import { sequenceRatio } from '../reference/sequence-ratio';
import { valueGradient, valueLoss } from '../reference/value-loss';
import { cpuAdvantages } from './cpu-advantages';

/** Double precision against double precision. */
const exactly = (got: ArrayLike<number>, want: ArrayLike<number>) => expectClose(got, want, 1e-6, 1e-9);

const { lengths, mask, rewards, values } = golden.sequences;
const starts = [0];
for (const length of lengths) starts.push(starts.at(-1)! + length);
const pieces = (x: readonly number[]): number[][] => lengths.map((_, s) => x.slice(starts[s], starts[s + 1]));
const entries = { starts: Uint32Array.from(starts), mask: Uint32Array.from(mask) };

describe('group advantages', () => {
  test.each(golden.groups.cases)('$mode, eps $eps, raw singleton $rawSingleton', async (c) => {
    const settings = { ...c, mode: c.mode as GroupBaseline };
    const want = c.advantages.flat();
    exactly(advantages(golden.groups.returns, settings).advantages.flat(), want);
    const kernels = gpuAdvantages(await testGpu(), settings);
    const ids = Int32Array.from(golden.groups.returns.flatMap((group, g) => group.map(() => g)));
    const got = await kernels.group(Float32Array.from(golden.groups.returns.flat()), ids, settings.mode);
    expectClose(got, want, 1e-6);
  });
});

describe('token sequences', () => {
  test.each(golden.sequences.cases)('gamma $gamma, lambda $lambda', async (c) => {
    const { gamma, lambda } = c;
    const m = pieces(mask);
    exactly(
      pieces(rewards).flatMap((r, s) => discountedReturns(r, m[s], gamma)),
      c.returns,
    );
    exactly(whiten(c.returns, mask), c.whitenedReturns);
    const plain = pieces(rewards).map((r, s) => gae(r, pieces(values)[s], m[s], gamma, lambda));
    exactly(
      plain.flatMap((p) => p.advantages),
      c.gaeAdvantages,
    );
    exactly(
      plain.flatMap((p) => p.returns),
      c.gaeReturns,
    );
    exactly(whiten(c.gaeAdvantages, mask), c.whitenedAdvantages);

    const kernels = gpuAdvantages(await testGpu());
    const data = { ...entries, rewards: Float32Array.from(rewards), values: Float32Array.from(values) };
    // Sums of up to forty terms of size 1 are known to 1e-5 of such a term.
    const returns = await kernels.returns(data, gamma);
    expectClose(returns, c.returns, 1);
    expectClose(await kernels.whiten(returns, entries.mask), c.whitenedReturns, 1);
    const got = await kernels.gae(data, gamma, lambda);
    expectClose(got.advantages, c.gaeAdvantages, 1);
    expectClose(got.returns, c.gaeReturns, 1);
    expectClose(await kernels.whiten(got.advantages, entries.mask), c.whitenedAdvantages, 1);
  });
});

const learner = { ...neutralSettings, normalization: 'group-std' as const, discount: 1 };

/** An episode of one token per turn that looks at nothing. */
function episode(group: number, turns: readonly { observation: string; reward: number }[]): Rollout {
  const stream = emptyStream();
  stream.tokens.push(0);
  stream.logProbs.push(0);
  stream.turns.push(-1);
  turns.forEach((_, turn) => {
    appendSampled(stream, [1], [-1], turn);
  });
  const trajectory = {
    group,
    firstObservation: turns[0]?.observation ?? '',
    turns: turns.map(({ reward }, t) => ({ reward, observation: turns[t + 1]?.observation ?? '' })),
  } as unknown as Trajectory;
  return { trajectory, stream };
}

test.each(golden.gigpo.cases)('GiGPO: gamma $gamma, weight $weight, $normalization', async (c) => {
  const normalization = c.normalization as 'group-std' | 'group-mean';
  const settings = { gamma: c.gamma, weight: c.weight, mode: normalization, eps: 1e-6 };
  exactly(gigpo(golden.gigpo.episodes, settings).flat(), c.advantages.flat());
  const rollouts = golden.gigpo.episodes.map(({ group, turns }) => episode(group, turns));
  const { advantages: got } = await estimateCredit({
    rollouts,
    settings: { ...learner, advantage: 'anchor-groups', normalization, stepDiscount: c.gamma, stepWeight: c.weight },
    kernels: gpuAdvantages(await testGpu()),
    muted: rollouts.map(() => false),
  });
  expectClose(
    got.flatMap((a) => [...a.slice(1)]),
    c.advantages.flat(),
    1e-2,
  );
});

test('REINFORCE++ with baseline: group mean, whitened over the batch’s tokens', async () => {
  const { returns, groups, advantages: want } = golden.baseline;
  const rollouts = returns.map((reward, i): Rollout => {
    const acting = pieces(mask)[i];
    const stream = emptyStream();
    // One token of the prompt in front, since the first token of a stream is never predicted.
    stream.tokens.push(0, ...acting.map(() => 1));
    stream.logProbs.push(0, ...acting.map(() => -1));
    stream.turns.push(-1, ...acting.map((m) => (m ? 0 : -1)));
    return { trajectory: { group: groups[i], turns: [{ reward }] } as unknown as Trajectory, stream };
  });
  for (const kernels of [gpuAdvantages(await testGpu()), cpuAdvantages]) {
    const settings = { ...learner, advantage: 'whitened-group' as const };
    const got = await estimateCredit({ rollouts, settings, kernels, muted: rollouts.map(() => false) });
    expectClose(
      got.advantages.flatMap((a) => [...a.slice(1)]),
      want,
      1e-2,
    );
  }
});

describe('policy loss', () => {
  const data = golden.policy;
  test.each(data.cases)('$name', async (c) => {
    const settings = c.settings as PolicyLossSettings;
    const perSample = settings.importance === 'sequence';
    const ratios = sequenceRatio(data.sampleStarts, data.logProbs, data.old, data.weights);
    const tokens = data.logProbs.map(
      (logProb, t): PolicyToken => ({
        logProb,
        oldLogProb: data.old[t],
        refLogProb: data.reference[t],
        advantage: data.advantages[t],
        weight: data.weights[t],
        entropy: data.entropy[t],
        ...(perSample ? { sampleLogRatio: ratios[t] } : {}),
      }),
    );
    exactly([tokens.reduce((sum, t) => sum + policyLoss(t, settings), 0)], [c.loss]);
    exactly(
      tokens.map((t) => policyGradient(t, settings)),
      c.gradLogProb,
    );

    const gpu = await testGpu();
    const kernels = new PolicyLoss(gpu);
    await gpu.ready();
    const n = tokens.length;
    const up = (x: readonly number[]) => gpu.upload(Float32Array.from(x), 'tokens');
    const b = {
      logProbs: up(data.logProbs),
      oldLogProbs: up(data.old),
      refLogProbs: up(data.reference),
      advantages: up(data.advantages),
      weights: up(data.weights),
      entropy: up(data.entropy),
      gradLogProb: gpu.alloc(n * 4, 'gradient'),
      gradEntropy: gpu.alloc(n * 4, 'entropy gradient'),
      stats: gpu.alloc(32, 'stats'),
    };
    const sample = {
      starts: gpu.upload(Uint32Array.from(data.sampleStarts), 'starts'),
      logRatio: gpu.alloc(n * 4, 'ratio'),
    };
    const rec = gpu.record('oracle');
    kernels.record(rec, { n, ...b, perSample: { samples: data.sampleStarts.length - 1, ...sample } }, settings);
    rec.submit();
    const size = tokens.reduce((sum, t) => sum + Math.abs(policyLoss(t, settings)), 0);
    const stats = await gpu.readF32(b.stats, 8);
    expect(Math.abs(stats[0] - c.loss)).toBeLessThan(1e-5 * size);
    // Surrogate and KL may nearly cancel; a number is known to 1e-5 of the largest there is.
    const floor = Math.max(...c.gradLogProb.map(Math.abs)) / 10;
    expectClose(await gpu.readF32(b.gradLogProb, n), c.gradLogProb, floor);
    expectClose(await gpu.readF32(b.gradEntropy, n), c.gradEntropy, 1e-12);
    for (const buffer of [...Object.values(b), ...Object.values(sample)]) buffer.release();
  });
});

test.each(['token-mean', 'sequence-mean', 'sequence-sum-norm'] as const)('aggregation: %s', (aggregation) => {
  const { losses, masks, horizon } = golden.aggregation;
  const streams = masks.map((m) => ({
    tokens: [0, ...m.map(() => 1)],
    logProbs: [0, ...m.map(() => 0)],
    turns: [-1, ...m.map((x) => (x ? 0 : -1))],
  }));
  const weights = lossWeights(streams, aggregation, 'episode', horizon);
  const total = weights.reduce((sum, w, i) => sum + losses[i].reduce((s, l, t) => s + l * w[t + 1], 0), 0);
  expectClose([total], [golden.aggregation[aggregation]], 1e-2, 1e-6);
});

describe('value loss', () => {
  const data = golden.value;
  test.each(data.cases)('clip $clip', async ({ clip, loss, grad }) => {
    const tokens = data.values.map((value, t) => ({
      value,
      oldValue: data.old[t],
      return: data.returns[t],
      weight: data.weights[t],
    }));
    exactly([tokens.reduce((sum, t) => sum + valueLoss(t, clip), 0)], [loss]);
    exactly(
      tokens.map((t) => valueGradient(t, clip)),
      grad,
    );
    const gpu = await testGpu();
    const kernels = new PolicyLoss(gpu);
    kernels.prepareValue();
    await gpu.ready();
    const n = tokens.length;
    const up = (x: readonly number[]) => gpu.upload(Float32Array.from(x), 'values');
    const b = {
      values: up(data.values),
      oldValues: up(data.old),
      returns: up(data.returns),
      weights: up(data.weights),
      gradValues: gpu.alloc(n * 4, 'gradient'),
      stats: gpu.alloc(16, 'stats'),
    };
    const rec = gpu.record('oracle');
    kernels.recordValue(rec, { n, ...b }, { valueClip: clip });
    rec.submit();
    expectClose(await gpu.readF32(b.gradValues, n), grad, 1e-4);
    expectClose([(await gpu.readF32(b.stats, 4))[0]], [loss]);
    for (const buffer of Object.values(b)) buffer.release();
  });
});

describe('sampler against trainer', () => {
  test.each(golden.correction.cases)('$mode, cap $cap', async (c) => {
    const mode = c.mode as CorrectionMode;
    const m = pieces(mask);
    const sampler = pieces(golden.correction.sampler);
    exactly(
      pieces(values).flatMap((trainer, s) => importanceCorrection(trainer, sampler[s], m[s], mode, c.cap)),
      c.factor,
    );
    const kernels = gpuAdvantages(await testGpu());
    const both = {
      ...entries,
      trainer: Float32Array.from(values),
      sampler: Float32Array.from(golden.correction.sampler),
    };
    expectClose(await kernels.correction(both, mode, c.cap), c.factor);
  });
});

describe('DPO', () => {
  const pairs = golden.dpo.pairs as { chosen: DpoSide; rejected: DpoSide }[];
  test.each(golden.dpo.cases)('beta $beta, smoothing $labelSmoothing', async (c) => {
    const plain = pairs.map(({ chosen, rejected }) => dpo(chosen, rejected, c.beta, c.labelSmoothing));
    exactly(
      plain.map((p) => p.loss),
      c.losses,
    );
    exactly(
      plain.flatMap((p) => p.rewards),
      c.rewards.flat(),
    );
    const slopes = pairs.flatMap(({ chosen, rejected }, p) => [
      chosen.mask.map((m) => (m * plain[p].slope) / pairs.length),
      rejected.mask.map((m) => (-m * plain[p].slope) / pairs.length),
    ]);
    exactly(slopes.flat(), c.grad.flat());

    const sides = pairs.flatMap(({ chosen, rejected }) => [chosen, rejected]);
    const ends = [0];
    for (const side of sides) ends.push(ends.at(-1)! + side.mask.length);
    const column = (key: keyof DpoSide) => sides.flatMap((side) => side[key]);
    const got = await gpuDpo(await testGpu())(
      {
        starts: Uint32Array.from(ends),
        logProbs: Float32Array.from(column('logProbs')),
        refLogProbs: Float32Array.from(column('refLogProbs')),
        mask: Uint32Array.from(column('mask')),
      },
      c,
    );
    // The weights of the SFT step are the negative slopes.
    expectClose(
      got.tokenWeights.map((w) => -w),
      c.grad.flat(),
      1e-3,
    );
    pairs.forEach((_, p) => {
      const [loss, chosen, rejected, margin] = got.pairStats.slice(4 * p, 4 * p + 4);
      expectClose([loss], [c.losses[p]], 1e-3);
      expectClose([chosen, rejected, margin], [...c.rewards[p], plain[p].margin], 1);
    });
  });
});
