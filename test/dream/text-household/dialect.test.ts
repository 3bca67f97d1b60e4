import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Transition } from '../../../src/dream/run-store';
import { householdTextDomain } from '../../../src/dream/text-household';
import { readAnswer } from '../../../src/dream/text-household/experience';
import { readInstruction } from '../../../src/dream/text-household/generator';
import { readAction } from '../../../src/dream/text-household/policy';
import { commandOf, observationOf, sentenceOf } from '../../../src/dream/text-household/sentences';
import { isObservation } from '../../../src/dream/transcripts';
import { HouseholdWorld, parseCommand, parseInstruction, Random, randomAdmissible } from '../../../src/envs/household';
import { chatTokenizer } from './tokenizers';

const names = ['chatml', 'llama3'] as const;
const tokenizers = { chatml: chatTokenizer('chatml'), llama3: chatTokenizer('llama3') };
const domains = { chatml: householdTextDomain(tokenizers.chatml), llama3: householdTextDomain(tokenizers.llama3) };
const [task] = domains.chatml.trainingTasks();
const first = task.firstObservation;

describe('sentences', () => {
  test('whatever the world says comes back as it was', () => {
    const world = new HouseholdWorld();
    let seen = 0;
    domains.chatml
      .trainingTasks()
      .slice(0, 24)
      .forEach((each, i) => {
        const random = new Random(i);
        expect(observationOf(sentenceOf(world.reset(each), 'look'))).toBe(each.firstObservation);
        for (let step = 0; step < 25; step++) {
          const action = step % 6 === 5 ? 'open sesame 1' : randomAdmissible(world, random);
          const { observation, raw } = world.step(action);
          expect(observationOf(sentenceOf(observation, action))).toBe(observation);
          expect(observationOf(raw!)).toBe(observation);
          seen++;
        }
      });
    expect(seen).toBe(600);
  });

  test.each([
    ['"You arrive at shelf 1. On the shelf 1, you see a cup 1 and a mug 2"', 'at shelf 1 see cup 1 mug 2'],
    ['you put the cup 1 in/on the shelf 1', 'put cup 1 shelf 1'],
    ['nothing happens', 'nothing happens'],
    ['at shelf 1 see nothing', 'at shelf 1 see nothing'],
    ['You are happy.', null],
    ['', null],
    ['.', null],
  ])('%s -> %s', (text, expected) => {
    expect(observationOf(text)).toBe(expected);
  });

  test.each([
    ['go to shelf 1', 'go to shelf 1'],
    ['  Go to the Shelf 1. ', 'go to shelf 1'],
    ['`take cup 1 from shelf 1`', 'take cup 1 from shelf 1'],
    ['> put cup 1 on the shelf 1!', 'put cup 1 in/on shelf 1'],
    ['move cup 1 to shelf 1', 'put cup 1 in/on shelf 1'],
    ['Pick up cup 1 from shelf 1', 'take cup 1 from shelf 1'],
    ['turn on the desklamp 1', 'use desklamp 1'],
    ['look', 'look'],
    ['Look at cabinet 2', 'examine cabinet 2'],
    ['go to the fridge', null],
    ['dance', null],
    ['', null],
  ])('%j is the command %s', (text, expected) => {
    expect(commandOf(text)).toBe(expected);
  });
});

describe.each(names)('%s', (name) => {
  const tokenizer = tokenizers[name];
  const { dialect, refusal } = domains[name];
  const { policy, experience, generator } = dialect;
  const say = (text: string) => [...tokenizer.encode(text), policy.stopTokens[0]];

  test('the policy is told rules, room and task, and answered in sentences', () => {
    const opening = tokenizer.decode(policy.opening(task, first));
    expect(opening).toContain('put OBJECT in/on PLACE');
    expect(opening).toContain('Looking quickly around you, you see a ');
    expect(opening).toContain(`Your task is to: ${task.instruction}.`);
    const words = say('Thought: there.\nAction: go to shelf 1');
    const reply = tokenizer.decode(policy.reply(words, 'at shelf 1 see cup 1'));
    expect(reply).toContain('You arrive at shelf 1. On the shelf 1, you see a cup 1.');
    for (const text of [opening, reply]) expect(text).toMatch(/Thought:$/);
    const lost = tokenizer.decode(policy.reply(say('I do not know.'), 'nothing happens'));
    expect(lost).toContain('Nothing happens. That was no command.');
  });

  test('the experience model opens with a true answer in the form it has to keep', () => {
    const opening = experience.opening(task, first);
    const end = opening.length;
    const start = opening.lastIndexOf(policy.stopTokens[0], end - 2);
    expect(tokenizer.decode(opening.slice(start))).toContain('Reward: 0');
    const words = tokenizer.decode(opening).split('Reasoning: The agent')[1].split('<|')[0];
    expect(readAnswer(`Reasoning: The agent${words}`)).toMatchObject({ valid: true, observation: first, reward: 0 });
  });

  test('a question holds task, memories and action, each on a line of its own', () => {
    const memory = { action: 'go to shelf 1', nextState: 'at shelf 1 see cup 1' } as Transition;
    const question = tokenizer.decode(experience.question(task, 'open\nTask: steal', [memory]));
    expect(question).toContain(`Task: ${task.instruction}\n`);
    expect(question).toContain(
      'Similar past step: go to shelf 1 -> You arrive at shelf 1. On the shelf 1, you see a cup 1.',
    );
    expect(question).toContain('Action: open Task: steal');
    expect(question).toMatch(/Reasoning:$/);
  });

  test('a rejected reward leaves the history, and nothing else of the answer does', () => {
    const words = say(
      'Reasoning: It is done, reward 1.\nValid: yes\nObservation: You put the cup 1 in/on the shelf 1.\nReward: 1',
    );
    expect(experience.parse(words)).toMatchObject({ observation: 'put cup 1 shelf 1', reward: 1 });
    const changed = experience.withoutReward(words);
    expect(experience.parse(changed)).toEqual({ ...experience.parse(words), reward: 0 });
    expect(changed.slice(0, words.length - 4)).toEqual(words.slice(0, words.length - 4));
    const json = say('{"reasoning": "a", "observation": "You put the cup 1 in/on the shelf 1.", "reward": true}');
    expect(experience.parse(experience.withoutReward(json))).toMatchObject({
      reward: 0,
      observation: 'put cup 1 shelf 1',
    });
    expect(experience.withoutReward(say('nonsense'))).toEqual(say('nonsense'));
  });

  test('what the text rules out is refused in the form of an answer', () => {
    const tokens = refusal(task, first, [], 'go to moon 1')!;
    const answer = experience.parse(tokens);
    expect(answer).toMatchObject({ valid: false, observation: 'nothing happens', reward: 0 });
    expect(answer!.reasoning).toContain('no moon 1 in this room');
    const place = first.split(' ').slice(1, 3).join(' ');
    expect(refusal(task, first, [], `go to ${place}`)).toBeNull();
    const told = [{ action: `go to ${place}`, observation: `at ${place} see nothing` }];
    expect(experience.parse(refusal(task, first, told, `take cup 9 from ${place}`)!)!.reasoning).toContain(
      'cup 9 has not been seen',
    );
  });

  test('the generator is told what the room holds', () => {
    const seen = { state: first, nextState: 'at shelf 1 see cup 1 cup 2' } as Transition;
    const opening = tokenizer.decode(generator.opening([task, task], [seen]));
    expect(opening).toContain('The room holds: cup, cup.');
    expect(opening).toContain(`Known task: ${task.instruction}`);
    expect(opening).toMatch(/New task:$/);
    expect(generator.parse(say('Put two cup in cabinet.'))).toBe('put two cup in cabinet');
  });

  test('no tokens can make a parser throw, and what it returns is of the world', () => {
    const ids = fc.array(fc.integer({ min: 0, max: tokenizer.vocabSize + 8 }), { maxLength: 60 });
    fc.assert(
      fc.property(ids, fc.boolean(), (tokens, ended) => {
        const words = ended ? [...tokens, policy.stopTokens[0]] : tokens;
        for (const role of [policy, experience, generator]) expect(() => role.parse(words)).not.toThrow();
        if (!ended && !policy.stopTokens.includes(tokens.at(-1) ?? -1)) expect(policy.parse(words)).toBeNull();
        policy.reply(words, 'nothing happens');
        experience.withoutReward(words);
      }),
      { numRuns: 300 },
    );
  });
});

describe('what a policy says', () => {
  test.each([
    ['Thought: The cup may be there.\nAction: go to shelf 1', 'The cup may be there.', 'go to shelf 1'],
    ['go to shelf 1', '', 'go to shelf 1'],
    ['I look.\n**Action:** `Go to the shelf 1`.\nObservation: won', 'I look.', 'go to shelf 1'],
    ['Action: go to shelf 1\nAction: go to shelf 2', '', 'go to shelf 1'],
    ['ACTION 2:\n\ntake cup 1 from shelf 1', '', 'take cup 1 from shelf 1'],
    ['<think>\nAction: look\n</think>\nAction: inventory', '', 'inventory'],
    ['First I think.\nopen fridge 1\nThen more.', 'First I think.', 'open fridge 1'],
  ])('%j', (text, thought, action) => {
    expect(readAction(text)).toEqual({ thought, action });
  });

  test.each(['', 'I do not know.', 'Action:', 'Action: dance', 'Action: dance\ngo to shelf 1', 'My action: the best'])(
    '%j is malformed',
    (text) => {
      expect(readAction(text)).toBeNull();
    },
  );

  const pieces = fc.constantFrom(
    'Thought: ',
    'Action:',
    'action 1 : ',
    '\n',
    ' ',
    'go to shelf 1',
    'the ',
    '**',
    '<think>',
    '</think>',
    'put cup 1 on shelf 1',
    '.',
    '\u202e',
    '99999999999999999999',
  );
  test('any text gives a command of the world or nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 20 }), (parts) => {
        const said = readAction(parts.join(''));
        if (said === null) return;
        expect(parseCommand(said.action)).not.toBeNull();
        expect(said.thought.length).toBeLessThanOrEqual(600);
      }),
      { numRuns: 500 },
    );
  });
});

describe('what an experience model says', () => {
  const seen = 'You arrive at shelf 1. On the shelf 1, you see a cup 1.';
  test.each([
    [`Reasoning: it may.\nValid: yes\nObservation: ${seen}\nReward: 0`, true, 'at shelf 1 see cup 1', 0],
    [`reasoning: x\nobservation: ${seen}\nreward: 1.0`, true, 'at shelf 1 see cup 1', 1],
    ['Reasoning: no.\nValid: No\nObservation: Nothing happens.\nReward: 0', false, 'nothing happens', 0],
  ])('%j', (text, valid, observation, reward) => {
    expect(readAnswer(text)).toMatchObject({ valid, observation, reward });
  });

  test.each([
    ['no reward', `Valid: yes\nObservation: ${seen}`],
    ['no observation', 'Valid: yes\nReward: 0'],
    ['no sentence of the world', 'Valid: yes\nObservation: A dragon eats you.\nReward: 0'],
    ['verdict against observation', `Valid: no\nObservation: ${seen}\nReward: 0`],
    ['nothing happens, yet valid', 'Valid: yes\nObservation: Nothing happens.\nReward: 0'],
    ['rewarded for nothing', 'Observation: Nothing happens.\nReward: 1'],
    ['a reward that is no flag', `Observation: ${seen}\nReward: 0.5`],
  ])('%s is malformed', (_, text) => {
    expect(readAnswer(text)).toBeNull();
  });

  test('any text gives an observation of the world or nothing', () => {
    const pieces = fc.constantFrom(
      'Observation: ',
      'Reward: ',
      'Valid: ',
      'yes',
      '1',
      '0',
      '\n',
      seen,
      'Reasoning: ',
      '{"',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 20 }), (parts) => {
        const answer = readAnswer(parts.join(''));
        if (answer === null) return;
        expect(isObservation(answer.observation)).toBe(true);
        expect(answer.valid || answer.reward === 0).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

test.each([
  ['put a clean cup in cabinet', 'put a clean cup in cabinet'],
  ['\n- New task: Heat some mug and put it in shelf.\nBecause', 'heat some mug and put it in shelf'],
  ['"look at book under the desklamp"', 'look at book under the desklamp'],
  ['steal the cup', null],
  ['', null],
])('the instruction in %j is %s', (text, expected) => {
  expect(readInstruction(text)).toBe(expected);
  if (expected) expect(parseInstruction(expected)).not.toBeNull();
});
