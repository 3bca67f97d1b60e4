import { describe, expect, it } from 'vitest';
import type { Domain } from '../../src/dream/domain';
import { householdDomain } from '../../src/dream/household';
import { DreamLoop } from '../../src/dream/loop';
import type { LoopParts } from '../../src/dream/loop-parts';
import { experienceSequences } from '../../src/dream/offline';
import { resolveConfig } from '../../src/dream/presets';
import { checkRefresh, refreshDue, tellReal } from '../../src/dream/refresh';
import { ReplayBuffer } from '../../src/dream/replay-buffer';
import { HouseholdWorld } from '../../src/envs/household';
import { householdTokenizer } from '../../src/models/household-vocabulary';
import type { ModelState, TrainSequence, TrainStats } from '../../src/nn/language-model';
import type { IterationMetrics, RunConfig } from '../../src/worker/protocol';
import { cpuAdvantages } from '../rl/cpu-advantages';
import { cpuTopK } from './cpu-top-k';
import { KnowingModel, TableModel } from './fake-models';
import { encode, fakeDomain } from './fake-world';
import { MemoryStore } from './memory-store';

/** Lies until it has been taught; what it was taught with is its weights. */
class Teachable extends KnowingModel {
  private lessons = 0;
  private tokens = 0;
  readonly updates: number[] = [];

  constructor(private readonly manner: { liar?: boolean } = { liar: true }) {
    super(manner);
  }

  override async trainStep(sequences: readonly TrainSequence[]): Promise<TrainStats> {
    this.lessons++;
    this.tokens += sequences.reduce((sum, { tokens }) => sum + tokens.reduce((a, b) => a + b, 0), 0);
    this.updates.push(sequences.length);
    this.manner.liar = false;
    const numbers = { gradNorm: 1, entropy: 1, kl: 0, clipFraction: 0, logProbGap: 0, tokens: 1 };
    return { loss: 0.5, applied: true, ...numbers };
  }
  override async exportState(): Promise<ModelState> {
    return { step: 0, weights: new Map([['taught', Float32Array.of(this.lessons, this.tokens)]]) };
  }
  override async importState({ weights }: ModelState): Promise<void> {
    [this.lessons, this.tokens] = weights.get('taught')!;
    this.manner.liar = this.lessons === 0;
  }
  get taught(): [number, number] {
    return [this.lessons, this.tokens];
  }
}

const teachable = (): Domain => ({
  ...fakeDomain(),
  teaching: {
    tell: ({ task, turns }) => {
      const words = turns.map(({ action, observation }) => `${action} to ${observation}`).join(' ');
      const tokens = encode(`<em> ${task.instruction} ${words}`);
      return { tokens, weights: tokens.map((_, i) => (i === 0 ? 0 : 1)) };
    },
    rehearsal: (episodes) => Array.from({ length: episodes }, () => ({ tokens: encode('<em> red'), weights: [0, 1] })),
  },
});

const config = (changes: Partial<RunConfig> = {}) =>
  resolveConfig({
    ...{ seed: 7, iterations: 6, tasksPerIteration: 6, groupSize: 6, maxSteps: 4, learningRate: 1e-3, lambda: 0.4 },
    ...{ evalEvery: 3, evalTasks: 30, bufferCapacity: 400, refreshEvery: 2, refreshTransitions: 30 },
    ...{ goalCheck: false, stepCheck: false, minReplayPrecision: 0 },
    ...changes,
  });

function setUp(store = new MemoryStore()) {
  const experience = new Teachable();
  const parts: LoopParts = {
    policy: new TableModel(),
    experience,
    domain: teachable(),
    kernels: { advantages: cpuAdvantages, topK: cpuTopK },
    store,
    adapter: 'plain code',
    gpuBytes: () => 0,
    emit: () => {},
  };
  return { parts, experience, store };
}

const timeless = (metrics: readonly IterationMetrics[]) =>
  metrics.map(({ seconds: _s, generateTokensPerSecond: _g, trainTokensPerSecond: _t, ...rest }) => rest);

describe('when', () => {
  const due = (changes: Partial<RunConfig>) =>
    [1, 2, 3, 4, 5, 6].filter((iteration) => refreshDue(config(changes), iteration, 0));

  it('every so many iterations, while there is a dream to come', () => {
    expect(due({})).toEqual([2, 4]);
    expect(due({ refreshEvery: 0 })).toEqual([]);
    expect(due({ refreshEvery: 1, realIterations: 2 })).toEqual([1, 2, 3]);
    expect(due({ refreshEvery: 1, rollouts: 'real' })).toEqual([]);
  });

  it('is refused where the model cannot be taught, or the budget holds no episode', () => {
    const { parts } = setUp();
    expect(() => checkRefresh(config(), { ...parts, domain: fakeDomain() })).toThrow(/can be trained here/);
    expect(() => checkRefresh(config({ refreshEvery: 0 }), { ...parts, domain: fakeDomain() })).not.toThrow();
    expect(() => config({ refreshTransitions: 3 })).toThrow(/at least maxSteps = 4/);
  });
});

describe('a run that refreshes its dream', () => {
  it('cures a liar, counts what it took as real, keeps it in the buffer, and gives the model back', async () => {
    const { parts, experience } = setUp();
    const loop = DreamLoop.fresh(parts, config(), 'run');
    await loop.run();
    const { metrics, refreshes, buffer } = loop.state;
    expect(metrics[0].successClaims).toBe(1);
    expect(metrics[1].replayPrecision).toBe(0);
    expect(metrics[2].rewardError).toBe(0);

    expect(refreshes.map(({ iteration }) => iteration)).toEqual([2, 4]);
    const spent = refreshes.reduce((sum, { transitions }) => sum + transitions, 0);
    for (const { transitions } of refreshes) {
      expect(transitions).toBeGreaterThan(15);
      expect(transitions).toBeLessThanOrEqual(30);
    }
    expect(metrics.at(-1)).toMatchObject({ realTransitions: spent, refreshTransitions: spent, refreshLoss: null });
    expect(metrics[1]).toMatchObject({ refreshTransitions: refreshes[0].transitions, refreshLoss: 0.5 });
    expect(metrics[0]).not.toHaveProperty('refreshTransitions');
    expect(buffer.transitions().some(({ source }) => source === 'real')).toBe(true);
    expect(experience.updates.length).toBeGreaterThanOrEqual(2);
    expect(experience.taught).toEqual([0, 0]);
  });

  it('without one the lie stands', async () => {
    const { parts } = setUp();
    const loop = DreamLoop.fresh(parts, config({ refreshEvery: 0, iterations: 3 }), 'run');
    await loop.run();
    expect(loop.state.metrics.map((m) => m.successClaims)).toEqual([1, 1, 1]);
    expect((await loop.state.snapshot(parts.policy, 'finished')).refreshes).toBeUndefined();
  });

  it('resumed after any iteration ends bit-identical, its dream as it was', async () => {
    const { parts } = setUp();
    const whole = DreamLoop.fresh(parts, config(), 'run');
    await whole.run();
    for (const cut of [1, 2, 3]) {
      const first = setUp();
      const killed = DreamLoop.fresh(first.parts, config(), 'run');
      first.parts.emit = (event) => {
        if (event.type === 'progress' && event.progress.iteration === cut && event.progress.phase === 'learning')
          killed.control.stop();
      };
      await killed.run();
      expect(first.store.commits.at(-1)!.iteration).toBe(cut);
      expect(first.experience.taught).toEqual([0, 0]);

      const second = setUp(first.store);
      const resumed = await DreamLoop.restore(second.parts, (await first.store.load('run'))!);
      await resumed.run();
      expect(resumed.state.weightsHash).toBe(whole.state.weightsHash);
      expect(timeless(resumed.state.metrics)).toEqual(timeless(whole.state.metrics));
      expect(resumed.state.refreshes).toEqual(whole.state.refreshes);
    }
  });
});

it('a stored lesson in other words is refused, typed', async () => {
  const { parts, store } = setUp();
  await DreamLoop.fresh(parts, config({ iterations: 3 }), 'run').run();
  const stored = (await store.load('run'))!;
  stored.refreshes![0].sequences[0].tokens[0] = 99;
  const resumed = await DreamLoop.restore(setUp().parts, stored, { iterations: 4 });
  await expect(resumed.run()).rejects.toMatchObject({ code: 'corrupt-run' });
});

describe('the household’s teaching', () => {
  const domain = householdDomain(householdTokenizer('small'));

  it('tells a real episode exactly as offline episodes are told, memories included', async () => {
    const [task] = domain.trainingTasks();
    const world = new HouseholdWorld();
    const firstObservation = world.reset(task);
    const silent = { thought: '', actionTokens: [], actionLogProbs: [], reasoning: '' };
    const actions = ['look', 'go to shelf 99', 'inventory', ''];
    const turns = actions.map((action) => {
      const { observation, reward, done, valid } = action ? world.step(action) : { ...nothing };
      return { ...silent, action, observation, reward, done, valid };
    });
    const rest = { source: 'real', return: 0, success: false, truncated: true, lost: false, group: 0 } as const;
    const buffer = new ReplayBuffer(10);
    const memory = { source: 'offline', episode: 'e', room: task.room, task: task.instruction, state: 'x' } as const;
    buffer.add([{ ...memory, action: 'inventory', nextState: 'carry nothing', reward: 0 }]);
    const parts = { domain, kernels: { topK: cpuTopK } } as unknown as LoopParts;
    const [told] = await tellReal(parts, [{ task, firstObservation, turns, ...rest }], buffer, 1);
    const tokenizer = householdTokenizer('small');
    const text = tokenizer.decode(told.tokens);
    expect(text).toContain('nothing happens');
    expect(text.match(/carry nothing/g)).toHaveLength(2); // once remembered, once answered
    expect(told.weights).toHaveLength(told.tokens.length);
    expect(told.weights.some((weight) => weight > 0)).toBe(true);
  });

  it('rehearses what it was trained on', () => {
    const [first] = domain.teaching!.rehearsal(1, 5);
    const [same] = experienceSequences('small', { episodes: 1, seed: 5 });
    expect(first.tokens).toEqual(Array.from(same.tokens));
    expect(JSON.parse(JSON.stringify(first))).toEqual(first);
  });
});

const nothing = { observation: 'nothing happens', reward: 0, done: false, valid: false };
