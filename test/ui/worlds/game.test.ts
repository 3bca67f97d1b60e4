/** @file The games of the panel "Worlds": played, taken back, judged; templates filled; files of trajectories read. */
import { beforeEach, describe, expect, test } from 'vitest';
import * as game from '../../../src/ui/worlds/game';
import { cancelImport, imported, importFile, importing, importProblem } from '../../../src/ui/worlds/importing';
import { judgementOf } from '../../../src/ui/worlds/judgement';

const judgement = () => judgementOf(game.world.value!, game.environment.value!);

/** The expert plays to the end. */
function playThrough(most = 60): void {
  for (let step = 0; step < most && !game.over.value; step++) {
    game.askExpert();
    game.act(game.hint.value!);
  }
}

describe.each(['household', 'shop', 'web'])('%s', (name) => {
  beforeEach(() => game.choose(name));

  test('the expert’s hints lead to the end, and every step can be taken back', () => {
    expect(game.fetching.value).toBeNull();
    expect(game.problem.value).toBeNull();
    const first = game.possible.value;
    expect(first.length).toBeGreaterThan(0);
    const begun = game.beginning.value;
    playThrough();
    expect(game.over.value).toBe(true);
    expect(game.reward.value).toBe(1);
    expect(game.possible.value).toEqual([]);
    const steps = game.moves.value.length;
    game.act('look');
    expect(game.moves.value).toHaveLength(steps);
    for (let i = 0; i < steps; i++) game.undo();
    expect(game.moves.value).toEqual([]);
    expect(game.possible.value).toEqual(first);
    expect(game.beginning.value).toBe(begun);
    // Going the same way again ends the same.
    playThrough();
    expect(game.moves.value).toHaveLength(steps);
  });

  test('what the world does not understand changes nothing', () => {
    game.act('   ');
    expect(game.moves.value).toEqual([]);
    game.act('<b>dance</b>');
    expect(game.moves.value).toMatchObject([{ action: '<b>dance</b>', valid: false, reward: 0 }]);
  });

  test('tasks go round, within those to train on or those of the exam', () => {
    const { training, heldOut } = game.tasks.value;
    game.beginNext();
    expect(game.task.value?.id).toBe(training[1].id);
    game.begin(heldOut[heldOut.length - 1]);
    game.beginNext();
    expect(game.task.value?.id).toBe(heldOut[0].id);
  });
});

test('a purchase is judged in its parts', async () => {
  await game.choose('shop');
  expect(judgement()).toBeNull();
  playThrough();
  const found = judgement()!;
  expect(found.title).toBe('Score of the purchase: 1.00 of 1');
  expect(found.lines.map(({ name }) => name)).toEqual([
    'Kind of product',
    'Wanted qualities',
    'Wanted options',
    'Price within the limit',
  ]);
  expect(found.lines.every(({ good }) => good !== false)).toBe(true);
});

test('an answer is judged evaluator by evaluator', async () => {
  await game.choose('web');
  game.act('stop [no idea]');
  const found = judgement()!;
  expect(found.title).toMatch(/^Score: 0 of 1$/);
  expect(found.lines.length).toBeGreaterThan(0);
  expect(found.lines.some(({ good }) => good === false)).toBe(true);
});

test('the last world asked for is the one that is shown', async () => {
  await Promise.all([game.choose('household'), game.choose('shop')]);
  expect(game.world.value?.name).toBe('shop');
  await game.choose('nowhere');
  expect(game.problem.value?.code).toBe('unknown-world');
  expect(game.fetching.value).toBeNull();
});

test('templates', () => {
  expect(game.gapsOf('click[buy now]')).toBeNull();
  const gaps = game.gapsOf('type [7] [<text>] [1]')!;
  expect(gaps).toEqual({ pieces: ['type [7] [', '] [1]'], names: ['text'] });
  expect(game.filled(gaps, ['a mug'])).toBe('type [7] [a mug] [1]');
  expect(game.filled(gaps, [])).toBe('type [7] [] [1]');
});

const line = JSON.stringify({
  messages: [
    { role: 'system', content: 'Act.' },
    { role: 'user', content: 'You see a door. Your task is to: open it.' },
    { role: 'assistant', content: 'Thought: go\nAction: open door' },
    { role: 'user', content: 'The door is open.' },
    { role: 'assistant', content: 'Thought: done\nAction: stop' },
  ],
});

describe('trajectory files', () => {
  test('are read whole, with a report and lines to keep', async () => {
    await importFile(new File([`${line}\n${line}\nnot json\n`], 'mine.jsonl'));
    expect(importProblem.value).toBeNull();
    const found = imported.value!;
    expect(found.report.episodes).toBe(2);
    expect(found.report.droppedTotal).toBe(1);
    const kept = (await found.lines.text()).trim().split('\n');
    expect(kept).toHaveLength(2);
    expect(JSON.parse(kept[0]).turns[0]).toMatchObject({ action: 'open door' });
    expect(importing.value).toBeNull();
  });

  test('that are none say so', async () => {
    await importFile(new File(['\u0000\u0001'], 'noise.bin'));
    expect(importProblem.value?.code).toBe('no-trajectories');
    expect(imported.value).toBeNull();
  });

  test('that are cancelled leave nothing', async () => {
    const reading = importFile(new File([`${line}\n`.repeat(20_000)], 'long.jsonl'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(importing.value?.name).toBe('long.jsonl');
    cancelImport();
    await reading;
    expect(importProblem.value?.code).toBe('cancelled');
    expect(imported.value).toBeNull();
  });
});
