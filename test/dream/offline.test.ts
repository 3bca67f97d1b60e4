import { describe, expect, it } from 'vitest';
import {
  demonstrationSteps,
  experienceEpisodes,
  experienceMixture,
  experienceSequences,
  type Fidelity,
  fidelityCases,
  generatorSequences,
  type Mixture,
  measureFidelity,
  offlineTransitions,
  policySequences,
  predictWith,
  withNegatives,
} from '../../src/dream/offline';
import { Belief, experienceThought, parseGeneratorAnswer } from '../../src/dream/transcripts';
import {
  type DemonstratorKind,
  generateRoom,
  HouseholdWorld,
  householdData,
  isFeasible,
  isHeldOut,
  TRAINING_ROOM_SEEDS,
  taskFromInstruction,
  WORLD_SIZES,
} from '../../src/envs/household';
import { householdTokenizer } from '../../src/models/household-vocabulary';
import type { Generated, LanguageModel, Sessions } from '../../src/nn/language-model';

const tokenizer = householdTokenizer('small');
const { special } = tokenizer;

describe('offline sequences', () => {
  it.each(WORLD_SIZES)('are the same for the same seed, and others for another (%s)', (size) => {
    const options = { episodes: 40, seed: 5 };
    for (const make of [experienceSequences, policySequences, generatorSequences]) {
      expect(make(size, options)).toEqual(make(size, options));
      expect(make(size, { ...options, seed: 6 })).not.toEqual(make(size, options));
    }
    const unknown = householdTokenizer(size).special['<unk>'];
    for (const { tokens } of experienceSequences(size, options)) expect(tokens.includes(unknown)).toBe(false);
  });

  it('fit the context and train only on the model’s own tokens', () => {
    for (const { tokens, weights } of experienceSequences('small', { episodes: 400, seed: 1 })) {
      expect(tokens.length).toBe(weights.length);
      expect(tokens.length).toBeLessThanOrEqual(640);
      let own = false;
      tokens.forEach((id, t) => {
        expect(weights[t] > 0).toBe(own);
        if (id === special['<t>']) own = true;
        if (id === special['<r0>'] || id === special['<r1>']) own = false;
      });
      expect([special['<r0>'], special['<r1>']]).toContain(tokens.at(-1));
    }
    for (const { tokens, weights } of policySequences('small', { episodes: 300, seed: 1 })) {
      expect(tokens.length).toBeLessThanOrEqual(480);
      let own = false;
      tokens.forEach((id, t) => {
        expect(weights[t] > 0).toBe(own);
        if (id === special['<t>']) own = true;
        else if (id === special['\n']) own = false;
      });
      expect(tokens.filter((id) => id === special['<t>']).length).toBeLessThanOrEqual(demonstrationSteps);
    }
  });

  it('never plays a held-out task in a training room', () => {
    const { episodes } = experienceEpisodes('small', { episodes: 400, seed: 2 });
    for (const { task } of episodes) expect(isHeldOut(task)).toBe(false);
  });

  it('with negatives in any share, and with none', () => {
    const share = (mixture: Mixture, ...kinds: DemonstratorKind[]) =>
      kinds.reduce((sum, kind) => sum + (mixture[kind] ?? 0), 0) /
      Object.values(mixture).reduce((sum, part) => sum + part, 0);
    const failing = ['near-miss', 'weak', 'random'] as const;
    expect(share(experienceMixture, ...failing)).toBeCloseTo(0.57);
    for (const wanted of [0, 0.3, 0.57, 1]) expect(share(withNegatives(wanted), ...failing)).toBeCloseTo(wanted);
    const same = withNegatives(0.57);
    for (const [kind, part] of Object.entries(experienceMixture))
      expect(same[kind as DemonstratorKind]).toBeCloseTo(part);
    const { episodes } = experienceEpisodes('small', { episodes: 60, seed: 2, mixture: withNegatives(0) });
    expect(episodes.some(({ demonstrator }) => (failing as readonly string[]).includes(demonstrator))).toBe(false);
  });

  it('recomputes every reward of a relabelled trajectory', () => {
    const { episodes } = experienceEpisodes('small', { episodes: 300, seed: 3, relabelShare: 1 });
    const world = new HouseholdWorld();
    let successes = 0;
    for (const { task, steps, success } of episodes) {
      world.reset(task);
      for (const step of steps) {
        const { observation, reward } = world.step(step.action);
        expect({ observation, reward }).toEqual({ observation: step.observation, reward: step.reward });
      }
      if (success) successes++;
    }
    expect(successes).toBeGreaterThan(20);
    expect(successes).toBeLessThan(200);
  });

  it('answers from another episode of the same room, mostly', () => {
    const { episodes, bank } = experienceEpisodes('small', { episodes: 200, seed: 4, rooms: [1, 2, 3, 4] });
    const none = { topK: 1, dropRate: 1, weakRate: 0 };
    const always = { topK: 3, dropRate: 0, weakRate: 0 };
    const random = { chance: (p: number) => p >= 1, int: () => 0 } as unknown as Parameters<typeof bank.recall>[5];
    const { task, steps } = episodes[0];
    expect(bank.recall(task.room, steps[0].state, steps[0].action, 0, none, random)).toEqual([]);
    const recalled = bank.recall(task.room, steps[0].state, steps[0].action, 0, always, random);
    expect(recalled).toContain(steps[0].observation);
    expect(recalled.length).toBeLessThanOrEqual(3);
    const alone = experienceEpisodes('small', { episodes: 1, seed: 4, rooms: [1], relabelShare: 0 });
    const [only] = alone.episodes;
    for (const { state, action } of only.steps)
      expect(alone.bank.recall(only.task.room, state, action, 0, always, random)).toEqual([]);
  });

  it('asks the task generator only for feasible, trainable, new tasks', () => {
    for (const { tokens, weights } of generatorSequences('small', { episodes: 300, seed: 1 })) {
      const start = weights.findIndex((weight) => weight > 0);
      const answer = parseGeneratorAnswer(tokenizer, [...tokens.slice(start)]);
      if (!answer.ok) throw new Error(answer.why);
      const seeds = tokenizer.decode(tokens.slice(0, start)).split('<seed> ').slice(1);
      expect(seeds).toHaveLength(2);
      expect(seeds.map((seed) => seed.replace(' <to>', '').trim())).not.toContain(answer.instruction);
    }
  });

  it('seeds the replay buffer evenly over the training rooms', () => {
    const transitions = offlineTransitions('small', { seed: 1, limit: 3000 });
    expect(transitions).toHaveLength(3000);
    expect(new Set(transitions.map(({ room }) => room)).size).toBe(TRAINING_ROOM_SEEDS.length);
    for (const { episode, state, nextState, source } of transitions.slice(0, 50)) {
      expect(source).toBe('offline');
      expect(episode).toMatch(/^offline-small-1-\d+$/);
      expect(state.length * nextState.length).toBeGreaterThan(0);
    }
  });

  it('generates thousands of episodes a second', () => {
    experienceSequences('small', { episodes: 200, seed: 1 });
    const start = performance.now();
    experienceSequences('small', { episodes: 500, seed: 8 });
    // The bound is a tenth of what is needed, because CI shares its cores.
    expect(500 / ((performance.now() - start) / 1000)).toBeGreaterThan(200);
  });
});

describe('fidelity', () => {
  const cases = fidelityCases('small', { cases: 400, seed: 1 });
  /** The true answer to a case: reasoning is not judged, so a short one will do. */
  const truth = ({ observation, reward, valid }: (typeof cases)[number]) => [
    ...tokenizer.encode(`at room hold nothing ${valid ? 'valid' : 'invalid'}${reward ? ' object cup cup yes' : ''}`),
    special['</t>'],
    ...tokenizer.encode(observation),
    reward ? special['<r1>'] : special['<r0>'],
  ];
  const full = ({ right, of }: Fidelity['reward']) => of > 0 && right === of;

  it('gives the truth full marks', async () => {
    const result = await measureFidelity(cases, tokenizer, async () => cases.map(truth));
    expect(result.malformed).toBe(0);
    for (const key of [
      'observation',
      'deterministic',
      'reward',
      'trueSuccesses',
      'invalidActions',
      'validActions',
      'consistent',
    ] as const)
      expect(full(result[key]), key).toBe(true);
    expect(result.falseSuccesses.right).toBe(0);
    expect(result.deterministic.of).toBeLessThan(result.observation.of);
  });

  it('counts what a yes-sayer gets wrong', async () => {
    const yes = [
      ...tokenizer.encode('valid object cup cup yes'),
      special['</t>'],
      ...tokenizer.encode('at shelf 1 see nothing'),
      special['<r1>'],
    ];
    const result = await measureFidelity(cases, tokenizer, async () => cases.map(() => yes));
    expect(full(result.falseSuccesses)).toBe(true);
    expect(result.invalidActions.right).toBe(0);
    expect(full(result.validActions)).toBe(true);
    const silent = await measureFidelity(cases, tokenizer, async () => cases.map(() => []));
    expect(silent.malformed).toBe(cases.length);
  });

  it('is decided by history where it says so, and lies in rooms nobody trains on', () => {
    const determined = cases.filter((one) => one.determined);
    expect(determined.length / cases.length).toBeGreaterThan(0.4);
    for (const { context } of cases) {
      expect(context[0]).toBe(special['<em>']);
      expect(context.at(-1)).toBe(special['<t>']);
    }
    const without = fidelityCases('small', { cases: 100, seed: 1, retrieval: false });
    for (const { context } of without) expect(context.includes(special['<ret>'])).toBe(false);
  });

  it('asks a language model in batches', async () => {
    const seen = new Map<number, readonly number[]>();
    const answers = cases.slice(0, 10);
    let asked = 0;
    const sessions: Sessions = {
      count: 4,
      contextLength: 640,
      length: () => 0,
      append: (stream, tokens) => void seen.set(stream, tokens),
      copy: async () => {},
      clear: (stream) => void seen.delete(stream),
      dispose: () => {},
      generate: async (streams) =>
        streams.map((stream): Generated => {
          const one = answers[asked++];
          expect(seen.get(stream)).toBe(one.context);
          return { tokens: truth(one), logProbs: [], stopped: true };
        }),
    };
    const model = { sessions: () => sessions } as unknown as LanguageModel;
    const result = await measureFidelity(answers, tokenizer, predictWith(model, tokenizer, { batch: 4 }));
    expect(full(result.observation)).toBe(true);
  });
});

it('knows the world as the annotator does', () => {
  const { episodes } = experienceEpisodes('small', { episodes: 200, seed: 11 });
  for (const { task, goal, steps } of episodes) {
    expect(isFeasible(generateRoom('small', householdData(task).roomSeed), goal)).toBe(true);
    expect(taskFromInstruction('small', householdData(task).roomSeed, task.instruction)?.id).toBe(task.id);
    const belief = new Belief(task.firstObservation);
    for (const { action, observation, reward, valid } of steps) {
      const { judgement, reached } = experienceThought(belief, goal, action);
      expect([judgement.valid, reached ? 1 : 0]).toEqual([valid, reward]);
      belief.observe(observation);
    }
  }
});
