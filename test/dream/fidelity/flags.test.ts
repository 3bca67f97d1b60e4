import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type FlaggedMetrics, fidelityFlags, fidelityNumbers, fidelityOf, newFlags } from '../../../src/dream/fidelity';
import { DreamLoop } from '../../../src/dream/loop';
import type { LoopParts } from '../../../src/dream/loop-parts';
import { resolveConfig } from '../../../src/dream/presets';
import type { IterationMetrics, RunConfig, RunEvent, RunRecord } from '../../../src/worker/protocol';
import { cpuAdvantages } from '../../rl/cpu-advantages';
import { cpuTopK } from '../cpu-top-k';
import { KnowingModel, type Manners, TableModel } from '../fake-models';
import { fakeDomain } from '../fake-world';

const healthy: FlaggedMetrics = {
  iteration: 1,
  trainReward: 0.3,
  replayPrecision: 0.8,
  replayTrue: 24,
  replayFalse: 6,
  replaySuccess: 0.28,
  admissibility: 0.97,
  lostShare: 0.01,
  contradictionRate: 0.03,
  successClaims: 0.08,
  realSuccessesPerStep: 0.06,
};
const run = (...changes: Partial<FlaggedMetrics>[]) =>
  changes.map((change, i): FlaggedMetrics => ({ ...healthy, iteration: i + 1, ...change }));
const kinds = (metrics: readonly FlaggedMetrics[]) => fidelityFlags(metrics).map(({ kind }) => kind);

describe('flags', () => {
  it('a healthy run has none', () => expect(kinds(run({}, {}, {}, {}))).toEqual([]));

  it.each([
    ['always-success', { successClaims: 0.95 }],
    ['always-success', { successClaims: 0.95, realSuccessesPerStep: null }],
    ['false-successes', { replayPrecision: 0.25, replayTrue: 5, replayFalse: 15 }],
    ['foreign-observations', { admissibility: 0.5 }],
    ['many-lost', { lostShare: 0.4 }],
    ['self-contradiction', { contradictionRate: 0.5 }],
    ['missed-successes', { replaySuccess: 0.6 }],
  ] as const)('%s', (kind, change) => {
    const [flag] = fidelityFlags(run({}, change));
    expect(flag).toMatchObject({ kind, iteration: 2 });
    expect(flag.message).toMatch(/[.:]/);
    expect(flag.advice).not.toBe('');
    expect(kinds(run(change, {}))).toEqual([]);
  });

  it('dreamed reward that rises while the truth falls', () => {
    const hacked = run(
      { trainReward: 0.25, replayTrue: 21, replayFalse: 11 },
      { trainReward: 0.3, replayTrue: 20, replayFalse: 12 },
      { trainReward: 0.4, replayTrue: 22, replayFalse: 20, replayPrecision: 0.52 },
      { trainReward: 0.5, replayTrue: 22, replayFalse: 30, replayPrecision: 0.5 },
    );
    expect(kinds(hacked.slice(0, 3))).toEqual([]);
    expect(kinds(hacked)).toEqual(['reward-outruns-truth']);
    expect(fidelityFlags(hacked)[0].message).toMatch(/rose by 18 points .* from 64 % to 47 %/);
  });

  it('too little evidence raises nothing', () => {
    expect(kinds(run({ replayPrecision: 0, replayTrue: 0, replayFalse: 3 }))).toEqual([]);
  });

  it('an easy world may succeed at every second step', () => {
    expect(kinds(run({ successClaims: 0.5, realSuccessesPerStep: 0.48 }))).toEqual([]);
  });

  it('are silent once a run practises in the real world, and said once', () => {
    const real = { replayPrecision: null, replaySuccess: null, successClaims: null, contradictionRate: null };
    expect(kinds(run({ lostShare: 0.5 }, real))).toEqual([]);
    expect(newFlags(run({}, { lostShare: 0.5 }))).toHaveLength(1);
    expect(newFlags(run({ lostShare: 0.5 }, { lostShare: 0.5 }))).toEqual([]);
  });

  it('old runs without the newer numbers still have the older alarms', () => {
    const { replaySuccess: _a, admissibility: _b, lostShare: _c, successClaims: _d, ...old } = healthy;
    expect(kinds([{ ...old, replayPrecision: 0.2, replayTrue: 4, replayFalse: 16 }])).toEqual(['false-successes']);
  });
});

describe('of recorded runs', () => {
  const recorded = (name: string) =>
    JSON.parse(readFileSync(new URL(`../../../bench/results/${name}.json`, import.meta.url), 'utf8')) as RunRecord;

  it.each([1, 2, 3])('the honest one of seed %i raised no alarm in 50 iterations', (seed) => {
    const record = recorded(`household-tiny-dream-seed${seed}`);
    expect(fidelityOf(record)).toMatchObject({ alarmedIterations: 0, flags: [] });
    // Its dreamed success ranks its checkpoints as the real world does.
    expect(fidelityOf(record)!.rankCorrelation).toBeGreaterThan(0.8);
  });

  it('the one without checks was hacked, and the alarm stood eight iterations before the run was stopped', () => {
    const record = recorded('household-tiny-dream-seed1-unchecked');
    expect(fidelityFlags(record.metrics.slice(0, 1)).map(({ kind }) => kind)).toEqual(['self-contradiction']);
    expect(fidelityOf(record)).toMatchObject({ firstAlarm: 5, iteration: 13 });
    expect(fidelityOf(record)!.flags.map(({ kind }) => kind)).toEqual([
      ...['false-successes', 'reward-outruns-truth', 'self-contradiction'],
    ]);
  });
});

async function dream(changes: Partial<RunConfig>, manners: Manners = {}) {
  const events: RunEvent[] = [];
  const parts: LoopParts = {
    policy: new TableModel(),
    experience: new KnowingModel(manners),
    domain: fakeDomain(),
    kernels: { advantages: cpuAdvantages, topK: cpuTopK },
    store: null,
    adapter: 'plain code',
    gpuBytes: () => 0,
    emit: (event) => events.push(event),
  };
  const config = resolveConfig({
    ...{ seed: 7, iterations: 2, tasksPerIteration: 6, groupSize: 6, maxSteps: 4, learningRate: 1e-3, lambda: 0.4 },
    ...{ evalEvery: 1, evalTasks: 30, bufferCapacity: 200 },
    ...changes,
  });
  const loop = DreamLoop.fresh(parts, config, 'run');
  await loop.run();
  const warnings = events.flatMap((event) =>
    event.type === 'notice' && event.level === 'warning' ? [event.message] : [],
  );
  return { metrics: loop.state.metrics as IterationMetrics[], warnings, record: loop.state.record() };
}

describe('an experience model that always says success', () => {
  it.each([
    ['every check off', { goalCheck: false, stepCheck: false, minReplayPrecision: 0 }],
    ['every check on', { goalCheck: true, stepCheck: true, minReplayPrecision: 0.4 }],
  ])('is flagged within two iterations, with %s, and the page is told', async (_, checks) => {
    const { metrics, warnings, record } = await dream(checks, { liar: true });
    const first = fidelityFlags(metrics.slice(0, 1)).map(({ kind }) => kind);
    expect(first).toContain('always-success');
    if (!checks.goalCheck) expect(first).toContain('false-successes');
    expect(metrics[0].successClaims).toBe(1);
    expect(warnings.some((message) => /^The dream calls 100 % of all valid steps a success/.test(message))).toBe(true);
    // Said when it begins, not at every iteration.
    expect(warnings.filter((message) => message.includes('of all valid steps'))).toHaveLength(1);
    expect(fidelityOf(record)).toMatchObject({ firstAlarm: 1, alarmedIterations: 2 });
  });

  it('a model that knows the rules raises no alarm', async () => {
    const { metrics, warnings, record } = await dream({ iterations: 6 });
    expect(metrics.flatMap((_, i) => fidelityFlags(metrics.slice(0, i + 1)))).toEqual([]);
    expect(warnings).toEqual([]);
    const summary = fidelityOf(record)!;
    expect(summary).toMatchObject({ rewardError: 0, nextStateAccuracy: 1, nextWordAccuracy: 1, bound: 0, departed: 0 });
    expect(summary).toMatchObject({ replayGap: 0, alarmedIterations: 0, firstAlarm: null, lostShare: 0 });
    expect(summary.checkpoints.map(({ iteration }) => iteration)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(summary.rankCorrelation).toBeGreaterThan(0.3);
    expect(fidelityNumbers(summary)).toMatchObject({ rewardError: 0, flags: 0, firstAlarm: null });
    // All plain numbers: they go into tables and files.
    for (const value of Object.values(fidelityNumbers(summary)))
      expect(value === null || Number.isFinite(value)).toBe(true);
  });

  it('a run in the real world has no fidelity', async () => {
    const { record } = await dream({ rollouts: 'real' });
    expect(fidelityOf(record)).toBeNull();
    expect(record.metrics[0]).not.toHaveProperty('admissibility');
  });
});
