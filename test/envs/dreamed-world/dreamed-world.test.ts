import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bufferRecall, TextExperienceModel, type TextModel } from '../../../src/dream/text-models';
import { dreamable, seededBuffer } from '../../../src/dream/text-models/dreamed-world';
import { type DreamedWorldDefinition, dreamedWorld, parseDreamedWorld } from '../../../src/envs/dreamed-world';
import { cpuTopK } from '../../dream/cpu-top-k';

const example = readFileSync(new URL('../../../examples/dreamed-world/ticket-desk.json', import.meta.url), 'utf8');
const parsed = (change: (value: Record<string, unknown>) => void = () => {}) => {
  const value = JSON.parse(example);
  change(value);
  return JSON.stringify(value);
};

describe('a definition', () => {
  test('the example gives tasks, words and memories', () => {
    const world = dreamedWorld(parseDreamedWorld(example));
    expect(world).toMatchObject({ name: 'ticket-desk', maxSteps: 10 });
    expect(world.trainingTasks).toHaveLength(3);
    expect(world.heldOutTasks).toHaveLength(1);
    expect(new Set([...world.trainingTasks, ...world.heldOutTasks].map(({ id }) => id)).size).toBe(4);
    expect(world.transitions[4]).toMatchObject({ source: 'offline', room: 'ticket-desk', reward: 1 });
    expect(world.words.description).toContain('close ticket <number>');
  });

  test('defaults', () => {
    const small = parseDreamedWorld(
      JSON.stringify({
        format: 'dreamed-world',
        version: 1,
        name: 'room',
        systemPrompt: 'A room.',
        tasks: [{ instruction: 'leave.', firstObservation: 'a door' }],
      }),
    );
    expect(small).toMatchObject({
      failureText: 'nothing happens',
      endsInFailure: false,
      maxSteps: 15,
      transitions: [],
    });
    expect(dreamedWorld(small).trainingTasks[0].instruction).toBe('leave');
  });

  test.each<[string, string, RegExp]>([
    ['not JSON', '{', /not JSON/],
    ['another format', '{"format": "zip"}', /format/],
    ['a prototype key', example.replace('"name"', '"__proto__"'), /__proto__/],
    ['no tasks', parsed((value) => Object.assign(value, { tasks: [] })), /tasks: needs at least one task/],
    ['an unknown key', parsed((value) => Object.assign(value, { sytemPrompt: 'x' })), /sytemPrompt/],
    [
      'a reward that is none',
      parsed((value) => Object.assign((value.transitions as object[])[1], { reward: 5 })),
      /transitions\.1\.reward/,
    ],
    ['an empty prompt', parsed((value) => Object.assign(value, { systemPrompt: '  ' })), /systemPrompt/],
    [
      'nothing to train on',
      parsed((value) => {
        for (const task of value.tasks as object[]) Object.assign(task, { heldOut: true });
      }),
      /every task is held out/,
    ],
  ])('%s is a typed error that names the place', (_, json, message) => {
    expect(() => parseDreamedWorld(json)).toThrowError(
      expect.objectContaining({ code: 'bad-world-definition', message: expect.stringMatching(message) }),
    );
  });
});

describe('checks from words', () => {
  const { words, trainingTasks } = dreamedWorld(parseDreamedWorld(example));
  const [answer, , find] = trainingTasks;
  const turn = (action: string, observation: string) => ({ action, observation });

  test('success is what the text shows, where the task says how', () => {
    expect(words.supportsSuccess(answer, '', [turn('close ticket 2', 'closed ticket 2')])).toBe(true);
    expect(words.supportsSuccess(answer, '', [turn('close ticket 2', 'nothing happens')])).toBe(false);
    expect(words.supportsSuccess(find, '', [turn('read ticket 1', 'ticket 1 says my Invoice is wrong')])).toBe(true);
    expect(words.supportsSuccess({ ...answer, data: { world: 'x' } }, '', [turn('a', 'b')])).toBeNull();
  });

  test.each([
    ['queue', true],
    ['read ticket 2', true],
    ['Reply to ticket 2 with article 12', true],
    ['read ticket ', false],
    ['reply to ticket with article', false],
    ['queue now', false],
    ['delete everything', false],
    [`reply to ticket ${' with article '.repeat(30_000)}`, true],
  ])('%#: an action of no form is refused', (action, fits) => {
    expect(words.refusal(answer, '', [], action) === null).toBe(fits);
    expect(words.contradicts('', [turn(action, 'something')])).toBe(!fits);
  });
});

/** Answers by the last action of the question. */
const scripted = (answers: Record<string, { observation: string; reward?: number }>): TextModel =>
  ({
    name: 'scripted',
    kind: 'endpoint',
    complete: async (requests: { messages: { content: string }[] }[]) =>
      requests.map(({ messages }) => {
        const action = JSON.parse(/\nAction: (".*")/.exec(messages.at(-1)!.content)![1]) as string;
        const { observation, reward = 0 } = answers[action] ?? { observation: 'closed ticket 9', reward: 1 };
        const text = JSON.stringify({ reasoning: 'r', valid: true, observation, reward, done: reward > 0 });
        return { text, finishReason: 'stop', generatedTokens: 1 };
      }),
  }) as unknown as TextModel;

test('the example is dreamed without a line of code', async () => {
  const desk = dreamable(parseDreamedWorld(example) as DreamedWorldDefinition);
  const dream = new TextExperienceModel({
    model: scripted({
      'read ticket 2': { observation: 'ticket 2 says i forgot my password' },
      'close ticket 2': { observation: 'closed ticket 2' },
    }),
    world: desk.world,
    recall: bufferRecall(seededBuffer(desk, 100), cpuTopK),
    retrievalTopK: 2,
    temperature: 0,
    goalCheck: true,
    stepCheck: true,
  });
  expect(await dream.reset([desk.trainingTasks[0]], 1)).toEqual(['queue ticket 1 ticket 2 ticket 3']);
  expect((await dream.step(['read ticket 2']))[0]).toMatchObject({
    observation: 'ticket 2 says i forgot my password',
    done: false,
  });
  // The model claims a success for an action that does not exist: refused by the definition's forms.
  expect((await dream.step(['close everything']))[0]).toMatchObject({
    observation: 'nothing happens',
    valid: false,
    reward: 0,
  });
  // The model forgets the reward: the definition's success words grant it.
  expect((await dream.step(['close ticket 2']))[0]).toMatchObject({ reward: 1, done: true });
  expect(dream.counts).toMatchObject({ refusals: 1, grantedSuccesses: 1, lost: 0 });
  expect(dream.counts.recalled).toBeGreaterThan(0);
});
