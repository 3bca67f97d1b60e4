/** @file The built-in catalogue, its search, and the fixed division of its tasks. */
import { describe, expect, it } from 'vitest';
import { hashKey, Random } from '../../../src/envs/household/random';
import {
  builtInCatalogue,
  Catalogue,
  heldOutTasks,
  NO_CAP,
  priceOf,
  priceTag,
  type ShopData,
  scorePurchase,
  shopData,
  taskFromInstruction,
  trainingTasks,
} from '../../../src/envs/shop';
import { generateProducts } from '../../../src/envs/shop/built-in/generate';
import { drawPriceCap, syntheticInstruction } from '../../../src/envs/shop/goals';
import { stem } from '../../../src/envs/shop/search';

const catalogue = builtInCatalogue();
const everything = Number.POSITIVE_INFINITY;

describe('products', () => {
  it('are many, of many kinds, each with its own page', () => {
    const { products } = catalogue;
    expect(products).toHaveLength(1440);
    expect(new Set(products.map(({ asin }) => asin)).size).toBe(1440);
    expect(new Set(products.map(({ category }) => category)).size).toBe(12);
    expect(new Set(products.map(({ query }) => query)).size).toBe(120);
    const unfit = products.filter(
      (product) =>
        !/^B0[0-9A-Z]{8}$/.test(product.asin) ||
        product.attributes.length < 3 ||
        product.bullets.length !== product.attributes.length ||
        product.options.length === 0 ||
        !(priceOf(product) > 0) ||
        product.productCategory.split(' › ').length !== 3,
    );
    expect(unfit).toEqual([]);
    const options = products.flatMap((product) => product.options);
    const odd = options.filter(({ values }) => values.length < 2 || new Set(values).size < values.length);
    expect(odd).toEqual([]);
    expect(options.flatMap(({ values }) => values).filter((value) => !/^[a-z0-9 .:|-]+$/.test(value))).toEqual([]);
  });

  it('are the same on every machine', () => {
    expect(generateProducts()).toEqual(catalogue.products);
    expect(hashKey(JSON.stringify(catalogue.products))).toMatchInlineSnapshot(`912251007`);
  });

  it('cost what they list; a range has one price of its own', () => {
    const range = catalogue.products.find(({ prices }) => prices.length === 2)!;
    expect(priceOf(range)).toBeGreaterThanOrEqual(range.prices[0]);
    expect(priceOf(range)).toBeLessThanOrEqual(range.prices[1]);
    expect(priceOf(range)).toBe(priceOf({ ...range }));
    expect(priceTag({ ...range, prices: [] })).toBe('$100.0');
    expect(priceOf({ ...range, prices: [] })).toBe(100);
    expect(priceTag({ ...range, prices: [8, 20.5] })).toBe('$8.0 to $20.5');
  });
});

describe('search', () => {
  it('finds the shelf, fifty at most, always in the same order', () => {
    const hits = catalogue.search('leak proof water bottles', '');
    expect(hits).toHaveLength(50);
    expect(hits.slice(0, 8).filter(({ query }) => query === 'water bottles').length).toBeGreaterThanOrEqual(6);
    expect(new Catalogue('again', catalogue.products).search('leak proof water bottles', '')).toEqual(hits);
    expect(catalogue.search('', '')).toEqual([]);
    expect(catalogue.search('of the and', '')).toEqual([]);
    expect(catalogue.search('zzzzqq', '')).toEqual([]);
    expect(catalogue.search(`${'lamp '.repeat(3000)}`, '').length).toBeLessThanOrEqual(50);
  });

  it('finds a product by its title first', () => {
    let first = 0;
    const sample = catalogue.products.filter((_, i) => i % 40 === 0);
    for (const product of sample) if (catalogue.search(product.name.toLowerCase(), '')[0] === product) first++;
    expect(first / sample.length).toBeGreaterThan(0.9);
  });

  it('ranks as BM25 does: rarer words weigh more, and matches are not multiplied', () => {
    const base = { ...catalogue.products[0], description: '', bullets: [], options: [] };
    const names = ['red lamp', 'red chair', 'red sofa', 'red table', 'green desk'];
    const tiny = new Catalogue(
      'tiny',
      names.map((name, i) => ({ ...base, asin: `B${i}`, name })),
    );
    expect(tiny.search('red desk', '').map(({ name }) => name)[0]).toBe('green desk');
    expect(tiny.search('red', '').map(({ name }) => name)).toEqual(names.slice(0, 4));
  });

  it('knows the magic words', () => {
    expect(catalogue.search('<q> water bottles', '')).toHaveLength(12);
    expect(catalogue.search('<c> pets', '').every(({ category }) => category === 'pets')).toBe(true);
    expect(catalogue.search('<a> leak proof', '').every(({ attributes }) => attributes.includes('leak proof'))).toBe(
      true,
    );
    expect(catalogue.search('<r>', 'a')).toEqual(catalogue.search('<r>', 'a'));
    expect(catalogue.search('<r>', 'a')).not.toEqual(catalogue.search('<r>', 'b'));
    expect(catalogue.search('<c>', '')).toEqual([]);
  });

  it('stems plurals', () => {
    expect(['bottles', 'dishes', 'berries', 'glass', 'dress', 'dresses', 'gas', 'boxes', 'shoes'].map(stem)).toEqual([
      'bottle',
      'dish',
      'berry',
      'glass',
      'dress',
      'dress',
      'gas',
      'box',
      'shoe',
    ]);
  });
});

describe('tasks', () => {
  const training = trainingTasks(everything);
  const heldOut = heldOutTasks(everything);

  it('are many, fixed, and never want the same product in training and evaluation', () => {
    expect(training.length).toBeGreaterThan(2000);
    expect(heldOut.length).toBeGreaterThanOrEqual(500);
    const asins = new Set(training.map((task) => shopData(task).goal.asin));
    for (const task of heldOut) expect(asins.has(shopData(task).goal.asin)).toBe(false);
    expect(new Set([...training, ...heldOut].map(({ id }) => id)).size).toBe(training.length + heldOut.length);
    expect(new Set([...training, ...heldOut].map(({ instruction }) => instruction)).size).toBeGreaterThan(2800);
    expect(heldOutTasks(64)).toEqual(heldOut.slice(0, 64));
    expect(hashKey(JSON.stringify(heldOut))).toMatchInlineSnapshot(`1926577859`);
    expect(new Set(heldOut.slice(0, 100).map(({ room }) => room)).size).toBe(12);
  });

  it('survive JSON and are met by their own product', () => {
    for (const task of [...training.slice(0, 150), ...heldOut.slice(0, 150)]) {
      expect(JSON.parse(JSON.stringify(task))).toEqual(task);
      const { goal } = shopData(task);
      const product = catalogue.get(goal.asin)!;
      expect(scorePurchase(product, goal, priceOf(product), goal.options).total).toBe(1);
      expect(task.instruction).not.toMatch(/\.$|undefined|\s\s/);
      if (goal.priceUpper !== NO_CAP) {
        expect(task.instruction).toContain(`price lower than ${goal.priceUpper.toFixed(2)} dollars`);
      }
    }
  });

  it.each<[string, unknown]>([
    ['nothing', null],
    ['a room', { size: 'tiny' }],
    ['a damaged goal', { world: 'shop', catalogue: 'built-in', goal: { asin: 'B' } }],
    ['a list', []],
  ])('refuse %s', (_, data) => {
    expect(() => shopData({ ...training[0], data })).toThrow(expect.objectContaining({ code: 'task-unreadable' }));
  });
});

describe('price caps', () => {
  it('are the larger of two of the four next tens, from the seed alone', () => {
    const caps = new Set<number>();
    for (let i = 0; i < 300; i++) caps.add(drawPriceCap(18.99, new Random(i)));
    expect([...caps].sort((a, b) => a - b)).toEqual([30, 40, 50]);
    expect(drawPriceCap(18.99, new Random(5))).toBe(drawPriceCap(18.99, new Random(5)));
    expect(drawPriceCap(20, new Random(1))).toBeGreaterThanOrEqual(40);
    expect(drawPriceCap(985, new Random(1))).toBe(NO_CAP);
    expect(drawPriceCap(975, new Random(1))).toBe(990);
  });

  it('are told at the end of the sentence', () => {
    expect(
      syntheticInstruction(
        'Find me lamps',
        [
          ['color', 'red'],
          ['size', 'l'],
        ],
        40,
      ),
    ).toBe('Find me lamps with color: red, and size: l, and price lower than 40.00 dollars');
    expect(syntheticInstruction('Find me lamps', [], NO_CAP)).toBe('Find me lamps');
  });
});

describe('tasks from sentences', () => {
  it('understand what the shop itself asks for', () => {
    for (const task of trainingTasks(120)) {
      const made = taskFromInstruction(task.instruction);
      expect(made, task.instruction).not.toBeNull();
      const wanted = shopData(task).goal;
      const { goal } = shopData(made!);
      expect(goal.query).toBe(wanted.query);
      expect(goal.priceUpper).toBe(wanted.priceUpper);
      expect(goal.attributes).toEqual(expect.arrayContaining([...wanted.attributes]));
      expect(made!.room).toBe(task.room);
    }
  });

  it('are equal for equal wishes, and never want a held-out product', () => {
    const one = taskFromInstruction('i need a leak proof water bottle, and price lower than 60.00 dollars')!;
    const other = taskFromInstruction('Find me leak proof water bottles, and price lower than 60.00 dollars.')!;
    expect(one.id).toBe(other.id);
    const heldOut = new Set(heldOutTasks(everything).map((task) => shopData(task).goal.asin));
    for (const task of heldOutTasks(100)) {
      const made = taskFromInstruction(task.instruction);
      if (made !== null) expect(heldOut.has((made.data as ShopData).goal.asin)).toBe(false);
    }
  });

  it.each([
    '',
    'put a clean cup in cabinet',
    'i need a water bottle',
    'i need a leak proof spaceship',
    'i need a leak proof water bottle, and price lower than 1.00 dollars',
    `i need a leak proof water bottle${' really'.repeat(400)}`,
  ])('%j is no wish of this shop', (instruction) => {
    expect(taskFromInstruction(instruction)).toBeNull();
  });
});
