import { describe, expect, it } from 'vitest';
import { DreamLoop } from '../../src/dream/loop';
import type { LoopParts } from '../../src/dream/loop-parts';
import { resolveConfig } from '../../src/dream/presets';
import type { RunStore } from '../../src/dream/run-store';
import { type DreamNeeds, engineDreams } from '../../src/dream/text-models';
import { neutralSettings } from '../../src/rl/algorithms';
import type { IterationMetrics, RunConfig, RunEvent } from '../../src/worker/protocol';
import { cpuAdvantages } from '../rl/cpu-advantages';
import { cpuTopK } from './cpu-top-k';
import { KnowingModel, type Manners, TableModel } from './fake-models';
import { fakeDomain } from './fake-world';
import { MemoryStore } from './memory-store';

const config = (changes: Partial<RunConfig> = {}) =>
  resolveConfig({
    seed: 7,
    iterations: 6,
    tasksPerIteration: 6,
    groupSize: 6,
    maxSteps: 4,
    learningRate: 1e-3,
    lambda: 0.4,
    evalEvery: 3,
    evalTasks: 30,
    bufferCapacity: 200,
    ...changes,
  });

function setUp(manners: Manners = {}, store: RunStore | null = new MemoryStore()) {
  const events: RunEvent[] = [];
  const policy = new TableModel();
  const experience = new KnowingModel(manners);
  const parts: LoopParts = {
    policy,
    experience,
    domain: fakeDomain(),
    kernels: { advantages: cpuAdvantages, topK: cpuTopK },
    store,
    adapter: 'plain code',
    gpuBytes: () => 123,
    emit: (event) => events.push(structuredClone(event)),
  };
  return { parts, events, policy, experience };
}

/** Everything but wall-clock numbers. */
const timeless = (metrics: IterationMetrics[]) =>
  metrics.map(({ seconds: _s, generateTokensPerSecond: _g, trainTokensPerSecond: _t, ...rest }) => rest);

async function run(changes: Partial<RunConfig> = {}, manners: Manners = {}) {
  const context = setUp(manners);
  const loop = DreamLoop.fresh(context.parts, config(changes), 'run');
  await loop.run();
  return { ...context, loop, state: loop.state };
}

describe('a dreamed run', () => {
  it('may be dreamed by someone else: the same dream gives the same run', async () => {
    const own = await run({ iterations: 2 });
    const { parts } = setUp();
    const asked: DreamNeeds[] = [];
    const dreamer = engineDreams(parts.experience, parts.domain);
    parts.openDream = (needs) => {
      asked.push(needs);
      return dreamer(needs);
    };
    parts.experience = new KnowingModel({ malformed: 1 }); // must not be asked to dream
    const loop = DreamLoop.fresh(parts, config({ iterations: 2, lambda: 0 }), 'run');
    await loop.run();
    expect(asked).toHaveLength(2);
    expect(asked[0]).toMatchObject({ temperature: loop.state.config.experienceTemperature, goalCheck: true });
    expect(loop.state.metrics[0].trainReward).toBe(own.state.metrics[0].trainReward);
    expect(loop.state.metrics[0].malformed).toBe(0);
  });

  it('learns in the real world it never touched', async () => {
    const { state, loop, events } = await run({ iterations: 12 });
    expect(loop.phase).toBe('finished');
    const [before] = state.evaluations;
    const after = state.evaluations.at(-1)!;
    expect(before.iteration).toBe(0);
    expect(after.iteration).toBe(12);
    expect(after.atRolloutTemperature.rate).toBeGreaterThan(before.atRolloutTemperature.rate + 0.25);
    expect(after.atRolloutTemperature).toMatchObject({ episodes: 30 });

    const last = state.metrics.at(-1)!;
    expect(last).toMatchObject({ realTransitions: 0, malformed: 0, lostEpisodes: 0, gpuBytes: 123 });
    expect(last.dreamedTransitions).toBeGreaterThan(0);
    expect(last.tasksGenerated).toBeGreaterThan(0);
    expect(last.measurementSteps).toBeGreaterThan(0);
    // This experience model knows the rules, so the audit finds nothing.
    expect(state.metrics.map((m) => m.rewardError)).toEqual(state.metrics.map(() => 0));
    expect(state.metrics.map((m) => m.nextStateAccuracy)).toEqual(state.metrics.map(() => 1));
    expect(events.filter((e) => e.type === 'iteration')).toHaveLength(12);
    expect(events.filter((e) => e.type === 'evaluation').map((e) => e.evaluation.iteration)).toEqual([0, 3, 6, 9, 12]);
  });

  it('twice with one seed is the same run; with another it is not', async () => {
    const [a, b, c] = [await run(), await run(), await run({ seed: 8 })];
    expect(timeless(a.state.metrics)).toEqual(timeless(b.state.metrics));
    expect(a.state.weightsHash).toBe(b.state.weightsHash);
    expect(a.state.weightsHash).toMatch(/^[0-9a-f]{64}$/);
    expect(c.state.weightsHash).not.toBe(a.state.weightsHash);
  });

  it('never trains on an evaluation, a replay or a lost episode', async () => {
    const { policy, state } = await run({ iterations: 3 }, { malformed: 0.3 });
    const learned = policy.trained.reduce((sum, call) => sum + call.sequences.length, 0);
    expect(state.metrics.reduce((sum, m) => sum + m.lostEpisodes!, 0)).toBeGreaterThan(0);
    const finished = state.metrics.reduce((sum, m) => sum + 36 - m.lostEpisodes!, 0);
    expect(learned).toBeLessThanOrEqual(finished);
    expect(learned).toBeGreaterThan(0);
  });

  it('values tasks by their cluster where each is tried once', async () => {
    const once = { algorithm: 'reinforce++', groupSize: 1, tasksPerIteration: 24, iterations: 3 } as const;
    const { state } = await run(once);
    // The fake embeds everything alike: one cluster, one variance, and new tasks although no task has a group.
    expect(state.metrics.at(-1)!.taskDifficulty).toBeGreaterThan(0);
    expect(state.metrics.at(-1)!.tasksGenerated).toBeGreaterThan(0);
    const visited = state.pool.tasks().filter((entry) => entry.visits > 0);
    expect(visited.some((entry) => entry.lastSuccess === 0 && entry.variance! > 0)).toBe(true);
    expect(visited.every((entry) => entry.history!.at(-1)!.variance === entry.variance)).toBe(true);
    const [again] = [await run(once)];
    expect(again.state.weightsHash).toBe(state.weightsHash);
  });

  it('may keep of each parent the most challenging variant alone', async () => {
    const { state } = await run({ taskSelection: 'most-challenging', taskCandidates: 3, iterations: 4 });
    const generated = state.pool.tasks().filter((entry) => entry.generated);
    expect(generated.length).toBeGreaterThan(0);
    expect(state.metrics.at(-1)!.tasksGenerated).toBe(generated.length);
  });

  it('keeps to lambda: generated tasks never exceed their share', async () => {
    const { state } = await run({ iterations: 8 });
    expect(Math.max(...state.metrics.map((m) => m.syntheticShare))).toBeCloseTo(2 / 6);
    const none = await run({ iterations: 3, lambda: 0 });
    expect(none.state.metrics.at(-1)).toMatchObject({ syntheticShare: 0, tasksGenerated: 0 });
  });
});

describe('the same loop in the real world', () => {
  it('counts real transitions and audits nothing', async () => {
    const { state } = await run({ rollouts: 'real' });
    const last = state.metrics.at(-1)!;
    expect(last.realTransitions).toBeGreaterThan(0);
    expect(last).toMatchObject({ dreamedTransitions: 0, replayPrecision: null, rewardError: null });
    expect(state.evaluations.at(-1)!.atRolloutTemperature.rate).toBeGreaterThan(
      state.evaluations[0].atRolloutTemperature.rate,
    );
  });
});

describe('sim-to-real', () => {
  it('dreams, then polishes in the real world within its budget, counted apart', async () => {
    const { state } = await run({ realIterations: 2, realBudget: 60, iterations: 5 });
    const real = state.metrics.map((m) => m.realTransitions);
    expect(real.slice(0, 3)).toEqual([0, 0, 0]);
    expect(real.at(-1)).toBeGreaterThan(0);
    expect(real.at(-1)).toBeLessThanOrEqual(60);
    expect(state.metrics.at(-1)!.dreamedTransitions).toBe(state.metrics[2].dreamedTransitions);
    // The end of the dream is examined, so that it can be compared with the end of the run.
    expect(state.evaluations.map((e) => e.iteration)).toContain(3);
    expect(state.evaluations.at(-1)!.iteration).toBe(state.iteration);
  });
});

describe('an interrupted run', () => {
  it('resumed after any iteration ends bit-identical', async () => {
    const whole = await run({ bufferCapacity: 100 }, { malformed: 0.05 });
    for (const cut of [0, 1, 4]) {
      const store = new MemoryStore();
      const first = setUp({ malformed: 0.05 }, store);
      const killed = DreamLoop.fresh(first.parts, config({ bufferCapacity: 100 }), 'run');
      // Stops in the middle of the iteration after the cut.
      first.parts.emit = (event) => {
        if (event.type === 'progress' && event.progress.iteration === cut && event.progress.phase === 'learning')
          killed.control.stop();
      };
      await killed.run();
      expect(killed.phase).toBe('stopped');
      expect(store.commits.at(-1)!.iteration).toBe(cut);

      const second = setUp({ malformed: 0.05 }, store);
      const resumed = await DreamLoop.restore(second.parts, (await store.load('run'))!);
      await resumed.run();
      expect(resumed.state.weightsHash).toBe(whole.state.weightsHash);
      expect(timeless(resumed.state.metrics)).toEqual(timeless(whole.state.metrics));
      expect(resumed.state.buffer.transitions()).toEqual(whole.state.buffer.transitions());
      expect(resumed.state.pool.tasks()).toEqual(whole.state.pool.tasks());
      expect(resumed.state.record().rollouts).toEqual(whole.state.record().rollouts);
      // What the store has put together from its increments is what the run holds.
      expect((await store.load('run'))!.buffer.transitions).toEqual(whole.state.buffer.transitions());
    }
  });

  it('with a KL cost resumes against the same reference', async () => {
    const changes = { klCoef: 0.05, iterations: 4 };
    const whole = await run(changes);
    const store = new MemoryStore();
    const first = setUp({}, store);
    const killed = DreamLoop.fresh(first.parts, config(changes), 'run');
    first.parts.emit = (event) => {
      if (event.type === 'iteration' && event.metrics.iteration === 2) killed.control.stop();
    };
    await killed.run();
    const second = setUp({}, store);
    const resumed = await DreamLoop.restore(second.parts, (await store.load('run'))!);
    await resumed.run();
    const references = (model: TableModel) =>
      model.trained.slice(-1).map((call) => call.sequences.map((s) => Array.from(s.refLogProbs!)));
    expect(references(second.policy)).toEqual(references(whole.policy));
    expect(resumed.state.weightsHash).toBe(whole.state.weightsHash);
  });

  it('whose disk was full says so and goes on from the last commit', async () => {
    const whole = await run();
    const store = new MemoryStore();
    store.failAt = 3;
    const first = setUp({}, store);
    const loop = DreamLoop.fresh(first.parts, config(), 'run');
    await expect(loop.run()).rejects.toMatchObject({ code: 'storage-full' });
    expect(first.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'storage-full' } });
    // The iteration that could not be kept was never shown as done.
    expect(first.events.filter((e) => e.type === 'iteration')).toHaveLength(2);
    const second = setUp({}, store);
    const resumed = await DreamLoop.restore(second.parts, (await store.load('run'))!);
    await resumed.run();
    expect(resumed.state.weightsHash).toBe(whole.state.weightsHash);
  });

  it('refuses weights that do not match their checksum', async () => {
    const { parts } = await run({ iterations: 2 });
    const stored = (await parts.store!.load('run'))!;
    stored.policy.weights.get('logits')![5] += 1;
    await expect(DreamLoop.restore(setUp().parts, stored)).rejects.toMatchObject({ code: 'corrupt-run' });
  });

  it('can be lengthened, and moved to the real world', async () => {
    const { parts } = await run({ iterations: 2 });
    const stored = (await parts.store!.load('run'))!;
    const loop = await DreamLoop.restore(setUp().parts, stored, { iterations: 4, rollouts: 'real' });
    await loop.run();
    const [, second, third] = loop.state.metrics;
    expect(loop.state.iteration).toBe(4);
    expect(second.realTransitions).toBe(0);
    expect(third.realTransitions).toBeGreaterThan(0);
    expect(third.dreamedTransitions).toBe(second.dreamedTransitions);
  });
});

describe('methods in the loop', () => {
  it('groups without signal are played again with other tasks, and everything played is remembered', async () => {
    const seed = { iterations: 2, groupSize: 2, tasksPerIteration: 6, lambda: 0 };
    const plain = await run(seed);
    const more = await run({ ...seed, algorithm: 'dapo', resampleRounds: 2 });
    const [before, after] = [plain, more].map(({ state }) => state.metrics[0]);
    expect(before.redrawnGroups).toBeUndefined();
    // Two rollouts of a policy that wins one time in three often end alike.
    expect(before.zeroVarianceGroups).toBeGreaterThan(0);
    expect(after.redrawnGroups).toBeGreaterThanOrEqual(before.zeroVarianceGroups);
    expect(after.dreamedTransitions).toBeGreaterThan(before.dreamedTransitions);
    const visits = (state: typeof plain.state) => state.pool.tasks().reduce((sum, task) => sum + task.visits, 0);
    expect(visits(more.state)).toBe(
      visits(plain.state) + more.state.metrics.reduce((sum, m) => sum + (m.redrawnGroups ?? 0), 0),
    );
    // No more rounds than allowed, and the same again from the same seed.
    expect(after.redrawnGroups).toBeLessThanOrEqual(2 * 6);
    const again = await run({ ...seed, algorithm: 'dapo', resampleRounds: 2 });
    expect(again.state.weightsHash).toBe(more.state.weightsHash);
  });

  it('a steered KL coefficient survives a crash', async () => {
    const changes = { iterations: 4, klCoef: 0.05, klTarget: 0.001, klHorizon: 50, klPlacement: 'reward' as const };
    const whole = await run(changes);
    const coefficients = whole.state.metrics.map((m) => m.klCoef!);
    expect(new Set(coefficients).size).toBe(4);
    const store = new MemoryStore();
    const first = setUp({}, store);
    const killed = DreamLoop.fresh(first.parts, config(changes), 'run');
    first.parts.emit = (event) => {
      if (event.type === 'iteration' && event.metrics.iteration === 2) killed.control.stop();
    };
    await killed.run();
    const resumed = await DreamLoop.restore(setUp({}, store).parts, (await store.load('run'))!);
    await resumed.run();
    expect(resumed.state.metrics.map((m) => m.klCoef)).toEqual(coefficients);
    expect(resumed.state.weightsHash).toBe(whole.state.weightsHash);
  });

  it('a run stored before the settings existed goes on as it was', async () => {
    const whole = await run({ iterations: 3 });
    const { parts } = await run({ iterations: 2 });
    const stored = (await parts.store!.load('run'))!;
    const old: Record<string, unknown> = { ...stored.config, iterations: 3 };
    for (const key of Object.keys(neutralSettings)) delete old[key];
    delete old.algorithm;
    const loop = await DreamLoop.restore(setUp().parts, { ...stored, config: old as unknown as RunConfig });
    await loop.run();
    expect(loop.state.config).toEqual(whole.state.config);
    expect(loop.state.metrics).toHaveLength(3);
  });

  it('ends with advice when three updates in a row are not numbers, the last good iteration kept', async () => {
    const store = new MemoryStore();
    const { parts, policy, events } = setUp({}, store);
    const trainStep = policy.trainStep.bind(policy);
    let calls = 0;
    policy.trainStep = async (sequences, loss, optimizer) => {
      const stats = await trainStep(sequences, loss, optimizer);
      return { ...stats, applied: ++calls <= 3 };
    };
    const loop = DreamLoop.fresh(parts, config(), 'run');
    await expect(loop.run()).rejects.toMatchObject({ code: 'training-diverged' });
    // Two updates an iteration: the second one's last was the first to fail, the third one's second the third.
    expect(loop.state.iteration).toBe(2);
    expect(loop.state.metrics.at(-1)).toMatchObject({ skippedUpdates: 1, skippedInARow: 1 });
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'training-diverged' } });
    expect((await store.load('run'))!.iteration).toBe(2);
  });
});

describe('control', () => {
  it('steps one iteration at a time and pauses in between without changing the run', async () => {
    const whole = await run({ iterations: 3 });
    const { parts, events } = setUp();
    const loop = DreamLoop.fresh(parts, config({ iterations: 3 }), 'run');
    const halted = () => events.filter((e) => e.type === 'progress' && e.progress.phase === 'paused').length;
    loop.control.step();
    const running = loop.run();
    for (let i = 1; i <= 2; i++) {
      while (halted() < i) await new Promise((resolve) => setTimeout(resolve, 1));
      expect(loop.state.iteration).toBe(i);
      loop.control.step();
    }
    await running;
    expect(loop.phase).toBe('finished');
    expect(loop.state.weightsHash).toBe(whole.state.weightsHash);
  });

  it('a pause in mid-iteration halts between turns; stopping from there drops the iteration', async () => {
    const { parts, events } = setUp();
    const loop = DreamLoop.fresh(parts, config(), 'run');
    parts.emit = (event) => {
      events.push(event);
      if (event.type !== 'progress') return;
      if (event.progress.phase === 'rolling-out' && event.progress.iteration === 1) loop.control.pause();
      if (event.progress.phase === 'paused') loop.control.stop();
    };
    await loop.run();
    expect(loop.phase).toBe('stopped');
    expect(loop.state.iteration).toBe(1);
    expect(loop.state.metrics).toHaveLength(1);
  });
});

describe('a dream that lies', () => {
  it('is found out by the replay, and the run stops and says so', async () => {
    const { state, loop, events } = await run({ goalCheck: false, iterations: 10 }, { liar: true });
    expect(loop.phase).toBe('stopped');
    expect(state.iteration).toBe(3);
    const last = state.metrics.at(-1)!;
    expect(last.replayPrecision).toBeLessThan(0.4);
    expect(last.rewardError).toBeGreaterThan(0.3);
    expect(state.evaluations.at(-1)!.iteration).toBe(3);
    expect(events.some((e) => e.type === 'notice' && e.message.includes('no longer tells the truth'))).toBe(true);
    expect((await loop.state.snapshot(new TableModel(), 'collapsed')).phase).toBe('collapsed');
  });

  it('is kept honest by the goal check', async () => {
    const { state } = await run({ goalCheck: true, iterations: 4 }, { liar: true });
    expect(state.metrics.every((m) => m.replayFalse === 0)).toBe(true);
    expect(state.metrics[0].rejectedSuccesses).toBeGreaterThan(0);
    expect(state.iteration).toBe(4);
  });
});
