import { describe, expect, it } from 'vitest';
import { TaskPool } from '../../src/dream/curriculum';
import type { Domain } from '../../src/dream/domain';
import { ReplayBuffer } from '../../src/dream/replay-buffer';
import { generateTasks } from '../../src/dream/task-generator';
import { mostChallenging, predictedSuccess } from '../../src/dream/task-selection';
import type { Task } from '../../src/envs/environment';
import type { Generated, LanguageModel, SamplingOptions } from '../../src/nn/language-model';
import { fakeDomain } from './fake-world';

const household = (instruction: string, family: string, room = 'room'): Task => ({
  id: `${room}: ${instruction}`,
  instruction,
  room,
  family,
  firstObservation: '',
  data: null,
});

describe('the rule', () => {
  it('expects of a variant what tasks with its words and family did', () => {
    const pool = new TaskPool([
      household('put a cup in cabinet', 'pick', 'a'),
      household('put a mug in shelf', 'pick', 'b'),
      household('heat some egg and put it in fridge', 'heat', 'c'),
      household('heat some bread and put it in counter', 'heat', 'd'),
      household('clean some fork and put it in drawer', 'clean', 'e'),
    ]);
    const success = [0.9, 0.8, 0.1, 0, null];
    pool.tasks().forEach(({ id }, i) => {
      if (success[i] !== null) pool.record(id, success[i]);
    });
    const variants = [
      household('put a cup in shelf', 'pick'),
      household('heat some egg and put it in counter', 'heat'),
      household('put a pan in fridge', 'pick'),
    ];
    const [easy, hard, middle] = predictedSuccess(variants, pool.tasks()) as number[];
    expect(easy).toBeGreaterThan(0.6);
    expect(hard).toBeLessThan(0.25);
    expect(hard).toBeGreaterThan(0);
    expect(middle).toBeGreaterThan(hard);
    expect(mostChallenging([easy, hard, middle], 0.5)).toBe(1);
  });

  it('says nothing of what nobody visited, and prefers what can be done at all', () => {
    const pool = new TaskPool([household('put a cup in cabinet', 'pick')]);
    expect(predictedSuccess([household('put a cup in shelf', 'pick')], pool.tasks())).toEqual([null]);
    expect(predictedSuccess([household('x', 'y')], [])).toEqual([null]);
    expect(mostChallenging([0.5, 0, 0.2, 0.2], 0.5)).toBe(2);
    expect(mostChallenging([0.5, null], 0.3)).toBe(1);
    expect(mostChallenging([0, 0], 0.5)).toBe(-1);
    expect(mostChallenging([], 0.5)).toBe(-1);
  });
});

/** Proposes its words in turn, and chooses as told. */
class Proposer {
  readonly vocabSize = 32;
  readonly contextLength = 96;
  readonly choicePrompts: number[][] = [];
  private proposed = 0;
  constructor(
    private readonly proposals: readonly number[],
    private readonly choice: number[],
  ) {}
  sessions(count: number) {
    const streams: number[][] = Array.from({ length: count }, () => []);
    return {
      count,
      contextLength: this.contextLength,
      length: (i: number) => streams[i].length,
      append: (i: number, tokens: readonly number[]) => streams[i].push(...tokens),
      generate: async (asked: readonly number[], options: SamplingOptions): Promise<Generated[]> =>
        asked.map((i) => {
          if (streams[i][0] === 99) {
            this.choicePrompts.push(streams[i]);
            expect(options.temperature).toBe(0);
            return { tokens: this.choice, logProbs: [], stopped: true };
          }
          const token = this.proposals[this.proposed++ % this.proposals.length];
          return { tokens: [token, 3], logProbs: [], stopped: true };
        }),
      copy: async () => {},
      clear() {},
      dispose() {},
    };
  }
}

const colours = ['red', 'blue', 'green', 'grey', 'gold', 'pink'];

/** A world whose tasks are colours by number, with everything feasible but pink. */
function world(speaks: boolean): Domain {
  const domain = fakeDomain();
  const of = (room: string, colour: string): Task => household(colour, colour === 'red' ? 'warm' : 'cold', room);
  return {
    ...domain,
    trainingTasks: () => ['a', 'b'].flatMap((room) => ['red', 'blue'].map((colour) => of(room, colour))),
    taskFrom: (parent, instruction) => (colours.includes(instruction) ? of(parent.room, instruction) : null),
    feasible: (task) => task.instruction !== 'pink',
    dialect: {
      ...domain.dialect,
      generator: {
        stopTokens: [3],
        maxNewTokens: 2,
        opening: () => [2],
        parse: ([token]) => colours[token] ?? null,
        ...(speaks
          ? {
              selection: {
                maxNewTokens: 4,
                opening: (_parent: Task, variants: readonly Task[]) => [
                  99,
                  ...variants.map(({ instruction }) => colours.indexOf(instruction)),
                ],
                parse: ([token]: readonly number[], variants: number) =>
                  token < variants ? { index: token, reasoning: 'because' } : null,
              },
            }
          : {}),
      },
    },
  };
}

async function generate(choice: number[], speaks: boolean, proposals = [2, 3, 4, 5, 31, 2]) {
  const domain = world(speaks);
  const pool = new TaskPool(domain.trainingTasks());
  pool.tasks().forEach(({ id }, i) => {
    pool.record(id, [0.5, 0.25][i % 2]);
  });
  const model = new Proposer(proposals, choice);
  const parents = pool.parents(pool.tasks().map(({ id }) => id)).slice(0, 1);
  const report = await generateTasks({
    model: model as unknown as LanguageModel,
    domain,
    pool,
    buffer: new ReplayBuffer(10),
    parents,
    proposals: 8,
    candidates: 6,
    temperature: 1,
    seed: 1,
  });
  return { report, pool, model };
}

describe('selection among variants', () => {
  it('keeps one variant of each parent, as the model chose', async () => {
    const { report, pool, model } = await generate([1, 3], true);
    // Six proposals: three good ones, pink is infeasible, 31 no colour, green came twice.
    expect(report).toMatchObject({
      ...{ asked: 6, malformed: 1, infeasible: 1, known: 1, passedOver: 2, unreadableChoices: 0 },
    });
    expect(model.choicePrompts).toEqual([[99, 2, 3, 4]]);
    expect(report.accepted).toMatchObject([{ task: { instruction: 'grey' }, why: 'because' }]);
    expect(pool.get(report.accepted[0].task.id)).toMatchObject({ generated: true, parent: report.accepted[0].parent });
    expect(report.generatedTokens).toBe(6 * 2 + 2);
  });

  it('falls back to the rule for an answer that cannot be read, and for models that only play', async () => {
    const unreadable = await generate([17], true);
    expect(unreadable.report.unreadableChoices).toBe(1);
    expect(unreadable.report.accepted).toHaveLength(1);
    const plain = await generate([1], false);
    expect(plain.report.unreadableChoices).toBe(0);
    expect(plain.model.choicePrompts).toEqual([]);
    expect(plain.report.accepted).toMatchObject([{ why: expect.stringMatching(/25 %/) }]);
  });

  it('does not ask about a single variant', async () => {
    const { report, model } = await generate([1, 3], true, [2]);
    expect(model.choicePrompts).toEqual([]);
    expect(report.accepted).toMatchObject([{ task: { instruction: 'green' } }]);
    expect(report.passedOver).toBe(0);
  });
});
