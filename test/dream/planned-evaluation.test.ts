import { describe, expect, it } from 'vitest';
import { evaluatePlanned, offlineBuffer } from '../../src/dream/planned-evaluation';
import type { PlanningRequest } from '../../src/dream/planning';
import { ReplayBuffer } from '../../src/dream/replay-buffer';
import { cpuTopK } from './cpu-top-k';
import { KnowingModel, TableModel } from './fake-models';
import { encode, fakeDomain, task } from './fake-world';

const request = (changes: Partial<PlanningRequest> = {}): PlanningRequest => ({
  policy: new TableModel(),
  dream: {
    model: new KnowingModel(),
    buffer: new ReplayBuffer(10),
    topK: cpuTopK,
    retrievalTopK: 0,
    temperature: 1,
    goalCheck: false,
    stepCheck: false,
  },
  domain: { ...fakeDomain(), told: (_t, _f, _b, step) => encode(`${step.observation} r${step.reward}`) },
  tasks: Array.from({ length: 30 }, (_, i) => task('a', ['red', 'blue'][i % 2])),
  candidates: 4,
  lookahead: 0,
  maxSteps: 4,
  temperature: 1,
  seed: 3,
  ...changes,
});

describe('the planned examination', () => {
  it('counts successes with their interval, the steps, and how often the plan overruled', async () => {
    const fractions: number[] = [];
    const found = await evaluatePlanned(request({ onTurn: (f) => void fractions.push(f) }));
    const successes = [...found.outcomes].filter((o) => o === '1').length;
    expect(found.rate).toMatchObject({ rate: successes / 30, episodes: 30 });
    expect(found.rate.low).toBeLessThan(found.rate.rate);
    expect(found.outcomes).toMatch(/^[01]{30}$/);
    expect(found.changed).toBeGreaterThan(0);
    expect(found.changed).toBeLessThan(1);
    expect(found.imaginedSteps).toBeGreaterThan(0);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    const alone = await evaluatePlanned(request({ candidates: 1 }));
    expect(alone.changed).toBe(0);
    expect(found.rate.rate).toBeGreaterThan(alone.rate.rate);
  });

  it('plays in waves where streams are few, no task twice', async () => {
    let most = 0;
    const policy = new TableModel();
    const sessions = policy.sessions.bind(policy);
    policy.sessions = (count) => {
      most = Math.max(most, count);
      return sessions(count);
    };
    const found = await evaluatePlanned(request({ policy }), 12);
    expect(most).toBeLessThanOrEqual(12);
    expect(found.outcomes).toHaveLength(30);
    expect(await evaluatePlanned(request({ policy }), 12)).toEqual(found);
  });

  it('has an answer for no tasks', async () => {
    expect(await evaluatePlanned(request({ tasks: [] }))).toMatchObject({ outcomes: '', changed: 0, realSteps: 0 });
  });

  it('remembers what a new run would', () => {
    expect(offlineBuffer(fakeDomain()).size).toBe(6);
  });
});
