/** @file Made-up commits of a run: small, deterministic, every field filled. */
import type { Trajectory } from '../../src/data/trajectory';
import { presets } from '../../src/dream/presets';
import { Draws } from '../../src/dream/random';
import type { BufferChanges, RunSnapshot, StoredTask, Transition } from '../../src/dream/run-store';
import { weightsHash } from '../../src/dream/weights-hash';
import type { Evaluation, IterationMetrics } from '../../src/worker/protocol';

const rate = { rate: 0.5, low: 0.4, high: 0.6, episodes: 100 };

export const evaluationAt = (iteration: number): Evaluation => ({
  iteration,
  atRolloutTemperature: rate,
  atLowTemperature: { ...rate, rate: 0.55 },
});

export const metricsAt = (iteration: number): IterationMetrics => ({
  iteration,
  trainReward: iteration / 100,
  replayPrecision: iteration % 2 ? 0.9 : null,
  replayTrue: 9,
  replayFalse: 1,
  rewardError: 0.05,
  nextStateAccuracy: 0.97,
  loss: -0.01 * iteration,
  entropy: 0.6,
  kl: 0.001,
  clipFraction: 0.02,
  gradNorm: 1.5,
  logProbGap: 1e-5,
  groupStd: 0.3,
  zeroVarianceGroups: 2,
  validActionRate: 0.98,
  meanTurns: 8.5,
  malformed: 0,
  syntheticShare: 0.25,
  taskDifficulty: 0.2,
  tasksGenerated: iteration * 3,
  bufferSize: 100,
  realTransitions: 0,
  dreamedTransitions: iteration * 50,
  measurementSteps: iteration * 7,
  generateTokensPerSecond: 4000,
  trainTokensPerSecond: 2000,
  gpuBytes: 123_456_789,
  seconds: 61.5,
});

const taskNamed = (id: string) => ({
  id,
  instruction: `put a clean ${id} in cabinet`,
  room: `room ${id}`,
  family: 'pick_clean_then_place_in_recep',
  firstObservation: 'you see a cabinet 1',
  data: { seed: 5, goal: ['clean', id] },
});

export const storedTask = (id: string, visits = 0): StoredTask => ({
  id,
  instruction: `put a clean ${id} in cabinet`,
  room: `room ${id}`,
  family: 'pick_clean_then_place_in_recep',
  parent: null,
  generated: false,
  visits,
  lastSuccess: visits ? 0.5 : null,
  variance: visits ? 0.25 : null,
  task: taskNamed(id),
});

export const trajectoryOf = (iteration: number, action = 'take cup 1 from shelf 1'): Trajectory => ({
  task: taskNamed('cup'),
  source: 'imagined',
  firstObservation: 'you see a shelf 1',
  turns: [
    {
      thought: 'a cup may be on a shelf',
      action,
      actionTokens: [5, 6, iteration],
      actionLogProbs: [-0.1, -0.25, -1.5],
      observation: 'you carry cup 1',
      reasoning: 'it was on the shelf',
      reward: 1,
      done: true,
      valid: true,
    },
  ],
  return: 1,
  success: true,
  truncated: false,
  lost: false,
  group: 0,
  advantage: 0.7,
});

export const transition = (id: number): Transition => ({
  id,
  source: 'imagined',
  episode: `episode ${id}`,
  room: 'room cup',
  task: 'put a clean cup in cabinet',
  state: `state ${id}`,
  action: 'go to shelf 1',
  nextState: `state ${id + 1}`,
  reward: 0,
});

export const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

function tensors(seed: number): Map<string, Float32Array> {
  const draws = new Draws(seed);
  return new Map([
    ['embedding', Float32Array.from({ length: 24 }, () => draws.next() - 0.5)],
    ['layers.0.q', Float32Array.from({ length: 9 }, () => draws.next() - 0.5)],
  ]);
}

/** The commit after `iteration` iterations of run `runId`. */
export async function snapshotAt(
  iteration: number,
  buffer: BufferChanges,
  { runId = 'run-a', savedAt = `2026-01-01T00:00:${String(iteration).padStart(2, '0')}.000Z` } = {},
): Promise<RunSnapshot> {
  const weights = tensors(iteration + 1);
  return {
    format: 1,
    runId,
    created: '2026-01-01T00:00:00.000Z',
    savedAt,
    adapter: 'test adapter',
    config: presets['household-quick'],
    iteration,
    phase: 'running',
    policy: { step: iteration * 2, weights, moments1: tensors(iteration + 1000), moments2: tensors(iteration + 2000) },
    weightsHash: await weightsHash(weights),
    buffer,
    pool: [storedTask('cup', iteration), ...range(0, iteration).map((i) => storedTask(`mug ${i}`))],
    metrics: range(1, iteration + 1).map(metricsAt),
    evaluations: range(0, iteration + 1)
      .filter((i) => i % 2 === 0)
      .map(evaluationAt),
    measurementSteps: iteration * 7,
    rollouts: iteration === 0 ? [] : [trajectoryOf(iteration)],
  };
}

/** Three added in every iteration; from the second on, the oldest goes. */
export const steadyChanges = (iteration: number): BufferChanges => ({
  added: range(iteration * 3, iteration * 3 + 3).map(transition),
  removed: iteration >= 2 ? [iteration - 2] : [],
  nextId: iteration * 3 + 3,
});
