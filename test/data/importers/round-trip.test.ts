import { expect, test } from 'vitest';
import { transitionsOf } from '../../../src/data/importers';
import type { Trajectory } from '../../../src/data/trajectory';
import type { NewTransition } from '../../../src/dream/replay-buffer';
import { ReplayBuffer } from '../../../src/dream/replay-buffer';
import { importBytes, lines } from './support';

const room =
  'You are in the middle of a room. Looking quickly around you, you see a desk 1.\nYour task is to: put a mug in desk.';
const conversation = (reward: number) => ({
  reward,
  messages: [
    { role: 'user', content: room },
    { role: 'assistant', content: 'Thought: Go.\nAction: go to desk 1' },
    { role: 'user', content: 'Observation: On the desk 1, you see nothing.' },
    { role: 'assistant', content: 'Action: put mug 1 in/on desk 1' },
    { role: 'user', content: 'Observation: You put the mug 1 in/on the desk 1.' },
  ],
});

test('an imported trajectory, written down and imported again, is the same', async () => {
  const first = await importBytes(lines(conversation(1), conversation(0)));
  const again = await importBytes(lines(...first.episodes.map(({ trajectory, raw }) => ({ ...trajectory, raw }))));
  expect(again.report).toMatchObject({ format: 'trajectory', episodes: 2, transitions: 4, dropped: [] });
  const essence = ({ task, turns, ...rest }: Trajectory) => ({
    instruction: task.instruction,
    family: task.family,
    turns,
    return: rest.return,
  });
  expect(again.episodes.map(({ trajectory }) => essence(trajectory))).toEqual(
    first.episodes.map(({ trajectory }) => essence(trajectory)),
  );
});

test('its steps are memories of the replay buffer', async () => {
  const { episodes } = await importBytes(lines(conversation(1), conversation(0)));
  const buffer = new ReplayBuffer(100);
  const transitions: NewTransition[] = episodes.flatMap(({ trajectory, where }) => transitionsOf(trajectory, where));
  // The first step is the same in both.
  expect(buffer.add(transitions)).toBe(3);
  const [memory] = buffer.recall(episodes[0].trajectory.task.room, 'put mug 1 in/on desk 1', 'none');
  expect(memory).toMatchObject({
    state: 'at desk 1 see nothing',
    nextState: 'put mug 1 desk 1',
    reward: 1,
    source: 'offline',
  });
});

test('a record that is no trajectory names its wrong place', async () => {
  const { episodes } = await importBytes(lines(conversation(1)));
  const broken = { ...episodes[0].trajectory, source: 'elsewhere' };
  const { report } = await importBytes(lines(episodes[0].trajectory, broken));
  expect(report.dropped).toEqual([{ where: 'line 2', why: 'source is not what a trajectory has there' }]);
});
