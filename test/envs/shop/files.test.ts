/** @file A user's own WebShop files: what is taken, what is refused, and that nothing hostile gets through. */
import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expertAction, loadShop, NO_CAP, priceOf, ShopWorld, shopData } from '../../../src/envs/shop';
import { pythonShuffle } from '../../../src/envs/shop/files/python-random';
import { readLoggedGoal, readProduct } from '../../../src/envs/shop/files/records';

const item = (asin: string, more: Record<string, unknown> = {}) => ({
  asin,
  name: `Trail Bottle ${asin}`,
  full_description: 'Keeps drinks cold.',
  small_description: ['Leak proof lid', 'Wide mouth'],
  pricing: '$18.99',
  customization_options: { Color: [{ value: ' Teal ', image: null }, { value: 'Black/Grey' }], Size: null },
  category: 'garden',
  query: ' Water Bottles ',
  product_category: 'Home › Kitchen › Bottles',
  images: ['x'],
  ...more,
});
const items = JSON.stringify([item('B000000001'), item('B000000002', { pricing: '$1,008.00 to $2,020.50' })]);
const attributes = JSON.stringify({
  B000000001: {
    attributes: ['leak proof', 'bpa free'],
    instruction: 'Find me leak proof water bottles',
    instruction_attributes: ['leak proof'],
  },
  B000000002: { attributes: [] },
  B0UNKNOWN9: { attributes: ['x'] },
});
const instructions = JSON.stringify({
  B000000001: [
    {
      instruction: 'i want a teal bottle that does not leak.',
      instruction_attributes: ['leak proof'],
      instruction_options: ['teal'],
    },
    { instruction: 'skipped', instruction_attributes: [] },
  ],
});

describe('loading', () => {
  it('reads products as load_products does', async () => {
    const { catalogue, report } = await loadShop({ items, attributes });
    expect(report).toMatchObject({ products: 2, humanGoals: 0, syntheticGoals: 2, droppedCount: 0 });
    expect(catalogue.get('B000000001')).toMatchObject({
      attributes: ['leak proof', 'bpa free'],
      query: 'water bottles',
      options: [{ name: 'color', values: ['teal', 'black | grey'] }],
      prices: [18.99],
    });
    expect(catalogue.get('B000000002')?.prices).toEqual([1008, 2020.5]);
    expect(readProduct(item('B1', { pricing: null, small_description: 'one text' }), undefined)).toMatchObject({
      prices: [],
      bullets: ['one text'],
      attributes: ['DUMMY_ATTR'],
    });
  });

  it('makes tasks that can be played to the end', async () => {
    const { catalogue, humanTasks, syntheticTasks } = await loadShop(
      { items, attributes, instructions },
      { name: 'mine' },
    );
    const [human] = humanTasks;
    expect(humanTasks).toHaveLength(1);
    const { goal } = shopData(human);
    expect(human.instruction).toBe(
      `i want a teal bottle that does not leak, and price lower than ${goal.priceUpper.toFixed(2)} dollars`,
    );
    expect(syntheticTasks.map(({ instruction }) => instruction.replace(/ and price.*/, '')).sort()).toEqual([
      'Find me leak proof water bottles with color: black | grey,',
      'Find me leak proof water bottles with color: teal,',
    ]);
    const world = new ShopWorld({ catalogue });
    for (const task of [human, ...syntheticTasks]) {
      world.reset(task);
      let reward = 0;
      for (let i = 0; i < 15 && reward === 0; i++) reward = world.step(expertAction(world) ?? '').reward;
      expect(reward).toBe(1);
    }
    const again = await loadShop({ items, attributes, instructions }, { name: 'mine' });
    expect(again.humanTasks).toEqual(humanTasks);
    expect(priceOf(catalogue.products[1])).toBe(priceOf(again.catalogue.products[1]));
  });

  it('reads files piece by piece, in bytes or text, and reports progress', async () => {
    async function* slowly(text: string) {
      const bytes = new TextEncoder().encode(text);
      for (let i = 0; i < bytes.length; i += 7) yield bytes.slice(i, i + 7);
    }
    const seen: string[] = [];
    const whole = await loadShop({ items, attributes });
    const pieces = await loadShop(
      { items: slowly(items), attributes: [attributes.slice(0, 50), attributes.slice(50)] },
      { onProgress: (file, read) => seen.push(`${file} ${read}`) },
    );
    expect(pieces.catalogue.products).toEqual(whole.catalogue.products);
    expect(seen.at(-1)).toBe(`attributes ${attributes.length}`);
  });

  it('drops what is no product, and says so', async () => {
    const list = JSON.stringify([
      item('B000000001'),
      item('nan'),
      item('B00000000012'),
      item('b000000001'),
      7,
      null,
      { asin: 'B000000003' },
      item('B000000004'),
    ]);
    const { report } = await loadShop({ items: list, attributes: '{"B000000004":[1]}' });
    expect(report.products).toBe(2);
    expect(report.dropped.map(({ why }) => why)).toEqual([
      'no usable asin',
      'no usable asin',
      'a second B000000001',
      'not an object',
      'not an object',
      'no name',
      'not an object',
    ]);
    const limited = await loadShop({ items: list, attributes: '{}' }, { maxProducts: 1 });
    expect(limited.report.products).toBe(1);
  });

  const sample = new URL('../../../../shared/samples/webshop_items_ins_v2_1000.json', import.meta.url);
  it.skipIf(!existsSync(sample))('takes the attributes of a real file', async () => {
    const text = readFileSync(sample, 'utf8');
    const list = Object.keys(JSON.parse(text)).map((asin) => item(asin));
    const { report, catalogue, syntheticTasks } = await loadShop({ items: JSON.stringify(list), attributes: text });
    expect(report.products).toBe(list.length);
    expect(report.droppedCount).toBe(0);
    expect(catalogue.get('B07DJJXGB5')?.attributes).toEqual(['tea tree', 'essential oils', 'natural ingredients']);
    expect(syntheticTasks.length).toBeGreaterThan(100);
  });
});

describe('bad files', () => {
  it.each([
    ['nothing', ''],
    ['words', 'asin,name'],
    ['JSON Lines', '{"asin":"B1"}\n{"asin":"B2"}'],
    ['half a file', items.slice(0, 200)],
    ['a number', '7'],
    ['deep nesting', '['.repeat(200_000)],
  ])('%s are refused', async (_, text) => {
    await expect(loadShop({ items: text, attributes: '{}' })).rejects.toMatchObject({
      code: expect.stringMatching(/^shop-file-(unreadable|empty)$/),
      advice: expect.stringMatching(/./),
    });
    await expect(loadShop({ items, attributes: text === '7' ? '' : text.slice(0, 300) })).rejects.toMatchObject({
      code: 'shop-file-unreadable',
    });
  });

  it('entries beyond the limit are refused before they fill the memory', async () => {
    let given = 0;
    function* endless() {
      yield '[{"asin":"B1","name":"';
      for (;;) {
        given += 100_000;
        yield 'x'.repeat(100_000);
      }
    }
    await expect(loadShop({ items: endless(), attributes: '{}' }, { maxEntryBytes: 1 << 20 })).rejects.toMatchObject({
      code: 'shop-file-too-large',
    });
    expect(given).toBeLessThan(3 << 20);
  });

  it('a list without products is refused', async () => {
    await expect(loadShop({ items: '[]', attributes: '{}' })).rejects.toMatchObject({ code: 'shop-file-empty' });
  });

  it('can be cancelled', async () => {
    const signal = AbortSignal.abort();
    await expect(loadShop({ items, attributes }, { signal })).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('prototype keys are words like any other', async () => {
    const hostile = `[{"__proto__":{"asin":"B000000009","name":"forged"}},
      {"asin":"B000000001","name":"Real","constructor":1,"customization_options":{"__proto__":[{"value":"x"}],"constructor":[{"value":"y"}],"toString":3}}]`;
    const { catalogue, report } = await loadShop({
      items: hostile,
      attributes: '{"__proto__":{"attributes":["x"]},"constructor":{"attributes":["y"]}}',
    });
    expect(report.products).toBe(1);
    expect(catalogue.get('B000000009')).toBeUndefined();
    expect(catalogue.get('__proto__')).toBeUndefined();
    expect(catalogue.get('B000000001')?.attributes).toEqual(['DUMMY_ATTR']);
    expect(({} as Record<string, unknown>).asin).toBeUndefined();
  });

  it('whatever an entry holds, it is a product or a reason', () => {
    fc.assert(
      fc.property(fc.anything(), fc.string(), (value, asin) => {
        for (const entry of [value, { ...item('B000000001'), small_description: value, pricing: value }]) {
          const read = readProduct(entry, undefined);
          expect(typeof read === 'string' || read.asin.length <= 10).toBe(true);
        }
        readProduct({ ...item(asin), customization_options: { a: value, b: [value, { value }] } }, undefined);
        readLoggedGoal(value);
      }),
    );
  });
});

describe('session numbers', () => {
  it("keep their goals: Python's shuffle with seed 233", () => {
    const range = (n: number) => Array.from({ length: n }, (_, i) => i);
    expect(pythonShuffle(range(10), 233)).toEqual([5, 9, 0, 1, 4, 7, 6, 3, 8, 2]);
    expect(pythonShuffle(range(1000), 233).slice(0, 8)).toEqual([127, 320, 431, 331, 760, 454, 129, 769]);
    expect(pythonShuffle([], 233)).toEqual([]);
  });
});

describe('goals of session logs', () => {
  it('are read with lists or dictionaries of options', () => {
    const logged = { asin: 'B1', instruction_text: 'x', goal_options: { color: 'red', size: 8 }, price_upper: 'free' };
    expect(readLoggedGoal(logged)).toMatchObject({ options: ['red'], priceUpper: NO_CAP, attributes: [] });
    expect(readLoggedGoal({ asin: 'B1' })).toBeNull();
    expect(readLoggedGoal(null)).toBeNull();
  });
});
