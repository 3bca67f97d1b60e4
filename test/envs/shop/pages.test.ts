/** @file The three raw forms of a page, held to the published ones, and the abstract form. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  Catalogue,
  type ObservationMode,
  type Product,
  type ShopGoal,
  ShopWorld,
  taskOf,
} from '../../../src/envs/shop';
import { readPage } from '../../../src/envs/shop/abstract-reader';

const bottle: Product = {
  asin: 'B0AAAAAAA1',
  name: 'Trail Bottle',
  description: 'A bottle.',
  bullets: ['Keeps cold', 'Never leaks'],
  attributes: ['leak proof'],
  options: [
    { name: 'color', values: ['teal', 'black'] },
    { name: 'size', values: ['20 oz'] },
  ],
  category: 'kitchen',
  query: 'water bottles',
  productCategory: 'Home & Kitchen › Drinkware › Water Bottles',
  prices: [18.5],
};
const flask: Product = { ...bottle, asin: 'B0AAAAAAA2', name: 'Tea Flask [new]', prices: [20, 30.25], options: [] };
const mug: Product = { ...bottle, asin: 'B0AAAAAAA3', name: 'Mug Bottle', prices: [], options: [], bullets: [] };
const pot: Product = { ...bottle, asin: 'B0AAAAAAA4', name: 'Pot Bottle', prices: [5], options: [], description: '' };
const goal: ShopGoal = {
  asin: bottle.asin,
  category: bottle.category,
  query: bottle.query,
  name: bottle.name,
  productCategory: bottle.productCategory,
  instruction: 'i need a leak proof bottle in teal, and price lower than 30.00 dollars',
  attributes: ['leak proof'],
  options: ['teal'],
  priceUpper: 30,
};

class Shelf extends Catalogue {
  override search(): readonly Product[] {
    return this.products;
  }
}

function play(
  mode: ObservationMode,
  actions: readonly string[],
  showAttributes = false,
): { raw: string; text: string } {
  const world = new ShopWorld({ mode, showAttributes, catalogue: new Shelf('four', [bottle, flask, mug, pot]) });
  world.reset(taskOf(goal, 'four', 'human'));
  let raw = world.rawFirstObservation();
  for (const action of actions) raw = world.step(action).raw ?? '';
  return { raw, text: world.observation() };
}

const head = `Instruction: [SEP] ${goal.instruction}`;

describe('text', () => {
  it.each<[string, string[], string]>([
    ['search page', [], `WebShop [SEP] ${head} [SEP] Search`],
    [
      'results',
      ['search[x]'],
      `${head} [SEP] Back to Search [SEP] Page 1 (Total results: 4) [SEP] Next > [SEP] B0AAAAAAA1 [SEP] Trail Bottle [SEP] $18.5 [SEP] B0AAAAAAA2 [SEP] Tea Flask [new] [SEP] $20.0 to $30.25 [SEP] B0AAAAAAA3 [SEP] Mug Bottle [SEP] $100.0 [SEP] B0AAAAAAA4 [SEP] Pot Bottle [SEP] $5.0`,
    ],
    [
      'second page',
      ['search[x]', 'click[next >]'],
      `${head} [SEP] Back to Search [SEP] Page 2 (Total results: 4) [SEP] < Prev [SEP] Next >`,
    ],
    [
      'item',
      ['search[x]', 'click[b0aaaaaaa1]'],
      `${head} [SEP] Back to Search [SEP] < Prev [SEP] color [SEP] teal [SEP] black [SEP] size [SEP] 20 oz [SEP] Trail Bottle [SEP] Price: $18.5 [SEP] Rating: N.A. [SEP] Description [SEP] Features [SEP] Reviews [SEP] Buy Now`,
    ],
    [
      'features',
      ['search[x]', 'click[B0AAAAAAA1]', 'click[Features]'],
      `${head} [SEP] Back to Search [SEP] < Prev [SEP] Keeps cold [SEP] Never leaks`,
    ],
    [
      'description',
      ['search[x]', 'click[B0AAAAAAA1]', 'click[Description]'],
      `${head} [SEP] Back to Search [SEP] < Prev [SEP] A bottle.`,
    ],
    ['reviews', ['search[x]', 'click[B0AAAAAAA1]', 'click[Reviews]'], `${head} [SEP] Back to Search [SEP] < Prev`],
    [
      'done',
      ['search[x]', 'click[B0AAAAAAA1]', 'click[teal]', 'click[Buy Now]'],
      'Thank you for shopping with us! [SEP] Your code: [SEP] None [SEP] Your score (min 0.0, max 1.0) [SEP] 1.0',
    ],
  ])('%s', (_, actions, expected) => {
    expect(play('text', actions).raw).toBe(expected);
  });

  it('repeats the page after an invalid action', () => {
    const before = play('text', ['search[x]']).raw;
    expect(play('text', ['search[x]', 'click[buy now]']).raw).toBe(before);
  });

  it('shows attributes only where the shop does', () => {
    const actions = ['search[x]', 'click[B0AAAAAAA1]', 'click[Attributes]'];
    expect(play('text', actions, true).raw).toBe(`${head} [SEP] Back to Search [SEP] < Prev [SEP] leak proof`);
    expect(play('text', actions).raw).toContain('Rating: N.A.');
  });
});

describe('text_rich', () => {
  it('marks buttons, choices and visited products', () => {
    expect(play('text_rich', ['search[x]', 'click[B0AAAAAAA1]', 'click[black]']).raw).toBe(
      `You have clicked black.\nInstruction:\n${goal.instruction}\n[button] Back to Search [button_]\n[button] < Prev [button_]\ncolor\n  [button] teal [button_]\n  [clicked button] black [clicked button_]\nsize\n  [button] 20 oz [button_]\nTrail Bottle\nPrice: $18.5\nRating: N.A.\n[button] Description [button_]\n[button] Features [button_]\n[button] Reviews [button_]\n[button] Buy Now [button_]\n`,
    );
    expect(play('text_rich', ['search[x]', 'click[B0AAAAAAA2]', 'click[< prev]']).raw).toContain(
      '\n[button] B0AAAAAAA1 [button_]\nTrail Bottle\n$18.5\n\n[clicked button] B0AAAAAAA2 [clicked button_]\nTea Flask [new]\n',
    );
  });
});

describe('react', () => {
  it('shows three products and inline options, and hides the instruction after the first page', () => {
    expect(play('react', []).raw).toBe(`\nWebShop \nInstruction: \n${goal.instruction} \n[Search] `);
    expect(play('react', ['search[x]']).raw).toBe(
      '\n[Back to Search] \nPage 1 (Total results: 4) \n[Next >] \n[B0AAAAAAA1] \nTrail Bottle \n$18.5 \n[B0AAAAAAA2] \nTea Flask [new] \n$20.0 to $30.25 \n[B0AAAAAAA3] \nMug Bottle \n$100.0 ',
    );
    expect(play('react', ['search[x]', 'click[B0AAAAAAA1]']).raw).toBe(
      '\n[Back to Search] \n[< Prev] \ncolor [teal][black]\nsize [20 oz]\nTrail Bottle \nPrice: $18.5 \nRating: N.A. \n[Description] \n[Features] \n[Reviews] \n[Buy Now] ',
    );
  });

  it('answers choices, thoughts and mistakes in a line', () => {
    const item = ['search[x]', 'click[B0AAAAAAA1]'];
    expect(play('react', [...item, 'click[teal]']).raw).toBe('You have clicked teal. ');
    expect(play('react', [...item, 'click[teal]', 'click[features]', 'click[< prev]']).raw).toContain(
      'color [[teal]][black]',
    );
    expect(play('react', [...item, 'think[is it leak proof?]']).raw).toBe('OK.');
    expect(play('react', [...item, 'click[no such thing]']).raw).toBe('Invalid action!');
    expect(play('react', ['search[x]', 'click[Next >]']).raw).toBe('Invalid action!');
    expect(play('react', [...item, 'click[teal]', 'click[buy now]']).raw).toBe('Your score (min 0.0, max 1.0): 1.0');
  });

  const log = new URL('../../../../shared/samples/lats_webshop_example.log', import.meta.url);
  it.skipIf(!existsSync(log))('writes the item of a published log as the log does', () => {
    const text = readFileSync(log, 'utf8');
    const start = text.indexOf('\n[Back to Search] \n[< Prev] \nscent ');
    const published = text.slice(start, text.indexOf('[Buy Now]', start) + '[Buy Now] '.length);
    const deodorant: Product = {
      ...bottle,
      name: 'Bright Citrus Deodorant by Earth Mama | Natural and Safe for Sensitive Skin, Pregnancy and Breastfeeding, Contains Organic Calendula 3-Ounce',
      prices: [10.99],
      options: [
        {
          name: 'scent',
          values: ['assorted scents', 'bright citrus', 'calming lavender', 'ginger fresh', 'simply non-scents'],
        },
        { name: 'size', values: ['travel set (4-pack)', '3 ounce (pack of 1)', '3-ounce (2-pack)'] },
      ],
    };
    const world = new ShopWorld({ mode: 'react', catalogue: new Shelf('four', [deodorant]) });
    world.reset(taskOf(goal, 'four', 'human'));
    world.step('search[x]');
    expect(world.step(`click[${deodorant.asin}]`).raw).toBe(published);
  });
});

describe('abstract text', () => {
  it('is a clean list of elements, whatever the products are called', () => {
    expect(play('text', ['search[A [b]]', 'search[Ab  c]']).text).toBe(
      '[page] results: page 1, 4 found for ab c\n[back to search] button: new search\n[next >] button: more results\n[B0AAAAAAA1] product: Trail Bottle, $18.5\n[B0AAAAAAA2] product: Tea Flask (new), $20.0 to $30.25\n[B0AAAAAAA3] product: Mug Bottle, $100.0\n[B0AAAAAAA4] product: Pot Bottle, $5.0',
    );
    expect(play('text', ['search[x]', 'click[B0AAAAAAA1]', 'click[teal]']).text).toBe(
      '[page] item: B0AAAAAAA1\n[back to search] button: new search\n[< prev] button: results\n[title] text: Trail Bottle\n[price] text: $18.5\n[teal] option: color, chosen\n[black] option: color\n[20 oz] option: size\n[description] button: text\n[features] button: list\n[reviews] button: list\n[buy now] button: buy this item',
    );
    const { text } = play('text', ['search[x]', 'click[B0AAAAAAA1]', 'click[teal]', 'click[buy now]']);
    expect(text).toBe('[page] done: bought B0AAAAAAA1, color teal');
  });

  it('can be read back on every page', () => {
    const paths = [
      [],
      ['search[x]'],
      ['search[x]', 'click[B0AAAAAAA1]'],
      ['search[x]', 'click[B0AAAAAAA1]', 'click[features]'],
    ];
    expect(paths.map((path) => readPage(play('text', path).text)?.page)).toEqual([
      'search',
      'results',
      'item',
      'features',
    ]);
  });
});
