import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { benchEnvironments, type EnvironmentSpeed } from '../../src/cli/bench-envs';
import type { CommandIo } from '../../src/cli/command';
import { run as env } from '../../src/cli/commands/env';
import { play } from '../../src/cli/env-play';
import { UsageError } from '../../src/cli/options';
import { ProgressBar } from '../../src/cli/progress';
import {
  expertAction,
  generateRoom,
  generateTask,
  type HouseholdData,
  HouseholdWorld,
  heldOutTasks,
} from '../../src/envs/household';
import { openWorld, worlds } from '../../src/envs/registry';
import { householdGame } from './textworld/household-game';

/** A terminal that only remembers. */
function ioFor(printed: string[], signal = new AbortController().signal, folder = ''): CommandIo & { given: object } {
  const io = {
    json: false,
    root: '',
    signal,
    given: {},
    print: (line: string) => printed.push(line),
    note: (line: string) => printed.push(line),
    result(value: object) {
      io.given = value;
    },
    progress: (label: string) => new ProgressBar({ write: () => true, isTTY: false, columns: 80 }, label),
    resolve: (path: string) => join(folder, path),
  };
  return io;
}

/** Plays with the given typed lines; returns what was printed and the result. */
async function game(args: string[], typed: readonly string[], signal?: AbortSignal, folder?: string) {
  const printed: string[] = [];
  const io = ioFor(printed, signal, folder);
  const code = await play(args, io, Readable.from(typed.map((line) => `${line}\n`)));
  return { code, printed, result: io.given };
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

  it('keeps what belongs to the household from other worlds', async () => {
    for (const args of [
      ['--env', 'shop', '--room', '3'],
      ['--env', 'shop', '--helpful'],
      ['--domain', 'x'],
      ['--env', 'a.tw-pddl', '--held-out'],
      ['--env', 'p.pddl'],
      ['--env', 'shpo'],
      ['--env', 'constructor'],
      ['--env', 'shop', '--task', 'find me a unicorn'],
      ['--held-out', '--room', '2'],
    ])
      await expect(game(args, [])).rejects.toThrow(UsageError);
  });

  it('plays the evaluation tasks', async () => {
    const [, second] = heldOutTasks('small', 2);
    const { result } = await game(['--held-out', '--seed', '2'], [':quit']);
    expect(result).toMatchObject({ env: 'household', task: second.id, success: false, reward: 0 });
  });
});

describe.each(Object.keys(worlds))('the world %s', (name) => {
  it('is played in the terminal with hints, a way back and its commands', async () => {
    const world = await openWorld(name);
    expect(world.name).toBe(name);
    const { printed, result } = await game(
      ['--env', name, '--seed', '2', '--abstract'],
      [':commands', 'nonsense', ':undo', ':hint', ':quit'],
    );
    const [task] = world.trainingTasks(2).slice(1);
    expect(result).toMatchObject({ env: name, success: false, steps: 0 });
    if (name !== 'household') expect(result).toMatchObject({ task: task.id, instruction: task.instruction });
    expect(printed).toContain('Taken back.');
    expect(printed.length).toBeGreaterThan(5);
  });
});

describe('a game file', () => {
  const task = generateTask('small', 4, 2);
  const { goal } = task.data as HouseholdData;
  const file = { ...householdGame(generateRoom('small', 4), goal, 'put', task.instruction), walkthrough: solution() };

  it('is played from one file or from three, and hints at its walkthrough', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'game-'));
    try {
      await writeFile(join(folder, 'game.tw-pddl'), JSON.stringify(file));
      const play = (args: string[], typed: string[]) => game(args, typed, undefined, folder);
      const whole = await play(['--env', 'game.tw-pddl'], [':hint', ...solution()]);
      expect(whole.printed[0]).toContain('-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room.');
      expect(whole.printed[2]).toBe(solution()[0]);
      expect(whole.result).toMatchObject({ env: 'textworld', success: true, instruction: task.instruction });

      await writeFile(join(folder, 'p.pddl'), file.pddl_problem);
      await writeFile(join(folder, 'd.pddl'), file.pddl_domain);
      await writeFile(join(folder, 'g.twl2'), file.grammar);
      const apart = await play(['--env', 'p.pddl', '--domain', 'd.pddl', '--text-grammar', 'g.twl2'], solution());
      expect(apart.printed[0]).toBe(whole.printed[0]);
      expect(apart.result).toMatchObject({ success: true });

      const open = { ...file, grammar: file.grammar.replace(task.instruction, 'UNKNOWN GOAL') };
      await writeFile(join(folder, 'open.tw-pddl'), JSON.stringify(open));
      expect((await play(['--env', 'open.tw-pddl'], [])).result).toMatchObject({ instruction: 'UNKNOWN GOAL' });
      const told = await play(['--env', 'open.tw-pddl', '--task', 'do "it" #now#.'], []);
      expect(told.result).toMatchObject({ instruction: 'do it now' });
      const params = { object_target: 'Cup', parent_target: 'Shelf', toggle_target: '', mrecep_target: '' };
      const trajectory = { task_type: 'pick_clean_then_place_in_recep', pddl_params: params };
      await writeFile(join(folder, 'traj_data.json'), JSON.stringify(trajectory));
      const known = await play(['--env', 'open.tw-pddl'], []);
      expect(known.result).toMatchObject({ instruction: 'put a clean cup in shelf' });
      await expect(play(['--env', 'game.tw-pddl', '--task', 'x'], [])).rejects.toThrow(UsageError);

      await writeFile(join(folder, 'bad.tw-pddl'), '{"pddl_domain": "\u001b[2J"}');
      await expect(play(['--env', 'bad.tw-pddl'], [])).rejects.toMatchObject({ code: 'game-unreadable' });
      await expect(play(['--env', 'none.tw-pddl'], [])).rejects.toMatchObject({ code: 'file-unreadable' });
      // Text that would steer the terminal is shown, not obeyed.
      const grammar = file.grammar.replace('-= Welcome', '\\u001bc-= Welcome');
      await writeFile(join(folder, 'rude.tw-pddl'), JSON.stringify({ ...file, grammar }));
      expect((await play(['--env', 'rude.tw-pddl'], [])).printed[0]).toMatch(/^\ufffdc-= Welcome/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('env list and bench --envs', () => {
  it('name every world', async () => {
    const io = ioFor([]);
    await env(['list'], io);
    expect(io.given).toEqual({ envs: expect.arrayContaining([{ name: 'household', summary: expect.any(String) }]) });
    expect((io.given as { envs: { name: string }[] }).envs.map(({ name }) => name)).toEqual(Object.keys(worlds));
  });

  it('measure every world', async () => {
    const io = ioFor([]);
    await benchEnvironments(io, { roundMs: 3, tasks: 3 });
    const { envs } = io.given as { envs: EnvironmentSpeed[] };
    expect(envs.map(({ name }) => name)).toEqual(Object.keys(worlds));
    for (const { episodesPerSecond, stepsPerSecond, snapshotMicroseconds } of envs) {
      expect(stepsPerSecond).toBeGreaterThan(episodesPerSecond);
      expect(episodesPerSecond).toBeGreaterThan(0);
      expect(snapshotMicroseconds).toBeGreaterThan(0);
    }
  });
});
