/**
 * @file A made-up run with the shape of a real one, for tests of the page and for working on its looks.
 *
 * It is never shipped: its numbers come from a formula, not from training, and its adapter says so.
 */
import type { Trajectory, Turn } from '../../src/data/trajectory';
import { presets } from '../../src/dream/presets';
import type { Evaluation, IterationMetrics, PoolTask, Rate, RunRecord } from '../../src/worker/protocol';

/** Mulberry32: small, seeded, good enough for pictures. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  };
}

function rate(value: number, episodes: number): Rate {
  const half = 1.96 * Math.sqrt((value * (1 - value)) / episodes);
  return { rate: value, low: Math.max(0, value - half), high: Math.min(1, value + half), episodes };
}

const room =
  'room cabinet 2 cabinet 1 countertop 1 fridge 1 garbagecan 1 microwave 1 shelf 2 shelf 1 sidetable 1 sinkbasin 1';

function turn(
  next: () => number,
  thought: string,
  action: string,
  observation: string,
  rest: Partial<Turn> = {},
): Turn {
  const tokens = `${thought} ${action}`.split(' ').length;
  return {
    thought,
    action,
    actionTokens: Array.from({ length: tokens }, (_, i) => 14 + i),
    actionLogProbs: Array.from({ length: tokens }, () => Math.log(Math.max(0.02, 1 - next() ** 3))),
    observation,
    reasoning: '',
    reward: 0,
    done: false,
    valid: true,
    ...rest,
  };
}

function trajectory(next: () => number, group: number, good: boolean): Trajectory {
  const object = ['mug', 'cup', 'plate', 'apple'][group % 4];
  const place = ['cabinet', 'shelf', 'sidetable', 'countertop'][(group >> 1) % 4];
  const instruction = `put a clean ${object} in ${place}`;
  const task = {
    id: `small-${group + 3}: ${instruction}`,
    instruction,
    room: `small-${group + 3}`,
    family: 'pick_clean_then_place_in_recep',
    firstObservation: room,
    data: null,
  };
  const em = (where: string, hold: string) => `at ${where} hold ${hold} valid yes`;
  const turns: Turn[] = [
    turn(next, `hold nothing object ${object}`, 'go to shelf 1', `at shelf 1 see ${object} 1 pan 2`, {
      reasoning: em('shelf 1', 'nothing'),
    }),
    turn(next, `hold nothing object ${object} 1`, `take ${object} 1 from shelf 1`, `take ${object} 1 from shelf 1`, {
      reasoning: em('shelf 1', `${object} 1`),
    }),
    turn(next, `hold ${object} 1 clean no`, 'go to sinkbasin 1', 'at sinkbasin 1 see nothing', {
      reasoning: em('sinkbasin 1', `${object} 1`),
    }),
  ];
  if (!good) {
    turns.push(
      turn(next, `hold ${object} 1 clean no`, `heat ${object} 1 with sinkbasin 1`, 'nothing happens', {
        valid: false,
        reasoning: `at sinkbasin 1 hold ${object} 1 valid action no`,
      }),
    );
    turns.push(
      turn(next, `hold ${object} 1 clean no`, `go to ${place} 1`, `at ${place} 1 see soapbar 1`, {
        reasoning: em(`${place} 1`, `${object} 1`),
      }),
    );
    turns.push(
      turn(next, `hold ${object} 1 clean no`, `put ${object} 1 in ${place} 1`, `put ${object} 1 in ${place} 1`, {
        done: true,
        reasoning: `at ${place} 1 hold nothing valid yes object yes place yes clean no`,
      }),
    );
  } else {
    turns.push(
      turn(
        next,
        `hold ${object} 1 clean no`,
        `clean ${object} 1 with sinkbasin 1`,
        `clean ${object} 1 with sinkbasin 1`,
        { reasoning: em('sinkbasin 1', `${object} 1`) },
      ),
    );
    turns.push(
      turn(next, `hold ${object} 1 clean yes`, `go to ${place} 1`, `at ${place} 1 see soapbar 1`, {
        reasoning: em(`${place} 1`, `${object} 1`),
      }),
    );
    turns.push(
      turn(next, `hold ${object} 1 clean yes`, `put ${object} 1 in ${place} 1`, `put ${object} 1 in ${place} 1`, {
        reward: 1,
        done: true,
        reasoning: `at ${place} 1 hold nothing valid yes object yes place yes clean yes`,
      }),
    );
  }
  const fooled = good && next() < 0.15;
  return {
    task,
    source: 'imagined',
    firstObservation: room,
    turns,
    return: good ? 1 : 0,
    success: good,
    truncated: false,
    lost: false,
    group,
    advantage: good ? 0.9 : -0.8,
    replay: { success: good && !fooled, firstMismatch: fooled ? 3 : -1 },
  };
}

export function fixtureRun(iterations = 30, seed = 1): RunRecord {
  const next = random(seed);
  const metrics: IterationMetrics[] = [];
  const evaluations: Evaluation[] = [];
  const rollouts: RunRecord['rollouts'] = [];
  const learned = (i: number) => 1 - Math.exp(-i / 9);
  const evaluate = (iteration: number): Evaluation => ({
    iteration,
    atRolloutTemperature: rate(0.22 + 0.3 * learned(iteration) + 0.03 * (next() - 0.5), 200),
    atLowTemperature: rate(0.39 + 0.19 * learned(iteration) + 0.03 * (next() - 0.5), 200),
  });
  evaluations.push(evaluate(0));
  for (let i = 1; i <= iterations; i++) {
    const success = Math.min(0.9, 0.25 + 0.4 * learned(i) + 0.12 * (next() - 0.5));
    const all = Math.round(success * 128);
    const precision = Math.max(0.4, 0.82 - 0.004 * i + 0.2 * (next() - 0.5));
    const evaluation = i % 5 === 0 ? evaluate(i) : undefined;
    if (evaluation) evaluations.push(evaluation);
    metrics.push({
      iteration: i,
      trainReward: success,
      replayPrecision: precision,
      replayTrue: Math.round(all * precision),
      replayFalse: all - Math.round(all * precision),
      rewardError: 0.08 + 0.06 * next(),
      nextStateAccuracy: 0.84 + 0.04 * next(),
      loss: 0.02 * (next() - 0.5),
      entropy: 0.62 - 0.25 * learned(i) + 0.03 * next(),
      kl: 0.004 + 0.01 * next(),
      clipFraction: 0.05 + 0.05 * next(),
      gradNorm: 0.4 + 0.2 * next(),
      logProbGap: 0.001 * next(),
      groupStd: 0.3 + 0.1 * next(),
      zeroVarianceGroups: Math.floor(5 * next()),
      validActionRate: 0.8 + 0.15 * learned(i),
      meanTurns: 13 - 3 * learned(i) + next(),
      malformed: Math.floor(3 * next()),
      syntheticShare: 0.2,
      taskDifficulty: 0.15 + 0.05 * next(),
      tasksGenerated: 4 * i,
      bufferSize: 12_000 + 260 * i,
      realTransitions: 0,
      dreamedTransitions: i * 1480,
      generateTokensPerSecond: 2800 + 400 * next(),
      trainTokensPerSecond: 5200 + 600 * next(),
      gpuBytes: 310 * 1024 * 1024,
      seconds: 50 + 10 * next(),
      evaluation,
    });
    rollouts.push({
      iteration: i,
      trajectories: Array.from({ length: 8 }, (_, k) => trajectory(next, (k >> 2) + 2 * (i % 3), next() < success)),
    });
  }
  const tasks: PoolTask[] = Array.from({ length: 60 }, (_, i) => {
    const example = trajectory(next, i, true).task;
    const success = i % 7 === 0 ? null : next();
    return {
      id: `${example.id}#${i}`,
      instruction: example.instruction,
      room: example.room,
      family: example.family,
      parent: i < 40 ? null : `small-${(i % 40) + 3}: parent`,
      generated: i >= 40,
      visits: success === null ? 0 : 1 + Math.floor(6 * next()),
      lastSuccess: success,
      variance: success === null ? null : success * (1 - success),
    };
  });
  return {
    format: 'dreamgym-run',
    version: 1,
    runId: 'fixture',
    created: '2026-01-01T00:00:00.000Z',
    adapter: 'made up for tests',
    config: { ...presets['household-tiny'], iterations },
    metrics,
    evaluations,
    rollouts,
    tasks,
    weightsHash: null,
  };
}
