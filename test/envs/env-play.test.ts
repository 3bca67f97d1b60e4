import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { CommandIo } from '../../src/cli/command';
import { play } from '../../src/cli/env-play';
import { UsageError } from '../../src/cli/options';
import { ProgressBar } from '../../src/cli/progress';
import { expertAction, generateTask, HouseholdWorld } from '../../src/envs/household';

/** Plays with the given typed lines; returns what was printed and the result. */
async function game(args: string[], typed: readonly string[], signal = new AbortController().signal, folder = '') {
  const printed: string[] = [];
  let result: object = {};
  const io: CommandIo = {
    json: false,
    root: '',
    signal,
    print: (line) => printed.push(line),
    note: (line) => printed.push(line),
    result: (value) => {
      result = value;
    },
    progress: (label) => new ProgressBar({ write: () => true, isTTY: false, columns: 80 }, label),
    resolve: (path) => join(folder, path),
  };
  const code = await play(args, io, Readable.from(typed.map((line) => `${line}\n`)));
  return { code, printed, result };
}

/** The expert's commands for the task a game starts with. */
function solution(): string[] {
  const world = new HouseholdWorld();
  world.reset(generateTask('small', 4, 2));
  const actions: string[] = [];
  while (!world.state.done) {
    actions.push(expertAction(world));
    world.step(actions[actions.length - 1]);
  }
  return actions;
}

describe('env play', () => {
  it('plays a task to its end', async () => {
    const actions = solution();
    const { code, printed, result } = await game(['--room', '4', '--seed', '2'], [...actions, 'look']);
    expect(code).toBe(0);
    expect(printed[0]).toContain('Your task is to: ');
    expect(result).toMatchObject({ success: true, steps: actions.length });
    expect(printed.at(-1)).toBe(`Task done in ${actions.length} steps.`);
  });

  it('offers commands, a hint and a way back', async () => {
    const { printed, result } = await game(
      ['--room', '4', '--abstract'],
      [':undo', ':commands', ':hint', 'go to fridge 1', ':undo', 'look', ':what', '', ':quit', 'look'],
    );
    expect(printed).toContain('Nothing to take back.');
    expect(printed.some((line) => line.includes('\ninventory\nlook'))).toBe(true);
    expect(printed).toContain('You arrive at fridge 1. The fridge 1 is closed.\n  [at fridge 1 closed]');
    expect(printed).toContain('Taken back.');
    expect(printed.filter((line) => line.includes('\n  [room ')).length).toBe(2);
    expect(printed.some((line) => line.includes(':commands'))).toBe(true);
    expect(result).toMatchObject({ success: false, steps: 1 });
  });

  it('takes a task in words, and says when it cannot be done', async () => {
    const task = generateTask('small', 4, 9);
    const { result } = await game(['--room', '4', '--task', task.instruction], [':quit']);
    expect(result).toMatchObject({ task: task.id, instruction: task.instruction, success: false, steps: 0 });
    await expect(game(['--task', 'put a unicorn in fridge'], [])).rejects.toThrow(UsageError);
    await expect(game(['--size', 'huge'], [])).rejects.toThrow(UsageError);
    await expect(game(['--room', '-1'], [])).rejects.toThrow(UsageError);
  });

  it('ends with its input, and when interrupted', async () => {
    expect((await game([], ['dance'])).printed).toContain('Nothing happens.');
    const controller = new AbortController();
    controller.abort();
    expect((await game([], [], controller.signal)).result).toMatchObject({ steps: 0 });
  });
});
