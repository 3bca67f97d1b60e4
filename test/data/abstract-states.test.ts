import { describe, expect, test } from 'vitest';
import { abstractStates, shopPageState, webState } from '../../src/data/abstract-states';
import { HouseholdWorld, heldOutTasks, Random } from '../../src/envs/household';
import { Shopper, ShopWorld, heldOutTasks as shopTasks } from '../../src/envs/shop';

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
  test('both dialects, repeated words left out, long pages cut with a count', () => {
    expect(
      webState(
        "Tab 0 (current): Mail | Tab 1: Other\n\n[1] RootWebArea 'Mail' focused: True\n\t[a51] button 'Go'\n\t\t[3] StaticText 'Go'\n\t[4] link \"Bob's\"",
      ),
    ).toBe("page Mail | a51 button Go | 4 link Bob's");
    const many = Array.from({ length: 200 }, (_, i) => `[${i + 2}] link 'L${i}'`).join('\n');
    expect(webState(many).endsWith('| 80 more')).toBe(true);
    expect(webState('no tree at\n all')).toBe('no tree at all');
  });
});
