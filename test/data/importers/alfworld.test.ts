import { describe, expect, test } from 'vitest';
import { transitionExamples, transitionsOf } from '../../../src/data/importers';
import { importBytes } from './support';

const room =
  'You are in the middle of a room. Looking quickly around you, you see a cabinet 1, a desk 1, and a shelf 1.';

const react = `${room}
Your task is to: put some mug on desk.
> think: A mug is often on a shelf.
OK.
> think: So first the shelf.
OK.
> go to shelf 1
You arrive at loc 3. On the shelf 1, you see a mug 1, a pen 2.
> take mug 1 from shelf 1
> think: Now I have it.
OK.
You pick up the mug 1 from the shelf 1.
> go to desk 1
On the desk 1, you see nothing.
> put mug 1 in/on desk 1
You put the mug 1 in/on the desk 1.
`;

describe('ReAct prompts', () => {
  test('thoughts, a missing last "and", an answer below a thought: all of it is kept', async () => {
    const { report, episodes } = await importBytes(JSON.stringify({ react_put_0: react, act_put_0: react }));
    expect(report).toMatchObject({ format: 'react-alfworld', episodes: 2, transitions: 8, dropped: [] });
    const { trajectory, raw } = episodes[0];
    expect(trajectory.firstObservation).toBe('room cabinet 1 desk 1 shelf 1');
    expect(trajectory.task).toMatchObject({ instruction: 'put some mug on desk', family: 'pick_and_place_simple' });
    expect(trajectory.turns.map(({ thought, action, observation }) => [thought, action, observation])).toEqual([
      ['A mug is often on a shelf.\nSo first the shelf.', 'go to shelf 1', 'at shelf 1 see mug 1 pen 2'],
      ['', 'take mug 1 from shelf 1', 'take mug 1 shelf 1'],
      ['Now I have it.', 'go to desk 1', 'at desk 1 see nothing'],
      ['', 'put mug 1 in/on desk 1', 'put mug 1 desk 1'],
    ]);
    expect(trajectory).toMatchObject({ source: 'offline', success: true, return: 1 });
    expect(trajectory.turns.at(-1)).toMatchObject({ reward: 1, done: true });
    expect(raw.turns[0].observation).toBe('You arrive at loc 3. On the shelf 1, you see a mug 1, a pen 2.');
  });

  test('the same transcript as a text file has no known outcome, and its last step is no memory', async () => {
    const { report, episodes } = await importBytes(`${react}\n${react}`);
    expect(report).toMatchObject({ format: 'alfworld-text', episodes: 2, transitions: 6 });
    expect(report.kept.unknownOutcomes).toBe(2);
    expect(report.withoutTransition).toEqual({ 'its reward is not known': 2 });
    const examples = [...transitionExamples(episodes[0].trajectory)];
    expect(examples.map(({ reward }) => reward)).toEqual([0, 0, 0, null]);
    expect(examples[2].history).toHaveLength(2);
    expect(transitionsOf(episodes[0].trajectory, 'e')).toHaveLength(3);
  });
});

describe('ADaPT results', () => {
  const trace =
    ' think: Look first.\nOK.\n> go to shelf 1\nYou arrive at the location. On the shelf 1, you see a mug 1.\n> think: Task completed!\nOK.\n>\n\n\n move mug 1 to desk 1\nNothing happens.\n> think: Over.\nOK.\n>\n';
  const file = {
    pick_and_place: {
      'pick_and_place_simple-Mug-None-Desk-308/trial_1': {
        problem: `${room}\nYour task is to: put a mug in desk.`,
        trace,
        plans: ['put a mug in desk at depth 1'],
        reward: false,
      },
      'pick_and_place_simple-Mug-None-Desk-308/trial_2': { problem: room, trace: '', plans: [], reward: false },
    },
    overall: { rate: 0.5, count: [1] },
  };

  test('an action marked by its leading space only, both put grammars, nothing dropped silently', async () => {
    const { report, episodes, dropped } = await importBytes(JSON.stringify(file, null, 2), { size: 7 });
    expect(report).toMatchObject({ format: 'adapt', episodes: 1, transitions: 2 });
    expect(episodes[0].trajectory.turns).toMatchObject([
      { thought: 'Look first.', action: 'go to shelf 1', observation: 'at shelf 1 see mug 1', valid: true },
      { thought: 'Task completed!', action: 'put mug 1 in/on desk 1', observation: 'nothing happens', valid: false },
    ]);
    expect(episodes[0].raw.turns[1].action).toBe('move mug 1 to desk 1');
    expect(dropped).toEqual([
      {
        where: 'pick_and_place / pick_and_place_simple-Mug-None-Desk-308/trial_1 / last thought',
        why: 'a closing thought with no action after it',
      },
      {
        where: 'pick_and_place / pick_and_place_simple-Mug-None-Desk-308/trial_1 / plans',
        why: 'plans of the agent program: no steps in them',
      },
      { where: 'pick_and_place / pick_and_place_simple-Mug-None-Desk-308/trial_2', why: 'no action in it' },
      { where: 'overall / rate', why: 'a summary, not an episode' },
      { where: 'overall / count', why: 'a summary, not an episode' },
    ]);
  });

  test('action histories keep actions and thoughts, but are no transitions', async () => {
    const { report, episodes } = await importBytes(
      JSON.stringify({
        fixed_0: {
          problem: 'I am looking to buy a product. a red cup, and price lower than 20.00 dollars ',
          score: 0.5,
          success: false,
          action_history: ['search[red cup]', 'think[The first fits.]', 'click[B000000001]', 'click[Buy Now]'],
        },
        overall: { score: 0.5 },
      }),
    );
    expect(report).toMatchObject({ format: 'adapt', episodes: 1, transitions: 0, kept: { worlds: { shop: 1 } } });
    expect(report.withoutTransition).toEqual({ 'no state before it': 3 });
    expect(episodes[0].trajectory).toMatchObject({ return: 0.5, success: false });
    expect(episodes[0].trajectory.task.instruction).toBe('a red cup, and price lower than 20.00 dollars');
    expect(episodes[0].trajectory.turns[1]).toMatchObject({ thought: 'The first fits.', action: 'click[B000000001]' });
  });
});
