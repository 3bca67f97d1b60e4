import { describe, expect, it } from 'vitest';
import { episodesOf, messagesJsonl, preferenceJsonl } from '../../../src/data/exporters/trl';
import type { Trajectory, Turn } from '../../../src/data/trajectory';
import { trajectoryOf } from '../../store/snapshots';

const turn = (action: string, observation: string, thought = ''): Turn => ({
  ...trajectoryOf(1).turns[0],
  thought,
  action,
  observation,
  reward: 0,
  done: false,
});

function episode(
  actions: [action: string, observation: string, thought?: string][],
  changes: Partial<Trajectory> = {},
) {
  const success = changes.success ?? true;
  return {
    ...trajectoryOf(1),
    turns: actions.map((words) => turn(...words)),
    success,
    return: success ? 1 : 0,
    ...changes,
  };
}

const episodes = (...trajectories: Trajectory[]) => episodesOf({ rollouts: [{ iteration: 1, trajectories }] });
const parsed = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

const won = episode([
  ['go to shelf 1', 'at shelf 1', 'A shelf "may" hold it.'],
  ['take cup 1 from shelf 1', 'you carry cup 1'],
]);
const failed = episode(
  [
    ['go to shelf 1', 'at shelf 1', 'A shelf "may" hold it.'],
    ['open shelf 1', 'nothing happens'],
  ],
  { success: false },
);

describe('messages for TRL', () => {
  it('tells an episode as a conversation that ends with the policy', () => {
    const { text, lines, dropped } = messagesJsonl(episodes(won, failed));
    expect(lines).toBe(1);
    expect(dropped).toEqual([{ where: 'iteration 1, episode 2', why: 'it did not succeed' }]);
    const [line] = parsed(text);
    expect(line).toMatchObject({ task: 'cup', success: true, return: 1, source: 'imagined', iteration: 1 });
    expect(line.messages.map((message: { role: string }) => message.role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
    expect(line.messages[0].content).toContain(
      'Your task is to: put a clean cup in cabinet.\n\nObservation: you see a shelf 1',
    );
    expect(line.messages[1].content).toBe('Thought: A shelf "may" hold it.\nAction: go to shelf 1');
    expect(line.messages[2].content).toBe('Observation: at shelf 1');
    expect(line.messages[3].content).toBe('Action: take cup 1 from shelf 1');
  });

  it('keeps failures when asked, never what was lost or could not be read', () => {
    const mumbled = episode([['', 'nothing happens']]);
    const { text, dropped } = messagesJsonl(episodes(won, failed, { ...won, lost: true }, mumbled), { all: true });
    expect(parsed(text).map(({ success }) => success)).toEqual([true, false]);
    expect(dropped.map(({ why }) => why)).toEqual(['the episode was lost', 'a turn could not be read as an action']);
  });

  it('speaks in sentences and tool calls where wanted', () => {
    const { text } = messagesJsonl(episodes(won), {
      tools: true,
      sentenceOf: (observation, action) => `After "${action}": ${observation}.`,
    });
    const [{ messages }] = parsed(text);
    expect(messages[1]).toEqual({
      role: 'assistant',
      content: 'A shelf "may" hold it.',
      tool_calls: [{ type: 'function', function: { name: 'act', arguments: { action: 'go to shelf 1' } } }],
    });
    expect(messages[2]).toEqual({ role: 'tool', name: 'act', content: 'After "go to shelf 1": at shelf 1.' });
  });

  it('any text stays within its line', () => {
    const nasty = episode([['say "\n\u2028"}\n{"messages":[]}', 'x', '\u0000"""']]);
    const { text } = messagesJsonl(episodes(nasty));
    expect(text.split('\n')).toHaveLength(2);
    expect(parsed(text)[0].messages[1].content).toContain('{"messages":[]}');
  });
});

describe('preferences for TRL', () => {
  it('pairs success and failure of one task; the prompt ends where they part', () => {
    const { text, lines, dropped } = preferenceJsonl(episodes(won, failed));
    expect([lines, dropped]).toEqual([1, []]);
    const [{ prompt, chosen, rejected }] = parsed(text);
    expect(prompt).toHaveLength(3);
    expect(prompt.at(-1)).toEqual({ role: 'user', content: 'Observation: at shelf 1' });
    expect(chosen).toEqual([{ role: 'assistant', content: 'Action: take cup 1 from shelf 1' }]);
    expect(rejected).toEqual([{ role: 'assistant', content: 'Action: open shelf 1' }]);
  });

  it('says which episodes found no partner', () => {
    const other = { ...won, task: { ...won.task, id: 'mug' } };
    const { lines, dropped } = preferenceJsonl(episodes(other, failed, { ...won, success: false, lost: true }));
    expect(lines).toBe(0);
    expect(dropped.map(({ why }) => why).sort()).toEqual([
      'the episode was lost',
      'the task has no failure to compare with',
      'the task has no success to compare with',
    ]);
  });

  it('does not praise what was also blamed, and does not pair one task for ever', () => {
    const same = { ...won, success: false, return: 0 };
    expect(preferenceJsonl(episodes(won, same))).toMatchObject({
      lines: 0,
      dropped: [{ why: 'one is the beginning of the other' }],
    });
    const many = Array.from({ length: 20 }, () => failed);
    const { lines, dropped } = preferenceJsonl(episodes(won, ...many));
    expect(lines).toBe(8);
    expect(dropped).toHaveLength(12);
  });
});
