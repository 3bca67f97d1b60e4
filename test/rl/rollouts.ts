/** @file Episodes made by hand, and a policy that records what it is asked to learn. */
import type { Trajectory } from '../../src/data/trajectory';
import type { Loss, TrainSequence } from '../../src/nn/language-model';
import { type LearnerSettings, neutralSettings } from '../../src/rl/algorithms';
import { policyUpdate, type UpdateInput } from '../../src/rl/policy-update';
import { appendObserved, appendSampled, emptyStream, type Rollout } from '../../src/rl/rollout';
import { cpuAdvantages } from './cpu-advantages';

export const settings: LearnerSettings = {
  ...neutralSettings,
  normalization: 'group-std',
  aggregation: 'sequence-mean',
  sampleUnit: 'episode',
  miniBatches: 1,
  clipLow: 0.2,
  clipHigh: 0.28,
  klCoef: 0,
  entropyCoef: 0,
  discount: 1,
  learningRate: 3e-4,
};

/** An episode of turns of the given lengths, an observation of two tokens before each. */
export function rollout(
  group: number,
  reward: number,
  turnLengths: readonly number[],
  more: Partial<Pick<Trajectory, 'lost' | 'truncated'>> = {},
): Rollout {
  const stream = emptyStream();
  turnLengths.forEach((length, turn) => {
    appendObserved(stream, [90, 91]);
    const tokens = Array.from({ length }, (_, i) => 10 * turn + i);
    appendSampled(
      stream,
      tokens,
      tokens.map((t) => -0.1 * (t + 1)),
      turn,
    );
  });
  const turns = turnLengths.map((_, turn) => ({
    reward: turn === turnLengths.length - 1 ? reward : 0,
    observation: `after ${turn}`,
  }));
  const trajectory = {
    task: { id: `task ${group}` },
    firstObservation: 'start',
    group,
    return: reward,
    success: reward > 0,
    lost: false,
    truncated: false,
    turns,
    ...more,
  } as unknown as Trajectory;
  return { trajectory, stream };
}

/** Records what it was asked to learn. `values`: what its critic says of every token. */
export function recorder({ applied = true, values = 0 } = {}) {
  const calls: { sequences: readonly TrainSequence[]; loss: Loss; learningRate: number }[] = [];
  const policy: UpdateInput['policy'] = {
    score: async (sequences) => sequences.map((s) => Float32Array.from(s, (token) => -0.1 * (token + 1))),
    values: async (sequences) => sequences.map((s) => new Float32Array(s.length).fill(values)),
    async trainStep(sequences, loss, optimizer) {
      calls.push({ sequences, loss, learningRate: optimizer.learningRate });
      const n = calls.length;
      const numbers = { loss: n, gradNorm: n, entropy: n, kl: n, clipFraction: n, logProbGap: n, tokens: 1 };
      return { ...numbers, applied };
    },
  };
  return { calls, policy };
}

export const update = (
  rollouts: Rollout[],
  changes: Partial<LearnerSettings> = {},
  policy = recorder().policy,
  more: Partial<UpdateInput> = {},
) =>
  policyUpdate({
    policy,
    rollouts,
    settings: { ...settings, ...changes },
    horizon: 10,
    iteration: 9,
    kernels: cpuAdvantages,
    shuffle: (items) => [...items],
    ...more,
  });
