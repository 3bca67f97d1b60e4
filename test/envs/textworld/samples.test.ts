/**
 * @file TextWorld's own test game, where its files lie beside the project (`../shared/samples`). What is expected stands in
 * the game's grammar and problem and was derived from them by hand; nothing here was printed by our program first.
 */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { gameTask, TextWorldGame } from '../../../src/envs/textworld';

const samples = new URL('../../../../shared/samples/', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, samples), 'utf8');

describe.runIf(existsSync(new URL('textworld_test_domain.pddl', samples)))("TextWorld's test game", () => {
  const task = () =>
    gameTask(
      {
        pddl_domain: read('textworld_test_domain.pddl'),
        grammar: read('textworld_test_grammar.twl2'),
        pddl_problem: read('textworld_test_problem.pddl'),
      },
      'test',
    );
  const start = () => {
    const world = new TextWorldGame();
    world.reset(task());
    return world;
  };
  const places = ['bed', 'desk', 'drawer', 'garbagecan', 'laundryhamper', 'safe', 'shelf'];

  it('begins with the room and the task', () => {
    const world = start();
    expect(world.rawFirstObservation()).toBe(
      '-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking quickly around you, you see ' +
        'a bed, a desk, a drawer, a garbagecan, a laundryhamper, a safe, and a shelf.\n\n' +
        'Your task is to examine a CD under a light source.',
    );
    expect(task().instruction).toBe('examine a CD under a light source');
    expect(world.admissible()).toEqual([...places.map((name) => `go to ${name}`), 'inventory', 'look']);
    expect(world.goalSatisfied()).toBe(false);
  });

  it('answers as its grammar says, and offers what its domain allows', () => {
    const world = start();
    const said = (action: string) => world.step(action).raw;
    // GotoLocation names the location, not the receptacle, and lists in the order of ids.
    expect(said('go to desk')).toBe(
      'You arrive at locdesk. On the desk, you see a bowl1, a bowl2, a cd, a creditcard, a desklamp, a laptop, and a mug1.',
    );
    const goals = places.map((name) => `go to ${name}`);
    const here = ['bowl1', 'bowl2', 'cd', 'creditcard', 'desklamp', 'laptop', 'mug1'];
    const carried = here.filter((name) => name !== 'desklamp');
    expect(world.admissible()).toEqual(
      [
        ...here.map((name) => `examine ${name}`),
        'examine desk',
        ...goals,
        'inventory',
        'look',
        ...carried.map((name) => `take ${name} from desk`),
        'use desklamp',
        // ToggleObject asks for the location only, examineObject for the receptacle: no other lamp is there.
      ].sort(),
    );
    expect(said('look')).toBe('You are facing the desk. Next to it, you see nothing.');
    expect(said('examine mug1')).toBe('This is a normal mug1. In it, you see nothing.');
    expect(said('examine laptop')).toBe("There's nothing special about laptop.");
    expect(said('inventory')).toBe('You are not carrying anything.');
    expect(said('take mug1 from desk')).toBe('You pick up the mug1 from the desk.');
    expect(said('inventory')).toBe('You are carrying: a mug1.');
    expect(said('take cd from desk')).toBe('Nothing happens.');
    // No canContain in this domain: anything goes anywhere that is open.
    expect(said('go to safe')).toBe('You arrive at locsafe. The safe is closed.');
    expect(said('put mug1 in/on safe')).toBe('Nothing happens.');
    expect(world.admissible()).toEqual(['examine mug1', 'examine safe', ...goals, 'inventory', 'look', 'open safe']);
    expect(said('open safe')).toBe('You open the safe. The safe is open. In it, you see nothing.');
    expect(world.admissible()).toContain('close safe');
    expect(said('put mug1 in/on safe')).toBe('You put the mug1 in/on the safe.');
    expect(said('examine safe')).toBe('The safe is open. In it, you see a mug1.');
    // Only one receptacle of this domain may be open at a time.
    expect(said('go to drawer')).toBe('You arrive at locdrawer. The drawer is closed.');
    expect(said('open drawer')).toBe('Nothing happens.');
    said('go to safe');
    expect(said('close safe')).toBe('You close the safe.');
    expect(said('go to shelf')).toBe(
      'You arrive at locshelf. On the shelf, you see a alarmclock, a bowl3, a mug2, a pen, and a pencil.',
    );
    expect(said('go to garbagecan')).toBe('You arrive at locgarbagecan. On the garbagecan, you see nothing.');
    said('go to drawer');
    expect(said('open drawer')).toBe(
      'You open the drawer. The drawer is open. In it, you see a book2, a cellphone, and a keychain.',
    );
  });

  it('is won with the lamp on and the CD in hand, and comes back to any point', () => {
    const world = start();
    expect(world.step('go to desk').reward).toBe(0);
    const before = world.snapshot();
    expect(world.step('use desklamp')).toMatchObject({ raw: 'You turn on the desklamp.', reward: 0, done: false });
    expect(world.step('examine desklamp').raw).toBe('This desklamp is on.');
    expect(world.step('use desklamp').raw).toBe('You turn on the desklamp.');
    expect(world.step('take cd from desk')).toMatchObject({ reward: 1, done: true, valid: true });
    expect(world.step('look')).toMatchObject({ raw: 'Nothing happens.', reward: 0, done: true, valid: false });
    const other = new TextWorldGame();
    other.restore(structuredClone(before));
    expect(other.step('take cd from desk')).toMatchObject({ reward: 0, done: false });
    expect(other.step('use desklamp')).toMatchObject({ reward: 1, done: true });
  });

  it('hints at the walkthrough while it is followed', () => {
    const walkthrough = ['go to desk', 'take cd from desk', 'use desklamp'];
    const world = new TextWorldGame();
    world.reset({ ...task(), data: { ...(task().data as object), walkthrough } });
    for (const command of walkthrough) {
      expect(world.hint()).toBe(command);
      world.step(command);
    }
    expect(world.hint()).toBe(null);
    world.reset({ ...task(), data: { ...(task().data as object), walkthrough } });
    world.step('look');
    expect(world.hint()).toBe(null);
  });
});
