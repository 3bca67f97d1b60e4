/** @file Worlds in words: what is drawn from what is allowed can be read, is an action, and dreams keep to what was shown. */
import { describe, expect, test } from 'vitest';
import type { Domain } from '../../../src/dream/domain';
import { rollOut } from '../../../src/dream/rollouts';
import { ChatTurns, defaultTextSettings, type TextSettings } from '../../../src/dream/text-household';
import {
  demonstration,
  memoriesOf,
  type SpokenWorld,
  spokenDream,
  spokenWorldOf,
  spokenWorlds,
  worldTextDomain,
} from '../../../src/dream/text-worlds';
import { brief } from '../../../src/dream/text-worlds/brief';
import { readFirst } from '../../../src/dream/text-worlds/policy';
import { parseDreamedWorld } from '../../../src/envs/dreamed-world';
import { Random } from '../../../src/envs/household';
import { isWebObservation } from '../../../src/envs/web';
import { chatTokenizer } from '../text-household/tokenizers';
import { draw, WillingModel } from './willing-model';

const tokenizers = { chatml: chatTokenizer('chatml'), llama3: chatTokenizer('llama3') };
const names = ['chatml', 'llama3'] as const;
const shop = await spokenWorlds.shop();
const web = await spokenWorlds.web();
const settings = (changes: Partial<TextSettings> = {}): TextSettings => ({ ...defaultTextSettings, ...changes });
const domainOf = (name: (typeof names)[number], world: SpokenWorld, changes: Partial<TextSettings> = {}): Domain =>
  worldTextDomain(tokenizers[name], 8192, world, settings(changes));

describe.each(names)('%s: a turn with free text', (name) => {
  const tokenizer = tokenizers[name];
  const { policy } = domainOf(name, web, { thoughtTokens: 3 }).dialect;
  const actions = ['click [5]', 'type [7] [<text>] [0]', 'type [7] [<text>] [1]', 'stop [<answer>]', 'go_back'];

  test('ends with an action of one of the forms', () => {
    const kinds = new Set<string>();
    for (let seed = 0; seed < 120; seed++) {
      const words = draw(policy.guide!(actions), policy.stopTokens, new Random(seed));
      expect(words.length).toBeLessThanOrEqual(policy.maxNewTokens);
      const said = policy.parse(words);
      expect(said?.action).toMatch(/^(click \[5\]|type \[7\] \[[^[\]\n]+\] \[[01]\]|stop \[[^[\]\n]*\]|go_back)$/);
      kinds.add(said!.action.startsWith('type') ? said!.action.slice(-3) : said!.action.split(' ')[0]);
    }
    expect([...kinds].sort()).toEqual(['[0]', '[1]', 'click', 'go_back', 'stop']);
  });

  test('several gaps: a form of a world of one’s own', () => {
    const forms = ['queue', 'reply to ticket <number> with article <number>', 'search <words>'];
    for (let seed = 0; seed < 60; seed++) {
      const words = draw(policy.guide!(forms), policy.stopTokens, new Random(seed), 800);
      const action = policy.parse(words)?.action;
      expect(action).toMatch(
        /^(queue|reply to ticket .* with article .*|search .*|search|reply to ticket .* with article)$/s,
      );
    }
  });

  test('a demonstration is a turn that could have been drawn, and bears the loss alone', () => {
    for (const world of [shop, web])
      for (const thoughtTokens of [0, 80]) {
        const form = settings({ thoughtTokens });
        const domain = domainOf(name, world, { thoughtTokens });
        const turns = new ChatTurns(tokenizer);
        const [played] = [world.demonstrations!(3).next().value!];
        const { tokens, weights } = demonstration(domain, turns, form, played, 100_000);
        const spoken: number[][] = [];
        weights.forEach((weight, t) => {
          if (weight === 0) return;
          if (weights[t - 1] === 0) spoken.push([]);
          spoken[spoken.length - 1].push(tokens[t]);
        });
        expect(spoken).toHaveLength(played.turns.length);
        spoken.forEach((own, i) => {
          expect(domain.dialect.policy.parse(own)?.action.toLowerCase()).toBe(played.turns[i].action.toLowerCase());
          const possible = domain.admissible!(played.firstObservation, played.turns.slice(0, i));
          const guide = domain.dialect.policy.guide!(possible);
          // Queries of demonstrators may be longer than a policy's, in a vocabulary of letters.
          const most = own.length > 30 ? 12 : own.length;
          for (let k = 0; k < most; k++) expect(guide(own.slice(0, k))).toContain(own[k]);
        });
      }
  });
});

test('what the text offers is what the world accepts', () => {
  for (const world of [shop, web]) {
    const domain = domainOf('chatml', world);
    for (const task of domain.trainingTasks().slice(0, 6)) {
      const offered = domain.admissible!(task.firstObservation, []);
      expect(offered.length).toBeGreaterThan(0);
      expect([...offered]).toEqual([...offered].sort());
    }
  }
});

describe.each(['shop', 'web'] as const)('%s: a led dream', (which) => {
  const world = { shop, web }[which];

  test.each(names)('%s: can be read, and never contradicts what it showed', (name) => {
    const domain = domainOf(name, world);
    const role = domain.dialect.experience;
    const pages = new Set<string>();
    for (const [n, task] of domain.trainingTasks().slice(0, 8).entries()) {
      const random = new Random(n);
      const turns: { action: string; observation: string; valid: boolean }[] = [];
      for (let step = 0; step < 8; step++) {
        const offered = domain.admissible!(task.firstObservation, turns);
        if (offered.length === 0) break;
        const action = random.pick([...offered]).replace(/<[^<>]*>/, random.pick(['red lamp', 'mug', 'x y']));
        const words = draw(role.guide!(task.firstObservation, turns, action, task), role.stopTokens, random, 5000);
        expect(words.length).toBeLessThanOrEqual(role.maxNewTokens);
        const answer = role.parse(words);
        expect(answer, `${action} -> ${tokenizers[name].decode(words)}`).not.toBeNull();
        const { observation, valid } = answer!;
        if (valid) {
          const told = [...turns, { action, observation }];
          expect(domain.contradicts(task.firstObservation, told), `${action} -> ${observation}`).toBe(false);
          pages.add(observation);
        }
        turns.push({ action, observation, valid });
        if (domain.isOver!(observation)) break;
      }
    }
    expect(pages.size).toBeGreaterThan(8);
    if (which === 'web') for (const page of pages) expect(isWebObservation(page), page).toBe(true);
  });

  test('an action that the text rules out is refused before anything is imagined', () => {
    const domain = domainOf('chatml', world);
    const [task] = domain.trainingTasks();
    const impossible = which === 'shop' ? 'click[buy now]' : 'dance';
    const role = domain.dialect.experience;
    const words = draw(role.guide!(task.firstObservation, [], impossible, task), role.stopTokens, new Random(1), 900);
    expect(role.parse(words)).toMatchObject({ valid: false, observation: domain.failureObservation, reward: 0 });
    const refused = domain.refusal(task, task.firstObservation, [], impossible);
    expect(role.parse(refused!)).toMatchObject({ valid: false });
  });
});

test('a reward that was rejected is rewritten in place', () => {
  const { experience } = domainOf('chatml', shop).dialect;
  const tokenizer = tokenizers.chatml;
  const said = ' it is the right one.\nValid: yes\nObservation: [page] done: bought B01\nReward: 1';
  const words = [...tokenizer.encode(said), new ChatTurns(tokenizer).end];
  expect(experience.parse(words)).toMatchObject({ reward: 1, valid: true });
  const without = experience.withoutReward(words);
  expect(experience.parse(without)).toMatchObject({ reward: 0, observation: '[page] done: bought B01' });
  expect(without.slice(0, 20)).toEqual(words.slice(0, 20));
});

test('free words: the first action line counts, whatever it says', () => {
  expect(readFirst('Thought: a\nAction: search[x]\nAction: click[y]')).toEqual({ thought: 'a', action: 'search[x]' });
  expect(readFirst('Thought: nothing else')).toBeNull();
  expect(readFirst('**Action:** `click[buy now]`')?.action).toBe('click[buy now]');
});

test('a long page keeps its beginning and its end', () => {
  const page = [
    '[page] item: B0',
    ...Array.from({ length: 60 }, (_, i) => `[option ${i}] option: color`),
    '[buy now] button: buy',
  ];
  const short = brief(page.join('\n'), 400);
  expect(short.length).toBeLessThanOrEqual(420);
  expect(short).toMatch(/^\[page\] item/);
  expect(short).toMatch(/\n…\n/);
  expect(short).toMatch(/\[buy now\] button: buy$/);
  expect(brief('x'.repeat(5000), 100).length).toBeLessThan(200);
  expect(brief('short', 100)).toBe('short');
});

test('a task of its own words; held-out tasks never', () => {
  for (const world of [shop, web]) {
    const domain = domainOf('chatml', world);
    const trained = new Set(domain.trainingTasks().map(({ id }) => id));
    expect(domain.heldOutTasks(10).some(({ id }) => trained.has(id))).toBe(false);
    const [parent] = domain.trainingTasks();
    expect(domain.taskFrom(parent, 'fly to the moon')).toBeNull();
    expect(domain.isNovel(parent, domain.trainingTasks().slice(1, 4))).toBe(true);
    expect(domain.isNovel({ ...parent, instruction: `${parent.instruction.toUpperCase()}!` }, [parent])).toBe(false);
  }
  expect(web.taskFrom(web.trainingTasks()[0], web.heldOutTasks(1)[0].instruction)).toBeNull();
});

test('memories of a world and those that people bring lie in the same rooms', () => {
  const imported = (world: string, room: string, firstObservation: string) => ({
    task: { id: 'x', instruction: 'buy', room: `${world}:${room}`, family: '', firstObservation, data: null },
    source: 'offline' as const,
    firstObservation,
    turns: [
      {
        ...{ thought: '', actionTokens: [], actionLogProbs: [], reasoning: '', reward: 0, done: false, valid: true },
        action: 'click[x]',
        observation: 'page: B at h/b',
      },
    ],
    return: 0,
    success: false,
    truncated: false,
    lost: false,
    group: 0,
  });
  const rooms = (world: SpokenWorld) => new Set(world.trainingTasks().map(({ room }) => room));
  for (const world of [shop, web]) {
    const own = world.memories(60);
    expect(own).toHaveLength(60);
    for (const { room } of own) expect([...rooms(world)]).toContain(room);
  }
  expect(memoriesOf(shop, imported('shop', 'catalogue', '[page] search'), 'e')[0].room).toBe('catalogue');
  const [site] = rooms(web);
  const page = `page: Home at ${site}/x`;
  expect(memoriesOf(web, imported('web', 'somewhere', page), 'e')[0].room).toBe(site);
});

const definition = parseDreamedWorld(
  JSON.stringify({
    format: 'dreamed-world',
    version: 1,
    name: 'doors',
    systemPrompt: 'A corridor with doors.',
    actions: ['open door <number>', 'wait'],
    tasks: [{ instruction: 'open door 2', firstObservation: 'a corridor', success: ['door 2 is open'] }],
    transitions: [{ state: 'a corridor', action: 'open door 1', nextState: 'door 1 is open' }],
  }),
);

test('a world without code has forms, memories and no truth', async () => {
  const world = spokenDream(definition);
  const domain = domainOf('chatml', world);
  expect(domain.dreamedOnly).toBe(true);
  await expect(domain.realWorld().reset(domain.trainingTasks(), 1)).rejects.toMatchObject({ code: 'no-real-world' });
  expect(domain.admissible!('a corridor', [])).toEqual(['open door <number>', 'wait']);
  expect(domain.offlineTransitions(10)).toMatchObject([{ room: 'doors', nextState: 'door 1 is open' }]);
  const made = domain.taskFrom(domain.trainingTasks()[0], 'open door 3');
  expect(made).toMatchObject({ instruction: 'open door 3', room: 'doors' });
  // Nobody said how the new task is told to be done.
  expect(
    domain.supportsSuccess(made!, 'a corridor', [{ action: 'open door 3', observation: 'open', valid: true }]),
  ).toBeNull();
});

test('settings that only the household has are refused', () => {
  expect(() => domainOf('chatml', shop, { headStart: 2 })).toThrow(expect.objectContaining({ code: 'world-setting' }));
  expect(() => worldTextDomain(tokenizers.chatml, 600, shop, settings())).toThrow(
    expect.objectContaining({ code: 'context-too-short' }),
  );
});

test.each([
  ['shop', shop],
  ['web', web],
] as const)('rollouts in the real %s: every turn is a decision that is read', async (_, world) => {
  const domain = domainOf('chatml', world, { thoughtTokens: 4, listActions: true });
  const report = await rollOut({
    policy: new WillingModel(tokenizers.chatml),
    domain,
    environment: domain.realWorld(),
    tasks: domain.trainingTasks().slice(0, 3),
    groups: [0, 1, 2],
    maxSteps: 4,
    temperature: 1,
    seed: 1,
  });
  expect(report.malformedActions).toBe(0);
  expect(report.transitions).toBeGreaterThan(3);
});

test('any world of one’s own can be spoken of: the worked example', async () => {
  const { default: drinks } = await import('../../../examples/own-world/drinks-machine');
  const world = spokenWorldOf(drinks);
  const domain = domainOf('chatml', world, { thoughtTokens: 0 });
  const report = await rollOut({
    policy: new WillingModel(tokenizers.chatml),
    domain,
    environment: domain.realWorld(),
    tasks: domain.heldOutTasks(2),
    groups: [0, 1],
    maxSteps: 3,
    temperature: 1,
    seed: 1,
  });
  expect(report.malformedActions).toBe(0);
  expect(domain.offlineTransitions(5).length).toBeGreaterThan(0);
  expect(world.demonstrations!(1).next().value).toMatchObject({ success: true });
});
