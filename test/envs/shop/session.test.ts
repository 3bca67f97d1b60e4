/** @file Actions and transitions, and that nothing else does anything. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OBSERVATION_MODES, ShopWorld, trainingTasks } from '../../../src/envs/shop';
import { parseAction } from '../../../src/envs/shop/session';

const [task] = trainingTasks(1);
const atResults = (query = 'steel water bottle'): ShopWorld => {
  const world = new ShopWorld();
  world.reset(task);
  world.step(`search[${query}]`);
  return world;
};
const atItem = (position = 0): ShopWorld => {
  const world = atResults();
  world.step(`click[${world.shown[position].asin}]`);
  return world;
};

describe('actions', () => {
  it.each([
    ['search[red shoes]', 'search', 'red shoes'],
    ['click[Buy Now]', 'click', 'buy now'],
    ['click[< Prev] and then I buy', 'click', '< prev'],
    ['search[a]\nclick[b]', 'search', 'a'],
    ['search["a] b]"]', 'search', '"a] b]"'],
    ['search[ ]', 'search', ' '],
  ])('%j', (action, kind, argument) => {
    expect(parseAction(action)).toEqual({ kind, argument });
  });

  it.each([
    '',
    'search',
    'search[]',
    'click[',
    'Search[x]',
    ' search[x]',
    'think[x]',
    '[x]',
    '\nclick[buy now]',
    'search[a[b]]',
    'click[x] click[y]',
    `search[${'x'.repeat(5000)}]`,
  ])('%j is none', (action) => {
    expect(parseAction(action)).toBeNull();
  });
});

describe('transitions', () => {
  it('search works on every page and forgets item and options', () => {
    const world = atItem();
    world.step(`click[${world.product?.options[0].values[0]}]`);
    expect(world.state.options).toHaveLength(1);
    expect(world.step('search[USB cable]').valid).toBe(true);
    expect(world.state).toMatchObject({ page: 'results', keywords: 'usb cable', pageNumber: 1, asin: '', options: [] });
  });

  it('turns pages without a bound, and back', () => {
    const world = atResults();
    for (let page = 2; page <= 7; page++) {
      expect(world.step('click[next >]').valid).toBe(true);
      expect(world.state.pageNumber).toBe(page);
    }
    expect(world.shown).toEqual([]);
    expect(world.step('click[Next >]').valid).toBe(true);
    for (let page = 7; page >= 1; page--) world.step('click[< prev]');
    expect(world.state.pageNumber).toBe(1);
    expect(world.step('click[< prev]').valid).toBe(false);
  });

  it('returns from an item to the same page of results, without its options', () => {
    const world = atResults();
    world.step('click[next >]');
    const { asin } = world.shown[2];
    world.step(`click[${asin.toLowerCase()}]`);
    world.step(`click[${world.product?.options[0].values[0]}]`);
    world.step('click[features]');
    expect(world.state).toMatchObject({ page: 'sub', subPage: 'Features', asin });
    world.step('click[< prev]');
    expect(world.state).toMatchObject({ page: 'item', asin });
    expect(world.state.options).toHaveLength(1);
    world.step('click[< prev]');
    expect(world.state).toMatchObject({ page: 'results', pageNumber: 2, options: [], visited: [asin] });
  });

  it('lets the last choice of a name win', () => {
    const world = atItem();
    const [{ name, values }] = world.product?.options ?? [];
    world.step(`click[${values[0]}]`);
    world.step(`click[${values[1].toUpperCase()}]`);
    expect(world.state.options).toEqual([[name, values[1]]]);
  });

  it('begins again after Back to Search', () => {
    const world = atItem();
    expect(world.step('click[Back to Search]').observation).toBe(task.firstObservation);
    expect(world.state).toMatchObject({ page: 'index', visited: [], options: [], keywords: '' });
    expect(world.step('click[search]').valid).toBe(false);
  });

  it('ends with the purchase; afterwards nothing counts', () => {
    const world = atItem();
    expect(world.step('click[Buy Now]')).toMatchObject({ done: true, valid: true });
    for (const action of ['search[x]', 'click[back to search]', 'click[buy now]']) {
      expect(world.step(action)).toMatchObject({ done: true, valid: false, reward: 0 });
    }
    expect(world.admissible()).toEqual([]);
  });
});

describe('whatever an agent says', () => {
  const phrase = fc.constantFrom(
    'search[',
    'click[',
    ']',
    'buy now',
    'next >',
    '< prev',
    'features',
    'back to search',
    'large',
    'black',
    '<r>',
    '<a> ',
    '<c> shoes',
    '<q> ',
    '__proto__',
    'constructor',
    '\n',
    ' ',
    '[',
    'B0',
    'leak proof',
    '日本',
    '\u0000',
    'toString',
  );
  const anything = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.array(phrase, { maxLength: 8 }).map((parts) => parts.join('')),
    phrase.map((argument) => `click[${argument}]`),
    phrase.map((argument) => `search[${argument}]`),
    fc.nat(30).map((n) => `#${n}`),
  );

  it('never throws, and changes nothing unless it was offered', () => {
    fc.assert(
      fc.property(fc.constantFrom(...OBSERVATION_MODES), fc.array(anything, { maxLength: 25 }), (mode, actions) => {
        const world = new ShopWorld({ mode });
        world.reset(task);
        for (const spoken of actions) {
          // `#n` stands for the n-th thing on offer, so that walks get deep.
          const offered = world.admissible();
          const n = /^#(\d+)$/.exec(spoken);
          const action = n && offered.length > 0 ? offered[Number(n[1]) % offered.length] : spoken;
          const before = world.state;
          const result = world.step(action);
          expect(typeof result.raw).toBe('string');
          if (!result.valid) {
            expect(world.state).toBe(before);
            expect(result.reward).toBe(0);
          }
          if (offered.includes(action)) expect(result.valid).toBe(true);
          else if (action.startsWith('click[') && result.valid) {
            expect(offered).toContain(`click[${parseAction(action)?.argument}]`);
          }
        }
      }),
      { numRuns: 150 },
    );
  });
});
