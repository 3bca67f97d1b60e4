/** @file Led turns and answers: whatever is drawn from what is allowed can be read, is possible, and stays itself. */
import { describe, expect, test } from 'vitest';
import type { TurnGuide } from '../../../src/dream/domain';
import { rollOut } from '../../../src/dream/rollouts';
import {
  ChatTurns,
  defaultTextSettings,
  householdTextDomain,
  type TextSettings,
  textDomainFor,
  warmStart,
} from '../../../src/dream/text-household';
import { admissibleIn } from '../../../src/dream/text-household/admissible';
import { demonstrations } from '../../../src/dream/text-household/demonstrations';
import { readBeginning } from '../../../src/dream/text-household/head-start';
import { easyTasks, expertLength } from '../../../src/dream/text-household/tasks';
import { Belief } from '../../../src/dream/transcripts';
import { expertAction, HouseholdWorld, Random, randomAdmissible, trainingTasks } from '../../../src/envs/household';
import type { LanguageModel, SamplingOptions, Sessions, TrainSequence } from '../../../src/nn/language-model';
import { SpeakingModel } from './speaking-models';
import { chatTokenizer } from './tokenizers';

const tokenizers = { chatml: chatTokenizer('chatml'), llama3: chatTokenizer('llama3') };
const names = ['chatml', 'llama3'] as const;
const settings = (changes: Partial<TextSettings> = {}): TextSettings => ({ ...defaultTextSettings, ...changes });

/** Draws an answer as a model would that knows nothing; long thoughts are rare. */
function draw(guide: TurnGuide, stopTokens: readonly number[], random: Random, most = 400): number[] {
  const drawn: number[] = [];
  while (drawn.length < most) {
    const allowed = guide(drawn);
    const token = allowed === null ? random.int(250) + 3 : random.pick([...allowed]);
    drawn.push(token);
    if (stopTokens.includes(token)) return drawn;
  }
  return drawn;
}

test('what the text allows is what the world accepts', () => {
  const world = new HouseholdWorld();
  for (const task of trainingTasks('small', 40, 3)) {
    const random = new Random(task.id.length);
    const belief = new Belief(world.reset(task));
    for (let step = 0; step < 25; step++) {
      // ALFWorld slices through closed doors, which lists what nobody has seen.
      const accepted = world.admissible().filter((action) => action !== 'help' && !action.startsWith('slice'));
      expect(admissibleIn(belief).filter((action) => !action.startsWith('slice'))).toEqual(accepted);
      const { observation, done } = world.step(randomAdmissible(world, random));
      if (done) break;
      belief.observe(observation);
    }
  }
});

describe.each(names)('%s: a turn', (name) => {
  const tokenizer = tokenizers[name];
  const actions = ['go to shelf 1', 'go to shelf 12', 'go to shelf 2', 'look', 'take cup 1 from shelf 1'];

  test.each([0, 1, 24])('of at most %i tokens of thought ends with a possible action', (thoughtTokens) => {
    const { policy } = householdTextDomain(tokenizer, 'small', settings({ thoughtTokens })).dialect;
    const seen = new Set<string>();
    for (let seed = 0; seed < 60; seed++) {
      const words = draw(policy.guide!(actions), policy.stopTokens, new Random(seed));
      expect(words.length).toBeLessThanOrEqual(policy.maxNewTokens);
      const said = policy.parse(words);
      expect(actions).toContain(said?.action);
      seen.add(said!.action);
    }
    expect(seen.size).toBe(actions.length);
  });

  test('of free words ends behind its action', () => {
    const { policy } = householdTextDomain(tokenizer, 'small', settings({ constrain: 'none' })).dialect;
    const guide = policy.guide!([]);
    const spoken = tokenizer.encode(' I see.\nAction: go to shelf 1\n');
    for (let i = 0; i < spoken.length; i++) expect(guide(spoken.slice(0, i))).toBeNull();
    const end = guide(spoken)!;
    expect(end).toHaveLength(1);
    expect(policy.parse([...spoken, ...end])).toEqual({ thought: 'I see.', action: 'go to shelf 1' });
  });

  test('that is demonstrated is one that could have been drawn, and bears the loss alone', () => {
    const turns = new ChatTurns(tokenizer);
    for (const thoughtTokens of [0, 80]) {
      const form = settings({ thoughtTokens });
      const { policy } = householdTextDomain(tokenizer, 'small', form).dialect;
      const source = demonstrations(turns, form, { size: 'small', seed: 5, maxSteps: 12, contextLength: 4000 });
      const { tokens, weights } = source.next().value;
      let own: number[] = [];
      let answers = 0;
      for (const [t, weight] of weights.entries()) {
        if (weight > 0) own.push(tokens[t]);
        if (own.length === 0 || (weight > 0 && t < weights.length - 1)) continue;
        const said = policy.parse(own)!;
        const guide = policy.guide!([said.action]);
        own.forEach((token, i) => {
          const allowed = guide(own.slice(0, i));
          expect(allowed).toContain(token);
        });
        expect(said.thought !== '').toBe(thoughtTokens > 0);
        answers++;
        own = [];
      }
      expect(answers).toBeGreaterThan(2);
    }
  });
});

test.each(names)('%s: a dreamed answer that is led can be read, and never contradicts what was seen', (name) => {
  const domain = householdTextDomain(tokenizers[name], 'small', settings());
  const role = domain.dialect.experience;
  const sights = new Set<string>();
  for (const [n, task] of trainingTasks('small', 12, 1).entries()) {
    const random = new Random(n);
    const turns: { action: string; observation: string; valid: boolean }[] = [];
    for (let step = 0; step < 12; step++) {
      const action = random.pick([...domain.admissible!(task.firstObservation, turns)]);
      const words = draw(role.guide!(task.firstObservation, turns, action, task), role.stopTokens, random);
      const answer = role.parse(words);
      expect(answer).not.toBeNull();
      const { observation, valid } = answer!;
      if (valid) expect(domain.contradicts(task.firstObservation, [...turns, { action, observation }])).toBe(false);
      turns.push({ action, observation, valid });
      sights.add(observation);
    }
  }
  // It does imagine: not every place holds the same.
  expect([...sights].filter((sight) => / see \w+ \d/.test(sight)).length).toBeGreaterThan(5);
});

test('easy tasks are easy, and evaluated on easy ones that were never trained on', () => {
  const all = trainingTasks('small', 200, 1);
  const easy = easyTasks(all, 6);
  expect(easy.length).toBeGreaterThan(5);
  expect(easy.length).toBeLessThan(all.length / 2);
  for (const task of easy) expect(expertLength(task, 6)).not.toBeNull();
  expect(() => easyTasks(all, 1)).toThrow(/not enough tasks/);
  const domain = householdTextDomain(tokenizers.chatml, 'small', settings({ expertSteps: 6 }));
  const held = domain.heldOutTasks(10);
  expect(held).toHaveLength(10);
  expect(domain.heldOutTasks(4)).toEqual(held.slice(0, 4));
  const trained = new Set(domain.trainingTasks().map(({ id }) => id));
  expect(held.some(({ id }) => trained.has(id))).toBe(false);
});

test('a begun task is done with the actions that are left, in the real world and in what the text says', async () => {
  const domain = householdTextDomain(
    tokenizers.chatml,
    'small',
    settings({ headStart: 2, expertSteps: 6, thoughtTokens: 0 }),
  );
  const tasks = domain.trainingTasks().slice(0, 6);
  const world = domain.realWorld();
  const firsts = await world.reset(tasks, 1);
  expect(firsts).toEqual(tasks.map(({ firstObservation }) => firstObservation));
  for (const [i, task] of tasks.entries()) {
    const { room, turns: before } = readBeginning(task.firstObservation);
    expect(before.length).toBeGreaterThan(1);
    expect(domain.admissible!(task.firstObservation, [])).toEqual(world.admissible!(i));
    const player = new HouseholdWorld();
    expect(player.reset(task)).toBe(room);
    for (const { action, observation } of before) expect(player.step(action).observation).toBe(observation);
    const told = [];
    for (let left = 2; left > 0; left--) {
      const action = expertAction(player);
      const [result] = (await world.step(tasks.map((_, j) => (j === i ? action : null)))).filter(
        (step) => step !== null,
      );
      player.step(action);
      told.push({ action, observation: result.observation, valid: true });
      expect(result.done).toBe(left === 1);
      expect(domain.contradicts(task.firstObservation, told)).toBe(false);
      expect(domain.supportsSuccess(task, task.firstObservation, told)).toBe(left === 1);
    }
    const { policy, experience } = domain.dialect;
    for (const opening of [policy, experience].map((role) => role.opening(task, task.firstObservation)))
      for (const { action } of before) expect(tokenizers.chatml.decode(opening)).toContain(`Action: ${action}`);
  }
  // Evaluations begin at the beginning.
  for (const task of domain.heldOutTasks(5)) expect(readBeginning(task.firstObservation).turns).toEqual([]);
});

test('a context that cannot hold a turn is refused before anything is computed', () => {
  expect(() => textDomainFor(tokenizers.chatml, 300, settings())).toThrow(
    expect.objectContaining({ code: 'context-too-short' }),
  );
});

/** Draws whatever it is allowed. */
class WillingModel extends SpeakingModel {
  constructor() {
    super(tokenizers.chatml, () => '');
  }
  override sessions(count: number): Sessions {
    const sessions = super.sessions(count);
    return Object.assign(sessions, {
      async generate(streams: readonly number[], { allowed, stopTokens, seed }: SamplingOptions) {
        return streams.map((stream) => {
          const random = new Random(seed + stream);
          const tokens = draw((drawn) => allowed!(stream, drawn), stopTokens, random);
          sessions.append(stream, tokens);
          return { tokens, logProbs: tokens.map(() => -2), stopped: true };
        });
      },
    });
  }
}

test('rollouts: only what was a decision bears a loss', async () => {
  const domain = householdTextDomain(tokenizers.chatml, 'small', settings({ thoughtTokens: 5, listActions: true }));
  const tasks = domain.trainingTasks().slice(0, 3);
  const report = await rollOut({
    policy: new WillingModel() as LanguageModel,
    domain,
    environment: domain.realWorld(),
    tasks,
    groups: [0, 1, 2],
    maxSteps: 6,
    temperature: 1,
    seed: 1,
  });
  expect(report.malformedActions).toBe(0);
  for (const { trajectory, stream } of report.rollouts) {
    expect(trajectory.turns.every(({ valid }) => valid)).toBe(true);
    const own = stream.tokens.filter((_, t) => stream.turns[t] >= 0);
    // `Action:` and the end of a turn are given; thought and choice are not.
    expect(tokenizers.chatml.decode(own)).not.toMatch(/Action|<\|/);
    expect(own.length).toBeGreaterThanOrEqual(trajectory.turns.length * 5);
    const given = stream.turns.map((turn, t) => (turn < 0 ? stream.logProbs[t] : 0));
    expect(given.every((logProb) => logProb === 0)).toBe(true);
    const text = tokenizers.chatml.decode(stream.tokens);
    expect(text).toContain('Possible commands: ');
  }
});

test('the warm start is a function of its seed, and its weights sum to one a step', async () => {
  const turns = new ChatTurns(tokenizers.chatml);
  const run = async (seed: number) => {
    const steps: { sequences: readonly TrainSequence[]; rate: number }[] = [];
    const policy: Pick<LanguageModel, 'trainStep'> = {
      async trainStep(sequences, loss, { learningRate }) {
        expect(loss).toEqual({ kind: 'sft' });
        steps.push({ sequences, rate: learningRate });
        const zero = { gradNorm: 0, entropy: 0, kl: 0, clipFraction: 0, logProbGap: 0, tokens: 0 };
        return { ...zero, loss: 1, applied: true };
      },
    };
    const options = { size: 'small' as const, seed, maxSteps: 8, contextLength: 4000 };
    expect(await warmStart(policy, turns, settings({ warmStart: 5 }), options)).toEqual([1, 1, 1, 1, 1]);
    return steps;
  };
  const first = await run(1);
  expect(await run(1)).toEqual(first);
  expect(await run(2)).not.toEqual(first);
  for (const { sequences } of first) {
    const total = sequences.reduce((sum, { weights }) => sum + Array.from(weights).reduce((a, b) => a + b, 0), 0);
    expect(total).toBeCloseTo(1, 6);
  }
  expect(first.map(({ rate }) => rate).every((rate) => rate > 0 && rate <= 1e-3)).toBe(true);
});
