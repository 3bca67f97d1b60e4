/** @file The shop's rules over abstract text alone, held to the shop itself; and the offline episodes they are told by. */
import { describe, expect, it } from 'vitest';
import { shopStates } from '../../../src/data/abstract-states/shop';
import type { TextWorld } from '../../../src/dream/text-models/world';
import {
  DEMONSTRATIONS,
  heldOutTasks,
  offlineTrajectories,
  ShopWorld,
  shopData,
  shopWords,
  UNCHANGED,
} from '../../../src/envs/shop';
import { readPage } from '../../../src/envs/shop/abstract-reader';

const { contradicts, isObservation, priceCapOf, refusal, supportsSuccess } = shopWords;
const episodes = offlineTrajectories(150, 7);

describe('offline episodes', () => {
  it('are a function of the seed, on training tasks', () => {
    expect(offlineTrajectories(12, 7)).toEqual(episodes.slice(0, 12));
    expect(offlineTrajectories(12, 8)).not.toEqual(episodes.slice(0, 12));
    const held = new Set(heldOutTasks(1000).map(({ id }) => id));
    expect(episodes.some(({ task }) => held.has(task.id))).toBe(false);
  });

  it('show successes, failures and refused actions, and agree with themselves', () => {
    const turns = episodes.flatMap((episode) => episode.turns);
    const rate = episodes.filter(({ success }) => success).length / episodes.length;
    expect(rate).toBeGreaterThan(0.5);
    expect(rate).toBeLessThan(0.9);
    expect(turns.filter(({ valid }) => !valid).length / turns.length).toBeGreaterThan(0.01);
    expect(episodes.some(({ truncated }) => truncated)).toBe(true);
    for (const episode of episodes) {
      expect(episode.source).toBe('offline');
      expect(episode.return).toBe(episode.success ? 1 : 0);
      expect(episode.truncated).toBe(!episode.turns.at(-1)?.done);
      expect(episode.turns.length).toBeLessThanOrEqual(15);
      expect(episode.turns.every(({ reasoning, thought }) => reasoning !== '' && thought !== '')).toBe(true);
    }
  });

  it('replay to the same text', () => {
    const world = new ShopWorld();
    for (const { task, turns, firstObservation } of episodes.slice(0, 40)) {
      expect(world.reset(task)).toBe(firstObservation);
      for (const { action, observation, reward, valid } of turns) {
        expect(world.step(action)).toMatchObject({ observation, reward, valid });
      }
    }
  });

  it('are all successes where only experts play', () => {
    const demonstrations = offlineTrajectories(20, 1, { mixture: DEMONSTRATIONS });
    expect(demonstrations.every(({ success }) => success)).toBe(true);
    expect(demonstrations[0].turns.at(-1)?.reasoning).toContain('success');
  });
});

describe('checks', () => {
  it('are what a text experience model is given', () => {
    const world: TextWorld = shopWords;
    expect(world.failureObservation).toBe(UNCHANGED);
    expect(world.isObservation(UNCHANGED)).toBe(true);
    expect(world.endsInFailure).toBe(true);
  });

  it('never contradict the shop', () => {
    const wrong: string[] = [];
    for (const { task, firstObservation: first, turns } of episodes) {
      turns.forEach((turn, i) => {
        const seen = turns.slice(0, i + 1);
        if (!isObservation(turn.observation)) wrong.push(`no observation: ${turn.observation}`);
        if (contradicts(first, seen)) wrong.push(`contradiction: ${turn.action}`);
        const refused = refusal(task, first, turns.slice(0, i), turn.action);
        if ((refused !== null) === turn.valid) wrong.push(`refusal: ${turn.action}`);
        if (refused !== null && refused.observation !== turn.observation) wrong.push(`answer: ${turn.action}`);
        const supported = supportsSuccess(task, first, seen);
        if (turn.reward === 1 ? supported === false : supported === true) wrong.push(`success: ${turn.action}`);
      });
    }
    expect(wrong).toEqual([]);
  });

  it('prove most purchases from text alone', () => {
    const bought = episodes.filter(({ turns }) => turns.at(-1)?.done);
    const decided = bought.filter(
      ({ task, firstObservation, turns }) => supportsSuccess(task, firstObservation, turns) !== null,
    );
    expect(decided.length / bought.length).toBeGreaterThan(0.8);
  });

  const {
    task,
    firstObservation: first,
    turns,
  } = episodes.find(({ success, task }) => success && shopData(task).goal.options.length > 0)!;
  const end = turns.length - 1;
  const item = turns.findLast(({ observation }) => observation.startsWith('[page] item'))!;
  const lie = (observation: string) => [...turns.slice(0, end), { ...turns[end], observation }];

  it('see an option forgotten, a price too high, another item, another action', () => {
    const change = (from: RegExp, to: string) =>
      turns.map((turn) => ({ ...turn, observation: turn.observation.replace(from, to) }));
    expect(supportsSuccess(task, first, turns)).not.toBe(false);
    expect(supportsSuccess(task, first, change(/, chosen/g, ''))).toBe(false);
    expect(supportsSuccess(task, first, change(/\[price\] text: .*/g, '[price] text: $99999.0'))).toBe(false);
    expect(supportsSuccess(task, first, change(/\[title\] text: .*/g, '[title] text: 17 of 3'))).toBe(false);
    expect(supportsSuccess(task, first, lie('[page] done: bought B0OTHER000'))).toBe(false);
    expect(supportsSuccess(task, first, turns.slice(0, end))).toBe(false);
    expect(supportsSuccess(task, first, [])).toBe(false);
    expect(supportsSuccess({ ...task, data: null }, first, turns)).toBeNull();
    expect(
      supportsSuccess({ ...task, data: null, instruction: 'x, and price lower than 0.50 dollars' }, first, turns),
    ).toBe(false);
  });

  it('see impossible answers', () => {
    expect(contradicts(first, lie(UNCHANGED))).toBe(true);
    expect(contradicts(first, lie(first))).toBe(true);
    expect(contradicts(first, lie('You bought it!'))).toBe(true);
    expect(contradicts(first, lie('[page] done: bought B0OTHER000'))).toBe(true);
    const dearer = item.observation.replace(/\[price\] text: .*/, '[price] text: $1.0');
    const upToItem = turns.slice(0, turns.indexOf(item) + 1);
    expect(contradicts(first, upToItem)).toBe(false);
    expect(contradicts(first, [...upToItem.slice(0, -1), { ...item, observation: dearer }])).toBe(true);
    const searched = {
      action: 'search[x]',
      observation: '[page] results: page 1, 1 found for x\n[B1] product: A, $1.0',
    };
    const other = { ...searched, observation: searched.observation.replace('B1', 'B2') };
    expect(contradicts(first, [searched, searched])).toBe(false);
    expect(contradicts(first, [searched, other])).toBe(true);
    expect(contradicts(first, [{ ...searched, action: 'click[b1]' }])).toBe(true);
    expect(contradicts(first, [searched, { action: 'click[b1]', observation: '[page] item: B2' }])).toBe(true);
  });

  it('know pages from other text', () => {
    for (const text of [
      '',
      'nothing happens',
      '[page] shop',
      '[page] item: B1\nhello',
      '[page] item: B1\n[x] window: y',
    ]) {
      expect(isObservation(text), text).toBe(false);
    }
    expect(
      isObservation(
        shopWords.observationForm.slice(shopWords.observationForm.indexOf('[page] item')).split('\nAfter')[0],
      ),
    ).toBe(true);
    expect(readPage(`[page] item: B1${'\n[a] text: b'.repeat(500)}`)).toBeNull();
  });

  it('read the price limit from a sentence', () => {
    expect(priceCapOf('a lamp, and price lower than 40.00 dollars')).toBe(40);
    expect(priceCapOf('a lamp')).toBe(1_000_000);
  });
});

describe('text of real shops', () => {
  it('maps to the same abstract text that the built-in shop speaks', () => {
    const world = new ShopWorld({ mode: 'text_rich' });
    for (const { task, turns } of episodes.slice(0, 25)) {
      world.reset(task);
      const states = shopStates.begin();
      expect(states.first(world.rawFirstObservation())).toBe(task.firstObservation);
      for (const { action } of turns) {
        const { raw, observation, valid } = world.step(action);
        if (valid) expect(states.next(action, raw ?? '')).toBe(observation);
      }
    }
  });
});
