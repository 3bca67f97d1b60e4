import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Trajectory, Turn } from '../../../src/data/trajectory';
import {
  finiteHorizonBound,
  householdFacts,
  measureFidelity,
  rankCorrelation,
  wordAccuracy,
} from '../../../src/dream/fidelity';
import { householdDomain } from '../../../src/dream/household';
import type { Task } from '../../../src/envs/environment';
import { generateRoom, HouseholdWorld, householdData } from '../../../src/envs/household';
import { householdTokenizer } from '../../../src/models/household-vocabulary';

const domain = householdDomain(householdTokenizer('small'));
const [task] = domain.trainingTasks();

/** An episode whose text is the real world's, but for what `lies` puts in its place. */
function dreamt(
  of: Task,
  actions: readonly string[],
  lies: Record<number, Partial<Turn>> = {},
): Trajectory & { turns: Turn[] } {
  const world = new HouseholdWorld();
  const firstObservation = world.reset(of);
  const turns = actions.map((action, k): Turn => {
    const { observation, reward, done, valid } = world.step(action);
    const silent = { thought: '', actionTokens: [], actionLogProbs: [], reasoning: '' };
    return { ...silent, action, observation, reward, done, valid, ...lies[k] };
  });
  const sum = turns.reduce((total, { reward }) => total + reward, 0);
  const rest = { truncated: false, lost: false, group: 0 };
  return { task: of, source: 'imagined', firstObservation, turns, return: sum, success: sum > 0, ...rest };
}

const room = (of: Task) => generateRoom(householdData(of).size, householdData(of).roomSeed);
const tour = (of: Task) => room(of).receptacleNames.map((name) => `go to ${name}`);
const audit = (...trajectories: Trajectory[]) => measureFidelity(trajectories, domain.realWorld(), domain.facts);

describe('words in common', () => {
  it('counts what is missing and what is invented, and is not thrown by a shift', () => {
    expect(wordAccuracy('at shelf 1 see cup 1', 'at shelf 1 see cup 1')).toEqual({ right: 6, of: 6 });
    expect(wordAccuracy('at shelf 1 see cup 2', 'at shelf 1 see cup 1')).toEqual({ right: 5, of: 6 });
    expect(wordAccuracy('at shelf 1 see mug 1 cup 1', 'at shelf 1 see cup 1')).toEqual({ right: 6, of: 8 });
    expect(wordAccuracy('', 'nothing happens')).toEqual({ right: 0, of: 2 });
  });

  it('is symmetric and never more than all', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', '1'), { maxLength: 12 }).map((words) => words.join(' '));
    fc.assert(
      fc.property(text, text, (a, b) => {
        const { right, of } = wordAccuracy(a, b);
        expect(wordAccuracy(b, a)).toEqual({ right, of });
        expect(right).toBeLessThanOrEqual(of);
        expect(right === of).toBe(a === b);
      }),
    );
  });
});

describe('rank correlation', () => {
  it('is Spearman’s, ties sharing their mean rank', () => {
    expect(
      rankCorrelation([
        [1, 10],
        [2, 20],
        [3, 30],
      ]),
    ).toBeCloseTo(1);
    expect(
      rankCorrelation([
        [1, 3],
        [2, 2],
        [3, 1],
      ]),
    ).toBeCloseTo(-1);
    // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5).
    expect(
      rankCorrelation([
        [1, 1],
        [2, 2],
        [2, 3],
        [5, 4],
      ]),
    ).toBeCloseTo(4.5 / Math.sqrt(22.5));
  });

  it('says nothing of two points, or of a side that never moves', () => {
    expect(
      rankCorrelation([
        [1, 2],
        [2, 3],
      ]),
    ).toBeNull();
    expect(
      rankCorrelation([
        [1, 2],
        [1, 3],
        [1, 4],
      ]),
    ).toBeNull();
  });
});

describe('the facts of an observation', () => {
  it('are all admissible, and all true, in the real world’s own text', async () => {
    const honest = dreamt(task, tour(task));
    for (const { observation } of honest.turns)
      for (const fact of householdFacts(task, observation)) expect(fact).toMatchObject({ admissible: true });
    const report = await audit(honest);
    expect(report).toMatchObject({ admissibility: 1, factTruth: 1, nextStateAccuracy: 1, nextWordAccuracy: 1 });
    expect(report).toMatchObject({ epsilonReward: 0, epsilonState: 0, departed: 0 });
  });

  it('a place, a thing and a container that cannot be are not', () => {
    const shelf = room(task).receptacleNames[0];
    const told = householdFacts(task, `at ${shelf} see spaceship 1 pan 99`);
    expect(told.map(({ text }) => text)).toEqual(
      expect.arrayContaining([shelf, 'spaceship 1', `spaceship 1 in ${shelf}`, 'pan 99', `pan 99 in ${shelf}`]),
    );
    expect(told.filter(({ admissible }) => admissible).map(({ text }) => text)).toEqual([shelf]);
    expect(householdFacts(task, 'at shelf 99 closed')).toEqual([{ text: 'shelf 99', admissible: false }]);
    expect(householdFacts(task, 'nothing happens')).toEqual([]);
  });
});

describe('the audit', () => {
  const [first, ...rest] = tour(task);

  it('finds the first lie, keeps the real text beside it, and counts only steps with a true past for the bound', async () => {
    const liar = dreamt(task, [first, ...rest], { 1: { observation: 'at shelf 99 see pan 99' } });
    const honest = dreamt(task, [first, ...rest]);
    const report = await audit(liar, honest);
    expect(liar.replay).toMatchObject({ success: false, firstMismatch: 1, observation: honest.turns[1].observation });
    expect(report.departed).toBe(0.5);
    // Two steps of the liar and all of the honest one have a true past; one of them is wrong.
    expect(report.epsilonState).toBeCloseTo(1 / (2 + honest.turns.length));
    expect(report.epsilonReward).toBe(0);
    expect(report.admissibility).toBeLessThan(1);
    expect(report.factTruth).toBeLessThan(1);
    expect(report.nextWordAccuracy).toBeLessThan(1);
    expect(report.nextWordAccuracy).toBeGreaterThan(report.nextStateAccuracy!);
  });

  it('a false reward after a true past is the reward’s error, not the state’s', async () => {
    const paid = dreamt(task, [first], { 0: { reward: 1, done: true } });
    const report = await audit(paid);
    expect(report).toMatchObject({ replayFalse: 1, rewardError: 1, epsilonReward: 1, epsilonState: 0, departed: 1 });
    expect(report.realSuccessesPerStep).toBe(0);
    expect(finiteHorizonBound(report, 16)).toBe(1);
  });

  it('of nothing is nothing', async () => {
    const report = await audit();
    expect(report).toMatchObject({ rewardError: null, admissibility: null, epsilonState: null, realSteps: 0 });
    expect(finiteHorizonBound(report, 16)).toBeNull();
  });
});

it('the bound holds between a dream and a world that part only where it says', () => {
  expect(finiteHorizonBound({ epsilonReward: 0.02, epsilonState: 0.01 }, 16)).toBeCloseTo(0.18);
  expect(finiteHorizonBound({ epsilonReward: 0.5, epsilonState: 0.5 }, 16)).toBe(1);
  expect(finiteHorizonBound({}, 16)).toBeNull();
});

describe('a real world behind a connection', () => {
  it('is asked in waves of its sessions, and what it loses says nothing of the dream', async () => {
    const episodes = Array.from({ length: 5 }, () => dreamt(task, tour(task).slice(0, 3)));
    const whole = await audit(...structuredClone(episodes));
    const resets: number[] = [];
    const limited = () => {
      const real = domain.realWorld();
      return {
        imagined: false,
        capacity: 2,
        reset: (tasks: readonly Task[], seed: number) => {
          resets.push(tasks.length);
          return real.reset(tasks, seed);
        },
        step: (actions: readonly (string | null)[]) => real.step(actions),
      };
    };
    expect(await measureFidelity(structuredClone(episodes), limited(), domain.facts)).toEqual(whole);
    expect(resets).toEqual([2, 2, 1]);

    const broken = limited();
    const cut = structuredClone(episodes);
    let steps = 0;
    const report = await measureFidelity(
      cut,
      {
        ...broken,
        // The second episode of the first wave breaks off at its second step.
        step: async (actions: readonly (string | null)[]) => {
          const results = await broken.step(actions);
          return results.map((result, i) =>
            result && steps++ >= 0 && i === 1 && steps === 4 ? { ...result, lost: true, reward: 1 } : result,
          );
        },
      },
      domain.facts,
    );
    expect(report.rewardError).toBe(whole.rewardError);
    expect(cut.map(({ replay }) => replay === undefined)).toEqual([false, true, false, false, false]);
  });
});
