import { describe, expect, test } from 'vitest';
import { abstractStates, shopPageState, webState } from '../../src/data/abstract-states';
import { HouseholdWorld, heldOutTasks, Random } from '../../src/envs/household';
import { Shopper, ShopWorld, heldOutTasks as shopTasks } from '../../src/envs/shop';
import { webWorld } from '../../src/envs/web';

describe('household', () => {
  const states = abstractStates.household;

  test('the built-in world’s sentences become its own abstract text', () => {
    const world = new HouseholdWorld();
    for (const task of heldOutTasks('small', 5)) {
      const first = world.reset(task);
      const mapped = states.begin();
      const { instruction, observation } = states.split(world.rawFirstObservation());
      expect(instruction).toBe(task.instruction);
      expect(mapped.first(observation)).toBe(first);
      for (const action of world.admissible().slice(0, 12)) {
        const result = world.step(action);
        expect(mapped.next(action, result.raw ?? '')).toBe(result.observation);
      }
    }
  });

  test.each([
    ['move mug 1 to desk 1', 'put mug 1 in/on desk 1'],
    ['put mug 1 in desk 1', 'put mug 1 in/on desk 1'],
    ['put mug 1 on the desk 1.', 'put mug 1 in/on desk 1'],
    ['take  mug 1 from desk 1', 'take mug 1 from desk 1'],
    ['dance', 'dance'],
  ])('%s', (raw, action) => {
    expect(states.action(raw)).toBe(action);
  });

  test('welcome lines, older arrivals and lists of commands are folded away', () => {
    const { instruction, observation } = states.split(
      '-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking quickly around you, you see a desk 1.\n\nYour task is to: put a mug in desk.\nAVAILABLE ACTIONS: look',
    );
    expect([instruction, observation]).toEqual([
      'put a mug in desk',
      'You are in the middle of a room. Looking quickly around you, you see a desk 1.',
    ]);
    const mapped = states.begin();
    expect(
      mapped.next(
        'go to desk 1',
        'You arrive at loc 4. On the desk 1, you see a pen 2, and a pen 1.\nAVAILABLE ACTIONS: look',
      ),
    ).toBe('at desk 1 see pen 2 pen 1');
  });
});

describe('shop', () => {
  /** An abstract page without what one raw form does not show. */
  const comparable = (page: string) => page.split('\n').filter((line) => !/^\[(title|price)\]/.test(line));

  test.each(['text', 'react'] as const)('the built-in shop’s %s pages become its own abstract text', (mode) => {
    const states = abstractStates.shop;
    let compared = 0;
    for (const [i, task] of shopTasks(6).entries()) {
      const world = new ShopWorld({ mode });
      const first = world.reset(task);
      const mapped = states.begin();
      const { instruction } = states.split(world.rawFirstObservation());
      expect(instruction).toBe(task.instruction);
      expect(mapped.first(world.rawFirstObservation())).toBe(first);
      const shopper = new Shopper('expert', world, new Random(i));
      for (let step = 0; step < 15; step++) {
        const action = shopper.next();
        if (action === null) break;
        const result = world.step(action);
        const found = mapped.next(action, result.raw ?? '');
        // ReAct's pages show three products and no price range; the words on the rest must be equal.
        if (mode === 'text') expect(comparable(found)).toEqual(comparable(result.observation));
        expect(found.split('\n')[0]).toBe(result.observation.split('\n')[0]);
        compared++;
        if (result.done) break;
      }
    }
    expect(compared).toBeGreaterThan(20);
  });

  test('a page of a session log', () => {
    expect(
      shopPageState({
        page: 'search_results',
        asin: '',
        number: 2,
        keywords: ['red', 'cup'],
        results: ['B000000001'],
        options: {},
        subPage: '',
      }),
    ).toBe(
      '[page] results: page 2 for red cup\n[back to search] button: new search\n[< prev] button: results\n[next >] button: more results\n[B000000001] product',
    );
  });
});

describe('web', () => {
  test('the built-in sites’ trees become their own abstract lines', () => {
    let [ours, theirs, shared] = [0, 0, 0];
    const compare = (found: string, wanted: string) => {
      // The tree does not say the address; everything else is the same text.
      const [, ...lines] = found.split('\n');
      const known = new Set(wanted.split('\n').slice(1));
      ours += lines.length;
      theirs += known.size;
      shared += lines.filter((line) => known.has(line)).length;
    };
    for (const task of webWorld.trainingTasks(12)) {
      const environment = webWorld.create();
      const first = environment.reset(task);
      const mapped = abstractStates.web.begin();
      compare(mapped.first(environment.rawFirstObservation()), first);
      for (let step = 0; step < 8; step++) {
        const action = webWorld.expert(environment);
        if (action === null) break;
        const result = environment.step(action);
        if (result.done) break;
        compare(mapped.next(action, result.raw ?? ''), result.observation);
      }
    }
    expect(ours).toBeGreaterThan(500);
    // Not all: the printed tree leaves out texts that a line above it says, which moves the window on long pages.
    expect(shared / ours).toBeGreaterThan(0.93);
    expect(shared / theirs).toBeGreaterThan(0.85);
  });

  test('both dialects, repeated words left out, long pages cut with a count', () => {
    expect(
      webState(
        "Tab 0 (current): Mail | Tab 1: Other\nURL: http://mail.example/in\n\n[1] RootWebArea 'Mail' focused: True\n\t[a51] button 'Go'\n\t\t[3] StaticText 'Go'\n\t[4] link \"Bob's\"\n\t[5] menuitem 'Help'\n\t[6] row 'a b'\n\t\t[7] gridcell 'a'\n\t\t[8] gridcell 'b'",
      ).split('\n'),
    ).toEqual([
      'page: Mail at mail.example/in',
      '[a51] button: Go',
      "[4] link: Bob's",
      '[5] link: Help',
      '[6] row: a | b',
    ]);
    const many = Array.from({ length: 200 }, (_, i) => `[${i + 2}] link 'L${i}'`).join('\n');
    expect(webState(many).split('\n').at(-1)).toBe('below: 160 lines, scroll [down]');
    expect(webState('no tree at\n all')).toBe('no tree at all');
  });
});
