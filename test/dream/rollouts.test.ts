import { describe, expect, it } from 'vitest';
import { evaluate } from '../../src/dream/evaluation';
import { DreamedEnvironment } from '../../src/dream/experience-model';
import { measureFidelity } from '../../src/dream/fidelity';
import { ReplayBuffer } from '../../src/dream/replay-buffer';
import { type RolloutRequest, rollOut } from '../../src/dream/rollouts';
import type { Task } from '../../src/envs/environment';
import { cpuTopK } from './cpu-top-k';
import { KnowingModel, type Manners, TableModel } from './fake-models';
import { fakeDomain, id, task } from './fake-world';

const tasks = (n: number): Task[] => Array.from({ length: n }, (_, i) => task('a', ['red', 'blue'][i % 2]));

function request(changes: Partial<RolloutRequest> = {}): RolloutRequest {
  const domain = fakeDomain();
  const list = changes.tasks ?? tasks(12);
  return {
    policy: new TableModel(),
    domain,
    environment: domain.realWorld(),
    tasks: list,
    groups: list.map((_, i) => Math.floor(i / 4)),
    maxSteps: 4,
    temperature: 1,
    seed: 5,
    ...changes,
  };
}

interface DreamChanges {
  goalCheck?: boolean;
  stepCheck?: boolean;
  history?: boolean;
  buffer?: ReplayBuffer;
}

function dream(manners: Manners, changes: DreamChanges = {}) {
  const model = new KnowingModel(manners);
  const environment = new DreamedEnvironment({
    model,
    domain: fakeDomain(),
    buffer: changes.buffer ?? new ReplayBuffer(10),
    topK: cpuTopK,
    retrievalTopK: 1,
    temperature: 1,
    goalCheck: changes.goalCheck ?? true,
    stepCheck: changes.stepCheck ?? false,
    history: changes.history,
  });
  return { model, environment };
}

describe('a dream without history', () => {
  it('sees the beginning and its own last answer, whatever came before', async () => {
    const walk = async (history: boolean) => {
      const { model, environment } = dream({}, { history });
      await environment.reset([task('a', 'red')], 3);
      for (const action of ['look', 'open', 'look', 'look']) await environment.step([action]);
      return model.asked.map((text) => text.split(' > ').length - 1);
    };
    expect(await walk(true)).toEqual([1, 2, 3, 4]);
    expect(await walk(false)).toEqual([1, 2, 2, 2]);
  });
});

describe('rollouts', () => {
  it('keep one linear stream of exactly what was read and said', async () => {
    const { rollouts } = await rollOut(request());
    const { dialect } = fakeDomain();
    for (const { trajectory, stream } of rollouts) {
      const expected = dialect.policy.opening(trajectory.task, trajectory.firstObservation);
      const turns = expected.map(() => -1);
      trajectory.turns.forEach((turn, i) => {
        expected.push(...turn.actionTokens);
        turns.push(...turn.actionTokens.map(() => i));
        if (turn.done || i === 3) return;
        const reply = dialect.policy.reply(turn.actionTokens, turn.observation);
        expected.push(...reply);
        turns.push(...reply.map(() => -1));
      });
      expect(stream.tokens).toEqual(expected);
      expect(stream.turns).toEqual(turns);
      const sampled = stream.logProbs.filter((_, t) => stream.turns[t] >= 0);
      expect(sampled).toEqual(trajectory.turns.flatMap((turn) => turn.actionLogProbs));
      expect(stream.logProbs.filter((_, t) => stream.turns[t] < 0).every((lp) => lp === 0)).toBe(true);
    }
    // What was sampled is what would be scored.
    const policy = new TableModel();
    const scored = await policy.score(rollouts.map((r) => r.stream.tokens));
    rollouts.forEach(({ stream }, i) => {
      stream.turns.forEach((turn, t) => {
        if (turn >= 0) expect(scored[i][t]).toBeCloseTo(stream.logProbs[t], 5);
      });
    });
  });

  it('end at success or are cut off by the limit', async () => {
    const { rollouts } = await rollOut(request());
    expect(rollouts.some((r) => r.trajectory.success)).toBe(true);
    for (const { trajectory } of rollouts) {
      expect(trajectory.truncated).toBe(!trajectory.success);
      expect(trajectory.turns.length).toBeLessThanOrEqual(4);
      expect(trajectory.turns.filter((turn) => turn.done)).toHaveLength(trajectory.success ? 1 : 0);
      expect(trajectory).toMatchObject({ source: 'real', lost: false, return: trajectory.success ? 1 : 0 });
    }
    expect(rollouts.map((r) => r.trajectory.group)).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
  });

  it('count an unreadable action as invalid and go on; the world never hears of it', async () => {
    const policy = new TableModel();
    // A model that mostly says a control word.
    const state = await policy.exportState(false);
    const logits = state.weights.get('logits')!;
    for (let i = id('<em>'); i < logits.length; i += policy.vocabSize) logits[i] = 7;
    await policy.importState(state);
    const heard: (string | null)[] = [];
    const domain = fakeDomain();
    const real = domain.realWorld();
    const environment = {
      ...real,
      step: (actions: readonly (string | null)[]) => {
        heard.push(...actions);
        return real.step(actions);
      },
    };
    const report = await rollOut(request({ policy, domain, environment }));
    const turns = report.rollouts.flatMap((r) => r.trajectory.turns);
    expect(report.malformedActions).toBeGreaterThan(0);
    expect(turns.filter((turn) => turn.action === '')).toHaveLength(report.malformedActions);
    for (const turn of turns.filter((t) => t.action === ''))
      expect(turn).toMatchObject({ observation: 'nothing', valid: false, reward: 0, done: false });
    expect(heard.some((action) => action?.includes('<'))).toBe(false);
    expect(report.transitions).toBe(turns.length - report.malformedActions);
  });

  it('stop before the context overflows, without blame', async () => {
    const { rollouts } = await rollOut(request({ maxSteps: 60, tasks: [task('a', 'shut')] }));
    expect(rollouts.every((r) => r.stream.tokens.length <= 96)).toBe(true);
    expect(rollouts.some((r) => r.trajectory.truncated && r.trajectory.turns.length < 60)).toBe(true);
  });

  it('in waves play every episode once', async () => {
    const fractions: number[] = [];
    const { rollouts } = await rollOut(
      request({
        parallel: 5,
        onTurn: (fraction) => {
          fractions.push(fraction);
        },
      }),
    );
    expect(rollouts.map((r) => r.trajectory.task)).toEqual(tasks(12));
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    expect(fractions.every((f) => f >= 0 && f < 1)).toBe(true);
  });
});

describe('the dreamed environment', () => {
  it('plays like the real world when its model knows the rules', async () => {
    const [real, imagined] = [await rollOut(request()), await rollOut(request({ environment: dream({}).environment }))];
    const strip = (report: typeof real) =>
      report.rollouts.map(({ trajectory, stream }) => [trajectory.turns, trajectory.return, stream]);
    expect(strip(imagined)).toEqual(strip(real));
    expect(imagined.rollouts.every((r) => r.trajectory.source === 'imagined')).toBe(true);
  });

  it('prefills nothing twice: its streams only grow', async () => {
    const { environment, model } = dream({});
    await rollOut(request({ environment }));
    const [first, second] = model.asked
      .filter((text) => text.startsWith('<em> red'))
      .sort((a, b) => a.length - b.length);
    expect(first.startsWith('<em> red shut >')).toBe(true);
    expect(second.length).toBeGreaterThanOrEqual(first.length);
    expect(environment.counts.questions).toBe(model.asked.length);
  });

  it('shows memories to its model', async () => {
    const buffer = new ReplayBuffer(10);
    buffer.add([
      {
        source: 'offline',
        episode: 'x',
        room: 'a',
        task: 'red',
        state: 'shut',
        action: 'open',
        nextState: 'opened',
        reward: 0,
      },
    ]);
    const { environment, model } = dream({}, { buffer });
    await environment.reset(tasks(2), 1);
    await environment.step(['open', 'press red']);
    expect(model.asked).toEqual(['<em> red shut > open to opened red \n', '<em> blue shut > press red to blue \n']);
    expect(environment.counts).toMatchObject({ questions: 2, recalled: 1 });
  });

  it('retries a malformed answer once, rolled back; then the episode is lost and never rewarded', async () => {
    const { environment, model } = dream({ malformed: 0.4 });
    const report = await rollOut(request({ environment, tasks: tasks(40) }));
    const { counts } = environment;
    const lost = report.rollouts.filter((r) => r.trajectory.lost);
    expect(counts.malformed).toBeGreaterThan(counts.lost * 2);
    expect(lost).toHaveLength(counts.lost);
    expect(counts.lost).toBeGreaterThan(0);
    for (const { trajectory } of lost) expect(trajectory).toMatchObject({ return: 0, success: false });
    expect(model.asked).toHaveLength(counts.questions + counts.malformed - counts.lost);
    // No malformed answer is left in any stream.
    expect(model.asked.every((text) => !/\n > (r1|>)/.test(text))).toBe(true);
  });

  it('a lost episode stays silent for the rest of the batch', async () => {
    const { environment } = dream({ malformed: 1 });
    await environment.reset(tasks(2), 1);
    const [first, second] = await environment.step(['open', null]);
    expect(first).toMatchObject({ lost: true, done: true, reward: 0 });
    expect(second).toBeNull();
    expect(await environment.step(['open', null])).toEqual([null, null]);
  });

  it('never rewards an invalid action, and forgets a success it took back', async () => {
    const { environment, model } = dream({ liar: true });
    await environment.reset(tasks(1), 1);
    expect((await environment.step(['press red']))[0]).toMatchObject({ reward: 0, done: false, valid: false });
    expect((await environment.step(['open']))[0]).toMatchObject({ reward: 0, done: false });
    expect((await environment.step(['press blue']))[0]).toMatchObject({ reward: 0, done: false });
    expect((await environment.step(['press red']))[0]).toMatchObject({ reward: 1, done: true });
    expect(model.asked.at(-1)).not.toContain('r1');
    expect(environment.counts.rejectedSuccesses).toBe(2);
  });

  it('asks once more when an answer contradicts its transcript, if told to; the second answer stands', async () => {
    const play = async (stepCheck: boolean) => {
      const { environment, model } = dream({ confused: 0.3 }, { stepCheck });
      await rollOut(request({ environment, tasks: tasks(40) }));
      return { ...environment.counts, asked: model.asked.length };
    };
    const unchecked = await play(false);
    const checked = await play(true);
    expect(unchecked.contradictions / unchecked.questions).toBeGreaterThan(0.15);
    expect(checked.contradictions / checked.questions).toBeLessThan(0.15);
    expect(checked.contradictions).toBeGreaterThan(0);
    expect(checked.asked).toBeGreaterThan(checked.questions);
    expect(unchecked.asked).toBe(unchecked.questions);
    expect(checked.lost).toBe(0);
  });

  it('without the goal check believes its model', async () => {
    const { environment } = dream({ liar: true }, { goalCheck: false });
    await environment.reset(tasks(1), 1);
    expect((await environment.step(['open']))[0]).toMatchObject({ reward: 1, done: true });
  });

  it('a full context loses the episode instead of cutting an answer', async () => {
    const { environment } = dream({});
    await environment.reset(tasks(1), 1);
    let last = null;
    for (let i = 0; i < 40 && !last?.lost; i++) [last] = await environment.step(['press blue']);
    expect(last).toMatchObject({ lost: true });
  });
});

describe('fidelity', () => {
  it('of a lying dream counts its false successes and its error', async () => {
    const { environment } = dream({ liar: true }, { goalCheck: false });
    const { rollouts } = await rollOut(request({ environment, tasks: tasks(24) }));
    const trajectories = rollouts.map((r) => r.trajectory);
    const report = await measureFidelity(trajectories, fakeDomain().realWorld());
    const successes = trajectories.filter((t) => t.success);
    expect(report.replayTrue + report.replayFalse).toBe(successes.length);
    expect(report.replayFalse).toBe(successes.filter((t) => !t.replay!.success).length);
    expect(report.replayFalse).toBeGreaterThan(0);
    expect(report.rewardError).toBeCloseTo(report.replayFalse / 24);
    expect(report.nextStateAccuracy).toBe(1);
    const liar = successes.find((t) => !t.replay!.success)!;
    expect(liar.replay!.firstMismatch).toBe(liar.turns.length - 1);
  });

  it('notices real successes the dream missed, and turns after the real end', async () => {
    const { rollouts } = await rollOut(request({ environment: dream({}).environment }));
    const won = rollouts.map((r) => r.trajectory).find((t) => t.success)!;
    const missed = structuredClone(won);
    missed.turns.at(-1)!.reward = 0;
    missed.turns.push({ ...missed.turns.at(-1)!, action: 'open', observation: 'nothing' });
    Object.assign(missed, { success: false, return: 0 });
    const report = await measureFidelity([missed], fakeDomain().realWorld());
    expect(report).toMatchObject({ replayTrue: 0, replayFalse: 0, replayPrecision: null, rewardError: 1 });
    expect(missed.replay).toEqual({
      ...{ success: true, firstMismatch: won.turns.length - 1 },
      ...{ observation: 'pressed', reward: 1 },
    });
  });

  it('says nothing of real or lost episodes', async () => {
    const { rollouts } = await rollOut(request());
    const trajectories = rollouts.map((r) => r.trajectory);
    trajectories.push({ ...trajectories[0], source: 'imagined', lost: true });
    const report = await measureFidelity(trajectories, fakeDomain().realWorld());
    expect(report).toMatchObject({ replayPrecision: null, rewardError: null, nextStateAccuracy: null, realSteps: 0 });
  });
});

describe('evaluation', () => {
  it('is the same whenever it is asked of the same weights', async () => {
    const ask = () =>
      evaluate({
        policy: new TableModel(),
        domain: fakeDomain(),
        tasks: 30,
        rolloutTemperature: 1,
        maxSteps: 4,
        seed: 3,
      });
    const report = await ask();
    expect(await ask()).toEqual(report);
    const { rate, low, high, episodes } = report.atRolloutTemperature;
    expect(episodes).toBe(30);
    expect(low).toBeLessThan(rate);
    expect(high).toBeGreaterThan(rate);
    expect(report.realSteps).toBeGreaterThan(0);
  });
});
