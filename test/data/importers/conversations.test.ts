import { describe, expect, test } from 'vitest';
import { importedData } from '../../../src/data/importers';
import { importBytes, lines } from './support';

const room =
  'You are in the middle of a room. Looking quickly around you, you see a desk 1, and a shelf 1.\nYour task is to: put a mug in desk.';
const turnsOf = (imported: Awaited<ReturnType<typeof importBytes>>, i = 0) =>
  imported.episodes[i].trajectory.turns.map(({ thought, action, observation }) => [thought, action, observation]);

describe('OpenAI messages', () => {
  const messages = [
    { role: 'system', content: 'Act.' },
    { role: 'user', content: room },
    { role: 'assistant', content: 'Thought: The shelf.\nAction: go to shelf 1' },
    { role: 'user', content: 'Observation: On the shelf 1, you see a mug 1.' },
    { role: 'assistant', content: '<think>Take it.</think><action>take mug 1 from shelf 1</action>' },
    { role: 'user', content: [{ type: 'text', text: 'You pick up the mug 1 from the shelf 1.' }] },
  ];
  const expected = [
    ['The shelf.', 'go to shelf 1', 'at shelf 1 see mug 1'],
    ['Take it.', 'take mug 1 from shelf 1', 'take mug 1 shelf 1'],
  ];

  test.each([
    ['JSONL', `${lines({ messages, reward: 1 }, { messages, success: false })}\n`],
    [
      'an array',
      JSON.stringify(
        [
          { messages, reward: 1 },
          { messages, success: false },
        ],
        null,
        1,
      ),
    ],
    ['a dict of episodes', JSON.stringify({ a: { messages, reward: 1 }, b: { messages, success: false } })],
    [
      'a dict of lists',
      JSON.stringify({
        train: [
          { messages, reward: 1 },
          { messages, success: false },
        ],
      }),
    ],
  ])('%s', async (_, text) => {
    for (const size of [1, 5, 1 << 20]) {
      const imported = await importBytes(text, { size });
      expect(imported.report).toMatchObject({ format: 'openai-messages', episodes: 2, transitions: 4, dropped: [] });
      expect(imported.report.kept).toMatchObject({ successes: 1, failures: 1, worlds: { household: 2 } });
      expect(turnsOf(imported)).toEqual(expected);
      expect(imported.episodes[0].raw.preamble).toBe('Act.');
    }
  });

  test('tool calls are actions, several in one turn each with its own answer', async () => {
    const call = (id: string, name: string, args: object) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    });
    const imported = await importBytes(
      lines({
        messages: [
          { role: 'user', content: room },
          {
            role: 'assistant',
            content: 'The shelf, then the mug.',
            tool_calls: [
              call('1', 'goto', { recep: 'shelf 1' }),
              call('2', 'take', { recep: 'shelf 1', obj: 'mug 1' }),
            ],
          },
          { role: 'tool', tool_call_id: '1', content: 'On the shelf 1, you see a mug 1.' },
          { role: 'tool', tool_call_id: '2', content: 'You pick up the mug 1 from the shelf 1.' },
        ],
      }),
    );
    expect(turnsOf(imported)).toEqual([
      ['The shelf, then the mug.', 'go to shelf 1', 'at shelf 1 see mug 1'],
      ['', 'take mug 1 from shelf 1', 'take mug 1 shelf 1'],
    ]);
  });

  test('what cannot be kept is named: foreign roles, empty turns, answers without an action, broken lines', async () => {
    const { report } = await importBytes(
      [
        JSON.stringify({ messages }),
        '{"messages": [',
        JSON.stringify({
          messages: [
            { role: 'narrator', content: 'x' },
            { role: 'user', content: 'hi' },
          ],
        }),
        JSON.stringify({
          messages: [
            ...messages.slice(1, 3),
            { role: 'assistant', content: 'I wonder.\n\nWhat now?' },
            { role: 'user', content: null },
          ],
        }),
        '',
        '"only a string"',
      ].join('\n'),
    );
    expect(report.episodes).toBe(2);
    expect(report.dropped).toEqual([
      { where: 'line 2', why: 'it is not JSON' },
      { where: 'line 3 / turn 1', why: 'a role that is neither system, user, assistant nor tool' },
      { where: 'line 3', why: 'no turn of an agent with an action' },
      { where: 'line 4 / turn 4', why: 'a turn without text' },
      { where: 'line 4 / turn 3', why: 'an agent turn without an action' },
      { where: 'line 6', why: 'not a conversation' },
    ]);
  });

  test('a plain conversation of another world keeps its own words', async () => {
    const imported = await importBytes(
      lines({
        messages: [
          { role: 'user', content: 'What is\nin the box?' },
          { role: 'assistant', content: 'I open it.' },
          { role: 'user', content: 'A  lamp.' },
        ],
      }),
    );
    expect(imported.report.kept.worlds).toEqual({ text: 1 });
    expect(imported.episodes[0].trajectory.firstObservation).toBe('What is in the box?');
    expect(turnsOf(imported)).toEqual([['', 'I open it.', 'A lamp.']]);
  });
});

describe('ShareGPT and ETO', () => {
  test('mixed keys, a list of conversations', async () => {
    const imported = await importBytes(
      JSON.stringify([
        [
          { role: 'user', content: room },
          { from: 'gpt', content: 'Thought: There.\nAction: go to shelf 1' },
          { role: 'user', content: 'Observation: On the shelf 1, you see nothing.' },
          { from: 'gpt', content: 'Thought: Hm.\nAction: go to desk 1' },
        ],
      ]),
    );
    expect(imported.report).toMatchObject({ format: 'sharegpt', episodes: 1, transitions: 1 });
    expect(imported.report.withoutTransition).toEqual({ 'no answer to it': 1 });
    expect(turnsOf(imported)).toEqual([
      ['There.', 'go to shelf 1', 'at shelf 1 see nothing'],
      ['Hm.', 'go to desk 1', ''],
    ]);
  });

  test('preference pairs become two episodes of one task', async () => {
    const gpt = (value: string) => ({ from: 'gpt', value });
    const human = (value: string) => ({ from: 'human', value });
    const { report, episodes } = await importBytes(
      JSON.stringify([
        {
          id: 7,
          prompt: [human('Do as told.'), gpt('OK'), human(room)],
          chosen: [gpt('Action: go to shelf 1'), human('Observation: On the shelf 1, you see nothing.')],
          rejected: [gpt('Action: go to desk 1'), human('Observation: On the desk 1, you see nothing.')],
        },
      ]),
    );
    expect(report).toMatchObject({ format: 'sharegpt', episodes: 2, dropped: [] });
    const [chosen, rejected] = episodes.map(({ trajectory }) => trajectory);
    expect(importedData(chosen)?.preference).toBe('chosen');
    expect(importedData(rejected)?.preference).toBe('rejected');
    expect(chosen.task.id).toBe(rejected.task.id);
    expect(episodes[0].raw.preamble).toBe('Do as told.\n\nOK');
  });
});

describe('AgentGym', () => {
  const begin = [
    { from: 'human', loss: null, value: 'Interact with a household.' },
    { from: 'gpt', loss: false, value: "OK. I'll follow your instructions." },
    { from: 'human', loss: null, value: `${room}\nAVAILABLE ACTIONS: go to desk 1,go to shelf 1` },
  ];
  const answer = { from: 'human', loss: null, value: 'On the shelf 1, you see a mug 1.\nAVAILABLE ACTIONS: look' };

  test.each([
    ['react', 'Thought:\nThe shelf.\n\nAction:\ngo to shelf 1'],
    [
      'function calling',
      '```json\n{"thought": "The shelf.", "function_name": "goto", "arguments": {"recep": "shelf 1"}}\n```',
    ],
    [
      'function calling, arguments in a string',
      '{"thought": "The shelf.", "function_name": "goto", "arguments": "{\\"recep\\": \\"shelf 1\\"}"}',
    ],
    ['code as action', '```python\n# The shelf.\ngoto("shelf 1")\n```'],
  ])('%s', async (_, value) => {
    const imported = await importBytes(
      JSON.stringify([
        { item_id: 'alfworld_3', conversations: [...begin, { from: 'gpt', loss: true, value }, answer] },
      ]),
    );
    expect(imported.report).toMatchObject({ format: 'agentgym', episodes: 1, transitions: 1, dropped: [] });
    expect(turnsOf(imported)).toEqual([['The shelf.', 'go to shelf 1', 'at shelf 1 see mug 1']]);
    expect(imported.episodes[0].trajectory.task.instruction).toBe('put a mug in desk');
    expect(importedData(imported.episodes[0].trajectory)).toMatchObject({ outcome: 'assumed', skip: [] });
  });

  test('loss false on a turn is respected', async () => {
    const { episodes } = await importBytes(
      lines({
        conversations: [
          ...begin,
          { from: 'gpt', loss: false, value: 'Action: look' },
          answer,
          { from: 'gpt', loss: true, value: 'Action: inventory' },
        ],
      }),
    );
    expect(importedData(episodes[0].trajectory)?.skip).toEqual([0]);
  });
});
