/**
 * @file The score of a purchase, held to what the original logged.
 *
 * human-sessions.json: last lines of five human sessions (WooooDyy/AgentGym, agentenv-webshop/webshop/all_trajs, MIT).
 * Fuzzy golden values: thefuzz 0.22 over rapidfuzz 3.14.
 */
import { describe, expect, it } from 'vitest';
import { normalColour } from '../../../src/envs/shop/colours';
import { readLoggedGoal } from '../../../src/envs/shop/files/records';
import { matches, tokenSetRatio } from '../../../src/envs/shop/fuzzy';
import { titleNouns } from '../../../src/envs/shop/nouns';
import type { Product } from '../../../src/envs/shop/product';
import {
  countOptionMatches,
  hasAttribute,
  scorePurchase,
  totalScore,
  typeEvidence,
  typeReward,
} from '../../../src/envs/shop/reward';
import sessions from './human-sessions.json';

const product: Product = {
  asin: 'B000000001',
  name: 'Teal Trail Bottle',
  description: 'A bottle for long walks.',
  bullets: ['Keeps drinks cold', 'BPA free'],
  attributes: ['leak proof', 'stainless steel'],
  options: [{ name: 'color', values: ['teal', 'black'] }],
  category: 'kitchen',
  query: 'water bottles',
  productCategory: 'Home & Kitchen › Drinkware › Water Bottles',
  prices: [18.99],
};

describe('token_set_ratio', () => {
  it.each([
    ['red', 'red', 100],
    ['z2-pink', 'pink', 100],
    ['café', 'clean blue', 31],
    ['60 x-large', 'x-large cleaning x-large', 82],
    ['60 sleeves stainless x-large xx-large', '60 sleeves sta', 83],
    ["easy silver sleeves cleaning women's", 'easy silver sleeves clean', 86],
    ['(pack', '(pac', 86],
    ['pack pack |', 'pac', 86],
    ['easy queen', 'easy que', 89],
    ['3 sleeves 4" xx-large pack', '3 sl', 40],
    ['z2-pink long ounce stainless blue', 'sleeve café red pack 8', 33],
    ['1) blue naïve', '1) blue naï', 90],
    ['日本', '日本', 100],
    ['日本 a', 'a', 100],
    ['(pack', '8 1)', 0],
    ['', '', 0],
    ['|', '-', 0],
    ['!!', '!!', 0],
    ['a', '', 0],
  ])('of %j and %j is %i', (a, b, score) => {
    expect(tokenSetRatio(a, b)).toBe(score);
    expect(matches(a, b)).toBe(score > 85);
    expect(matches(a, b)).toBe(score > 85);
  });
});

describe('colours', () => {
  it('are the first word of the list that occurs anywhere', () => {
    expect(normalColour('z2-pink')).toBe('pink');
    expect(normalColour('rl56 | 60 silver mist')).toBe('silver');
    expect(normalColour('dark green')).toBe('dark');
    expect(normalColour('redwood')).toBe('red');
    expect(normalColour('x-large')).toBe('x-large');
  });
});

describe('kind of product', () => {
  it('counts as the original does', () => {
    const type = (titleScore: number, queryMatch = false, categoryMatch = false) =>
      typeReward({ titleScore, queryMatch, categoryMatch });
    expect(type(0, true, true)).toBe(0);
    expect(type(0.09, true, true)).toBe(0.1);
    expect(type(0.15)).toBe(0.5);
    expect(type(0.2)).toBe(0.5);
    expect(type(0.21)).toBe(1);
    expect(type(0.1, true)).toBe(1);
    expect(type(0.1, false, true)).toBe(1);
  });

  it('finds about as many nouns in real titles as the tagger did', () => {
    // A logged title score is k / n for whole k and n; n is the tagger's count of nouns in the goal's title.
    for (const { goal, rewardInfo } of sessions) {
      const ours = titleNouns(goal.name).length;
      const possible = Array.from({ length: 60 }, (_, i) => i + 1).filter((n) => {
        const k = rewardInfo.title_score * n;
        return Math.abs(k - Math.round(k)) < 1e-9;
      });
      const nearest = Math.min(...possible.map((n) => Math.abs(n - ours)));
      expect(nearest, goal.name).toBeLessThanOrEqual(3);
    }
  });

  it('needs nothing of a title without nouns', () => {
    const goal = readLoggedGoal({ asin: 'X', instruction_text: 'x', name: 'of the 12' })!;
    expect(typeEvidence(product, goal).titleScore).toBe(0.2);
  });
});

describe('qualities and options', () => {
  it('are found in the list, the title, the bullets or the description', () => {
    for (const attribute of [
      'leak proof',
      'proof leak',
      'stainless steel bottle',
      'teal trail',
      'bpa free',
      'long walks',
    ]) {
      expect(hasAttribute(product, attribute), attribute).toBe(true);
    }
    expect(hasAttribute(product, 'cordless')).toBe(false);
  });

  it('count each wanted value once', () => {
    expect(countOptionMatches(['8', 'z2-pink'], ['pink', '8'])).toBe(2);
    expect(countOptionMatches(['3t280'], ['rl56 | 60 silver mist'])).toBe(0);
    expect(countOptionMatches([], ['grey'])).toBe(0);
    expect(countOptionMatches(['x-large'], ['large'])).toBe(1);
  });
});

describe('five human sessions', () => {
  it.each(sessions)('$session: $reward', ({ goal: logged, bought, reward, rewardInfo }) => {
    const goal = readLoggedGoal(logged)!;
    const rType = typeReward({
      queryMatch: rewardInfo.query_match,
      categoryMatch: rewardInfo.category_match,
      titleScore: rewardInfo.title_score,
    });
    expect(rType).toBe(rewardInfo.r_type);
    const chosen = Object.values(bought.options).filter((value) => value !== undefined);
    const optionMatches = countOptionMatches(chosen, goal.options);
    if (rewardInfo.r_option !== undefined) expect(optionMatches / goal.options.length).toBe(rewardInfo.r_option);
    expect(bought.price <= goal.priceUpper).toBe(rewardInfo.r_price);
    const attributes = goal.attributes.length;
    const attributeMatches = Math.round(rewardInfo.r_att * attributes);
    const options = goal.options.length;
    const rPrice = bought.price <= goal.priceUpper;
    expect(totalScore(rType, { attributeMatches, attributes, optionMatches, options, rPrice })).toBe(reward);
  });
});

describe('a whole purchase', () => {
  const goal = readLoggedGoal({
    asin: 'B000000002',
    category: 'kitchen',
    query: 'water bottles',
    name: 'Steel Trail Bottle',
    product_category: 'Home & Kitchen › Drinkware › Flasks',
    instruction_text: 'a leak proof bottle in teal, and price lower than 20.00 dollars',
    attributes: ['leak proof', 'vacuum sealed'],
    goal_options: { color: 'teal' },
    price_upper: 20,
  })!;

  it('reports every component', () => {
    expect(scorePurchase(product, goal, 18.99, ['teal'])).toEqual({
      total: 0.75,
      rType: 1,
      rAtt: 0.5,
      rOption: 1,
      rPrice: true,
      queryMatch: true,
      categoryMatch: true,
      titleScore: 2 / 3,
      attributeMatches: 1,
      optionMatches: 1,
    });
    expect(scorePurchase(product, goal, 20.01, ['black']).total).toBe(0.25);
    expect(scorePurchase({ ...product, name: 'Lamp' }, goal, 18.99, ['teal']).total).toBe(0);
  });

  it('needs no options where none are wanted', () => {
    const { rOption, total } = scorePurchase(product, { ...goal, options: [], attributes: ['leak proof'] }, 20, [
      'teal',
    ]);
    expect(rOption).toBeNull();
    expect(total).toBe(1);
  });
});
