/** @file The web world as an environment: episodes, errors, tabs, forms, snapshots, tasks, players. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TextWorld } from '../../../src/dream/text-models/world';
import { Random } from '../../../src/envs/household/random';
import {
  expertAction,
  isWebObservation,
  knownTasks,
  NOTHING_HAPPENS,
  offlineTrajectories,
  playWeb,
  randomAction,
  TEMPLATES,
  WebWorld,
  webHeldOutTasks,
  webTrainingTasks,
  webWords,
  webWorld,
} from '../../../src/envs/web';
import { parseAddress, resolve } from '../../../src/envs/web/site';
import { SITES } from '../../../src/envs/web/sites';

const taskOf = (family: string, index = 0) => knownTasks().filter(({ template }) => template.id === family)[index].task;
const start = (family: string, options = {}): WebWorld => {
  const world = new WebWorld(options);
  world.reset(taskOf(family));
  return world;
};
/** Id of the element with this role and name. */
const idOf = (world: WebWorld, role: string, name: string): number => {
  const node = world.view().accessibility.find((each) => each.role === role && each.name === name);
  if (node === undefined) throw new Error(`${role} ${name} is not on the page:\n${world.observation()}`);
  return node.id;
};

describe('tasks', () => {
  test('at least sixty, unique, split once and for all', () => {
    const training = webTrainingTasks(10_000);
    const heldOut = webHeldOutTasks(10_000);
    expect(TEMPLATES.length).toBeGreaterThanOrEqual(40);
    expect(training.length + heldOut.length).toBe(knownTasks().length);
    expect(training.length).toBeGreaterThan(120);
    expect(heldOut.length).toBeGreaterThan(60);
    expect(new Set([...training, ...heldOut].map((task) => task.id)).size).toBe(knownTasks().length);
    expect(new Set([...training, ...heldOut].map((task) => task.instruction)).size).toBe(knownTasks().length);
    expect(webTrainingTasks(3)).toEqual(training.slice(0, 3));
    for (const task of training) expect(JSON.parse(JSON.stringify(task))).toEqual(task);
    expect(training.every((task) => !task.instruction.includes('undefined') && !task.instruction.includes('{{'))).toBe(
      true,
    );
  });

  test('the expert solves every one, in both profiles where the rules differ, by clicks a player can see', () => {
    for (const { task } of knownTasks()) {
      const world = new WebWorld({ profile: task.id.length % 2 === 0 ? 'lite' : 'webarena' });
      expect(world.reset(task)).toBe(task.firstObservation);
      for (let step = 0, done = false; !done; step++) {
        const action = expertAction(world) ?? '';
        const id = /^\w+ \[(\d+)\]/.exec(action)?.[1];
        if (id !== undefined && !action.startsWith('stop')) expect(world.observation()).toContain(`\n[${id}] `);
        const result = world.step(action);
        expect(isWebObservation(result.observation), result.observation).toBe(true);
        expect(result.valid, `${task.id}: ${action}`).toBe(true);
        done = result.done;
        if (done) expect(result.reward, `${task.id}: ${result.raw} ${JSON.stringify(world.evaluation)}`).toBe(1);
        expect(step).toBeLessThan(20);
      }
    }
  });

  test('none is solved by stopping at once, with nothing or with a guess', () => {
    for (const { task } of knownTasks()) {
      const world = new WebWorld();
      for (const answer of ['', 'yes', '-1']) {
        world.reset(task);
        expect(world.step(`stop [${answer}]`).reward, task.id).toBe(0);
      }
    }
  });
});

describe('an episode', () => {
  test('search, product, answer; PREVIOUS ACTION and the prompt block', () => {
    const world = start('shop_price');
    const { instruction } = world.task;
    expect(world.rawFirstObservation()).toMatch(
      /^OBSERVATION:\nTab 0 \(current\): Welcome - Quay Market\n\n\[1\] RootWebArea/,
    );
    expect(world.rawFirstObservation()).toContain(
      `\nURL: http://shop.example/\nOBJECTIVE: ${instruction}\nPREVIOUS ACTION: None`,
    );
    const search = idOf(world, 'searchbox', 'Search products');
    const result = world.step(`type [${search}] [kettle] [1]`);
    expect(result.observation).toMatch(
      /^page: Search results for "kettle" - Quay Market at shop\.example\/search\?q=kettle\n/,
    );
    expect(world.previousAction).toBe(
      `type [${search}] [kettle] where [${search}] is searchbox 'Search products' required: False`,
    );
    expect(world.step('go_back').observation).toBe(world.task.firstObservation);
    expect(world.step('go_forward').observation).toBe(result.observation);
    expect(world.step('stop [nothing]')).toMatchObject({ done: true, reward: 0, observation: 'episode ended' });
    expect(world.evaluation?.components[0]).toMatchObject({ rule: 'must_include', verdict: 'fail', found: 'nothing' });
    expect(world.step('click [1]')).toMatchObject({ done: true, valid: false, reward: 0 });
    expect(world.admissible()).toEqual([]);
  });

  test('what is not possible changes nothing and says why', () => {
    const world = start('shop_price');
    const before = world.snapshot().browser;
    for (const [action, why] of [
      ['click [9999]', 'Attempt to perfom "click" on element "[9999]" but no matching element found.'],
      ['dance', 'The previous prediction you issued was "dance". However, the format was incorrect.'],
      ['go_back', 'there is no page before this one'],
      ['goto [http://example.com/]', 'is not an address of this world'],
      [`type [${idOf(world, 'link', 'Kitchen')}] [x]`, 'the element takes no text'],
      ['tab_focus [4]', 'no tab 4'],
    ]) {
      const result = world.step(action);
      expect([result.observation, result.valid, result.reward]).toEqual([NOTHING_HAPPENS, false, 0]);
      expect(result.raw).toContain(why);
      expect(world.snapshot().browser).toBe(before);
    }
  });

  test('early stops are scored on the final state', () => {
    const world = start('shop_wishlist');
    for (let action = expertAction(world); !action?.startsWith('stop'); action = expertAction(world))
      world.step(action ?? '');
    world.step('wait');
    world.step('wait');
    expect(world.step('wait')).toMatchObject({ done: true, reward: 1 });
    const short = start('shop_price', { maxSteps: 2 });
    short.step('scroll [down]');
    expect(short.step('scroll [up]')).toMatchObject({
      done: true,
      reward: 0,
      raw: 'Early stop: Reach max steps 2. Score 0.',
    });
  });

  test('a failed sign-in, a protected page, a required field', () => {
    const world = start('forum_sign_in_comment');
    world.step('goto [http://forum.example/submit]');
    expect(world.view().url).toBe('http://forum.example/login?next=%2Fsubmit');
    const fill = (password: string) => {
      world.step(
        `type [${idOf(world, 'textbox', 'User name')}] [${/as (\S+) with/.exec(world.task.instruction)?.[1]}] [0]`,
      );
      world.step(`type [${idOf(world, 'textbox', 'Password')}] [${password}] [0]`);
    };
    const empty = world.step(`click [${idOf(world, 'button', 'Sign in')}]`);
    expect([empty.valid, world.view().url]).toEqual([true, 'http://forum.example/login?next=%2Fsubmit']);
    expect(empty.observation).toContain('text box: User name = empty, must be filled in');
    expect(empty.raw).toContain("textbox 'User name' focused: True required: True");
    fill('wrong');
    world.step(`click [${idOf(world, 'button', 'Sign in')}]`);
    expect(world.observation()).toContain('The user name or the password is wrong.');
    fill(/the password (\S+) and/.exec(world.task.instruction)?.[1] ?? '');
    world.step(`click [${idOf(world, 'button', 'Sign in')}]`);
    expect(world.view().url).toBe('http://forum.example/submit');
    expect(world.state.sites.forum.user).not.toBeNull();
  });

  test('menus, checkboxes, labels, tabs', () => {
    const world = start('shop_sorted');
    world.step('goto [http://shop.example/category/kitchen]');
    const option = world.view().accessibility.find((node) => node.role === 'menuitem' && node.name === 'Price');
    world.step(`click [${option?.id}]`);
    expect(world.view().url).toBe('http://shop.example/category/kitchen?order=price');
    world.step(
      `do(action="Select Dropdown Option", argument="descending", element="${idOf(world, 'combobox', 'Direction')}")`,
    );
    expect(world.view().url).toBe('http://shop.example/category/kitchen?order=price&dir=desc');
    world.step('new_tab');
    world.step('goto [http://shop.example/account/newsletter]');
    const label = world
      .view()
      .nodes.find(({ node }) => typeof node !== 'string' && node.attributes.for === 'subscribed');
    world.step(`click [${label?.id}]`);
    expect(world.observation()).toContain('checkbox: General subscription = on');
    world.step(`click [${idOf(world, 'button', 'Save')}]`);
    expect(world.state.sites.shop.newsletter).toBe(true);
    expect(world.rawObservation()).toMatch(
      /^Tab 0: Kitchen - Quay Market \| Tab 1 \(current\): My account - Quay Market\n/,
    );
    world.step('close_tab');
    expect(world.step('stop []').reward).toBe(1); // the first of these tasks asks for the kitchen
  });

  test('a judge decides what rules cannot; without one the episode is lost, not rewarded', async () => {
    const task = taskOf('shop_price');
    const { config } = task.data as { config: object & { eval: object } };
    const fuzzy = {
      ...task,
      data: { config: { ...config, eval: { ...config.eval, reference_answers: { fuzzy_match: ['cheap'] } } } },
    };
    const world = new WebWorld();
    world.reset(fuzzy);
    await expect(world.judged(async () => true)).rejects.toMatchObject({ code: 'episode-not-over' });
    expect(world.step('stop [not expensive]')).toMatchObject({ done: true, reward: 0, lost: true });
    expect((await world.judged(async () => true)).score).toBe(1);
    expect((await world.judged(async () => false)).score).toBe(0);
  });
});

test('what is called admissible is accepted', () => {
  for (const { task } of knownTasks().filter((_, index) => index % 15 === 0)) {
    const world = new WebWorld();
    world.reset(task);
    world.step(expertAction(world) ?? '');
    world.step(expertAction(world) ?? '');
    const here = world.snapshot();
    if (here.done) continue;
    for (const action of world.admissible()) {
      const filled = action.replace(/<(text|answer)>/, 'x').replace('<url>', world.view().url);
      expect(world.step(filled).valid, `${task.id}: ${filled}`).toBe(true);
      world.restore(here);
    }
  }
});

test('unused, unreadable', () => {
  const codeOf = (run: () => unknown): string => {
    try {
      run();
      return 'nothing thrown';
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  expect(codeOf(() => new WebWorld().step('stop'))).toBe('world-not-reset');
  expect(codeOf(() => new WebWorld().reset({ ...taskOf('shop_price'), data: null }))).toBe('task-unreadable');
});

test('every link of every page leads to a page, as far as 250 of them', () => {
  const world = start('shop_price');
  const open = ['http://home.example/'];
  const seen = new Set(open);
  let visited = 0;
  while (open.length > 0 && visited < 250) {
    const url = open.shift() ?? '';
    const before = world.snapshot();
    world.step(`goto [${url}]`);
    visited++;
    expect(world.view().page.title, url).not.toContain('Page not found');
    for (const { node } of world.view().nodes) {
      if (typeof node === 'string' || node.tag !== 'a') continue;
      const next = resolve(url, node.attributes.href);
      expect(SITES.has(parseAddress(next)?.host ?? ''), next).toBe(true);
      if (!seen.has(next)) open.push(next);
      seen.add(next);
    }
    world.restore(before);
  }
  expect(visited).toBe(250);
});

test('a snapshot is a fork: both branches go on, in another world too, and equal actions give equal pages', () => {
  const world = start('shop_buy');
  world.step(expertAction(world) ?? '');
  const fork = world.snapshot();
  const left: string[] = [];
  for (let step = 0; step < 3; step++) left.push(world.step(expertAction(world) ?? '').observation);
  const other = new WebWorld();
  other.restore(fork);
  expect(other.observation()).not.toBe(world.observation());
  expect([0, 1, 2].map(() => other.step(expertAction(other) ?? '').observation)).toEqual(left);
  expect(structuredClone(fork)).toEqual(fork);
  other.restore(fork);
  expect(other.snapshot()).toBe(fork);
});

test('whatever is done, the world answers in its own form and never rewards more than once', () => {
  const tasks = webTrainingTasks(40);
  const words = fc.constantFrom(
    'click',
    'type',
    'hover',
    'stop',
    'scroll',
    'goto',
    'press',
    'tab_focus',
    'new_tab',
    'close_tab',
  );
  const action = fc.oneof(
    fc.tuple(words, fc.nat(120), fc.string({ maxLength: 12 })).map(([verb, id, text]) => `${verb} [${id}] [${text}]`),
    fc.string({ maxLength: 40 }),
    fc.constant(null),
  );
  fc.assert(
    fc.property(fc.nat(39), fc.array(action, { maxLength: 14 }), fc.nat(1000), (index, actions, seed) => {
      const world = new WebWorld();
      world.reset(tasks[index]);
      const random = new Random(seed);
      let total = 0;
      for (const each of actions) {
        if (world.snapshot().done) break;
        const result = world.step(each ?? randomAction(world, random));
        expect(isWebObservation(result.observation), result.observation).toBe(true);
        total += result.reward;
        expect(result.valid || result.observation === NOTHING_HAPPENS || result.done).toBe(true);
      }
      expect(total).toBeLessThanOrEqual(1);
    }),
    { numRuns: 60, seed: 7 },
  );
});

describe('offline data', () => {
  test('the same for the same seed; success and failure; checked by the words', () => {
    const episodes = offlineTrajectories(45, 3);
    expect(offlineTrajectories(45, 3)).toEqual(episodes);
    expect(episodes.length).toBe(45);
    const wins = episodes.filter((episode) => episode.success).length;
    expect(wins).toBeGreaterThanOrEqual(15);
    expect(wins).toBeLessThan(40);
    for (const episode of episodes) {
      expect(episode.turns.length).toBeGreaterThan(0);
      expect(episode.turns.at(-1)?.done).toBe(true);
      expect(webWords.contradicts(episode.firstObservation, episode.turns)).toBe(false);
    }
  });

  test('training tasks only, and the public world', () => {
    const heldOut = new Set(webHeldOutTasks(1000).map((task) => task.id));
    expect(offlineTrajectories(30, 1).some((episode) => heldOut.has(episode.task.id))).toBe(false);
    const environment = webWorld.create();
    environment.reset(webWorld.heldOutTasks(1)[0]);
    expect(environment.admissible()).toEqual([...environment.admissible()].sort());
    expect(webWorld.expert(environment)).not.toBeNull();
    expect(playWeb(webTrainingTasks(1)[0], 'expert', 0)).toMatchObject({ success: true, truncated: false, return: 1 });
  });

  test('the words are those of a text world', () => {
    const words: TextWorld = webWords;
    expect(words.endsInFailure).toBe(true);
  });

  test('the words refuse what the page rules out', () => {
    const [task] = webTrainingTasks(1);
    expect(webWords.refusal(task, task.firstObservation, [], 'click [9999]')?.observation).toBe(NOTHING_HAPPENS);
    expect(webWords.refusal(task, task.firstObservation, [], 'gibberish')).not.toBeNull();
    expect(webWords.refusal(task, task.firstObservation, [], 'go_back')).toBeNull();
    expect(isWebObservation('page: T at x.example/\n[3] link: A\nhello')).toBe(false);
    expect(isWebObservation('I think the page shows a shop.')).toBe(false);
  });
});
