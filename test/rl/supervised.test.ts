/** @file SFT and DPO above the kernels. */
import { describe, expect, test } from 'vitest';
import type { LanguageModel, TrainSequence } from '../../src/nn/language-model';
import { type DpoKernel, dpoDefaults, dpoUpdate, preferencePairs } from '../../src/rl/dpo';
import { sftDefaults, sftUpdate } from '../../src/rl/sft';
import { dpo } from '../reference/dpo-loss';
import { rollout } from './rollouts';

const same = <T>(items: readonly T[]): T[] => [...items];

/** Says `logProb` of every token and records its lessons. */
function policyThat(logProb: number, applied = true) {
  const lessons: (readonly TrainSequence[])[] = [];
  const policy: Pick<LanguageModel, 'score' | 'trainStep'> = {
    score: async (sequences) => sequences.map((s) => new Float32Array(s.length).fill(logProb)),
    async trainStep(sequences, loss) {
      expect(loss).toEqual({ kind: 'sft' });
      lessons.push(sequences);
      return { loss: 2, gradNorm: 3, entropy: 0, kl: 0, clipFraction: 0, logProbGap: 0, tokens: 1, applied };
    },
  };
  return { lessons, policy };
}

/** In double precision, pair by pair. */
const plainDpo: DpoKernel = async ({ starts, logProbs, refLogProbs, mask }, { beta, labelSmoothing }) => {
  const pairs = (starts.length - 1) / 2;
  const side = (s: number) => {
    const cut = (x: ArrayLike<number>) => Array.from(x).slice(starts[s], starts[s + 1]);
    return { logProbs: cut(logProbs), refLogProbs: cut(refLogProbs), mask: cut(mask) };
  };
  const tokenWeights = new Float32Array(logProbs.length);
  const pairStats = new Float32Array(pairs * 4);
  for (let p = 0; p < pairs; p++) {
    const { loss, rewards, margin, slope } = dpo(side(2 * p), side(2 * p + 1), beta, labelSmoothing);
    pairStats.set([loss, ...rewards, margin], 4 * p);
    for (let t = starts[2 * p]; t < starts[2 * p + 2]; t++)
      tokenWeights[t] = ((t < starts[2 * p + 1] ? -slope : slope) * mask[t]) / pairs;
  }
  return { tokenWeights, pairStats };
};

describe('preference pairs', () => {
  test('a success beside a failure of its group, never a lost one', () => {
    const rollouts = [
      rollout(0, 1, [1]),
      rollout(0, 0, [2]),
      rollout(0, 1, [3]),
      rollout(0, 0, [4], { lost: true }),
      rollout(1, 1, [1]),
      rollout(1, 1, [2]),
      rollout(2, 0, [1]),
    ];
    const pairs = preferencePairs(rollouts);
    expect(pairs).toEqual([{ task: 'task 0', chosen: rollouts[0].stream, rejected: rollouts[1].stream }]);
    const many = [1, 1, 1, 0, 0].map((reward, i) => rollout(0, reward, [i + 1]));
    expect(preferencePairs(many)).toHaveLength(2);
    expect(preferencePairs(many, 1)).toHaveLength(1);
    expect(preferencePairs([])).toEqual([]);
  });
});

describe('DPO', () => {
  const pairs = preferencePairs([rollout(0, 1, [2, 1]), rollout(0, 0, [1]), rollout(1, 1, [1]), rollout(1, 0, [3])]);
  const reference = (sequences: readonly (readonly number[])[]) => policyThat(-1).policy.score(sequences);
  const input = { pairs, settings: dpoDefaults, kernel: plainDpo, shuffle: same, reference };

  test('before the first step: loss log 2, no margin, chosen up and rejected down', async () => {
    const { lessons, policy } = policyThat(-1);
    const report = await dpoUpdate({ ...input, policy });
    expect(report).toMatchObject({ pairs: 2, steps: 1, skipped: 0, accuracy: 0, margin: 0, gradNorm: 3 });
    expect(report.loss).toBeCloseTo(Math.log(2), 6);
    const [chosen, rejected] = lessons[0].map((s) => [...(s.weights as Float32Array)].map((w) => w + 0));
    // beta sigmoid(0) / pairs, on the policy's own words only.
    expect(chosen).toEqual([0, 0, 0.025, 0.025, 0, 0, 0.025].map(Math.fround));
    expect(rejected).toEqual([0, 0, -0.025].map(Math.fround));
  });

  test('mini-batches; pairs already right count as accurate', async () => {
    const { lessons, policy } = policyThat(-0.5);
    const report = await dpoUpdate({ ...input, policy, settings: { ...dpoDefaults, miniBatches: 2 } });
    expect(lessons).toHaveLength(2);
    // Longer chosen answers gain more from a policy that likes every word: 3 to 1, and 1 to 3.
    expect(report.accuracy).toBe(0.5);
  });

  test('no pairs: no step; three broken steps in a row end it', async () => {
    const { policy } = policyThat(-1);
    expect(await dpoUpdate({ ...input, policy, pairs: [] })).toMatchObject({ pairs: 0, steps: 0, loss: 0 });
    const broken = policyThat(-1, false);
    const many = { ...input, pairs: [...pairs, ...pairs], settings: { ...dpoDefaults, miniBatches: 4 } };
    await expect(dpoUpdate({ ...many, policy: broken.policy })).rejects.toMatchObject({ code: 'training-diverged' });
    expect(broken.lessons).toHaveLength(3);
  });
});

describe('SFT', () => {
  test('the stream’s mask is the loss’; weights sum to one; wordless streams are left out', async () => {
    const { lessons, policy } = policyThat(-1);
    const streams = [rollout(0, 1, [2, 1]), rollout(0, 0, []), rollout(0, 0, [1])].map((r) => r.stream);
    const report = await sftUpdate({ policy, streams, settings: sftDefaults, shuffle: same });
    expect(report).toMatchObject({ steps: 1, skipped: 0, loss: 2, gradNorm: 3, tokens: 10, skippedInARow: 0 });
    expect(lessons[0]).toHaveLength(2);
    const weights = lessons[0].map((s) => [...(s.weights as Float32Array)]);
    expect(weights[0].map((w) => w > 0)).toEqual([false, false, true, true, false, false, true]);
    expect(weights.flat().reduce((a, b) => a + b, 0)).toBeCloseTo(1, 6);
  });

  test('nothing to learn: no step', async () => {
    const { lessons, policy } = policyThat(-1);
    const report = await sftUpdate({ policy, streams: [], settings: sftDefaults, shuffle: same });
    expect(report).toMatchObject({ steps: 0, loss: 0, tokens: 0 });
    expect(lessons).toHaveLength(0);
  });
});
