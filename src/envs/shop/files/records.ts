/**
 * @file One entry of WebShop's files as a product or a wish. Foreign data: every field is checked, cut to a length, and
 * read only where it is the entry's own (`__proto__` and its like are words like any other).
 */
import { isJsonObject, type JsonObject } from '../../../data/json-object';
import { NO_CAP, type ShopGoal } from '../goals';
import type { Product, ProductOption } from '../product';

const MAX_TITLE = 2_000;
const MAX_DESCRIPTION = 20_000;
const MAX_BULLETS = 100;
const MAX_ATTRIBUTES = 200;
const MAX_OPTIONS = 50;
const MAX_VALUES = 300;
const MAX_WORD = 500;
/** WebShop's attribute of products that have none. */
const NO_ATTRIBUTES: readonly string[] = ['DUMMY_ATTR'];

const own = (record: JsonObject, key: string): unknown => (Object.hasOwn(record, key) ? record[key] : undefined);

const text = (value: unknown, limit: number): string => (typeof value === 'string' ? value.slice(0, limit) : '');

const texts = (value: unknown, most: number, limit: number): string[] =>
  Array.isArray(value)
    ? value
        .slice(0, most)
        .map((item) => text(item, limit))
        .filter((item) => item !== '')
    : [];

/** A product of items_shuffle*.json, or why it is none. `attributes` are those of items_ins_v2*.json. */
export function readProduct(entry: unknown, attributes: readonly string[] | undefined): Product | string {
  if (!isJsonObject(entry)) return 'not an object';
  const asin = text(own(entry, 'asin'), 64);
  // As load_products does: such entries are damaged.
  if (asin === '' || asin === 'nan' || asin.length > 10) return 'no usable asin';
  const name = text(own(entry, 'name'), MAX_TITLE);
  if (name === '') return 'no name';
  const bullets = own(entry, 'small_description');
  return {
    asin: asin.toUpperCase(),
    name,
    description: text(own(entry, 'full_description'), MAX_DESCRIPTION),
    bullets: typeof bullets === 'string' ? [bullets.slice(0, MAX_TITLE)] : texts(bullets, MAX_BULLETS, MAX_TITLE),
    attributes: attributes ?? NO_ATTRIBUTES,
    options: readOptions(own(entry, 'customization_options')),
    category: text(own(entry, 'category'), MAX_WORD),
    query: text(own(entry, 'query'), MAX_WORD).toLowerCase().trim(),
    productCategory: text(own(entry, 'product_category'), MAX_TITLE),
    prices: readPrices(own(entry, 'pricing')),
  };
}

function readOptions(value: unknown): ProductOption[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value)
    .slice(0, MAX_OPTIONS)
    .flatMap(([name, contents]) => {
      if (!Array.isArray(contents)) return [];
      const values = contents
        .slice(0, MAX_VALUES)
        .map((content) => (isJsonObject(content) ? optionValue(own(content, 'value')) : ''))
        .filter((option) => option !== '');
      return values.length === 0 ? [] : [{ name: name.slice(0, MAX_WORD).toLowerCase(), values: [...new Set(values)] }];
    });
}

/** Lower case, slashes as ` | `. Brackets become round: the action's own brackets make such a value unreachable. */
const optionValue = (value: unknown): string =>
  text(value, MAX_WORD).trim().replaceAll('/', ' | ').replaceAll('[', '(').replaceAll(']', ')').toLowerCase();

/** `$12.99`, `$8.00 to $20.50`; the first two prices count. Nothing readable is no price. */
function readPrices(value: unknown): number[] {
  return text(value, MAX_WORD)
    .split('$')
    .slice(1, 3)
    .map((part) => Number.parseFloat(part.replace(/[^\d.]/g, '')))
    .filter((price) => Number.isFinite(price));
}

export interface SyntheticWish {
  instruction: string;
  attributes: readonly string[];
}

/** An entry of items_ins_v2*.json: the product's attributes and, for some, a generated sentence. null when damaged. */
export function readAttributes(
  entry: unknown,
): { attributes: string[] | undefined; wish: SyntheticWish | null } | null {
  if (!isJsonObject(entry)) return null;
  const listed = own(entry, 'attributes');
  const instruction = text(own(entry, 'instruction'), MAX_TITLE);
  const wanted = texts(own(entry, 'instruction_attributes'), MAX_ATTRIBUTES, MAX_WORD);
  return {
    attributes: Array.isArray(listed) ? texts(listed, MAX_ATTRIBUTES, MAX_WORD) : undefined,
    wish: instruction === '' || wanted.length === 0 ? null : { instruction, attributes: wanted },
  };
}

export interface HumanWish {
  asin: string;
  instruction: string;
  attributes: readonly string[];
  options: readonly string[];
}

/** The wishes of one product in items_human_ins*.json; those without attributes are skipped, as goal.py skips them. */
export function readHumanWishes(asin: string, entry: unknown): HumanWish[] {
  if (!Array.isArray(entry)) return [];
  return entry.filter(isJsonObject).flatMap((wish) => {
    const instruction = text(own(wish, 'instruction'), MAX_TITLE);
    const attributes = texts(own(wish, 'instruction_attributes'), MAX_ATTRIBUTES, MAX_WORD);
    const options = texts(own(wish, 'instruction_options'), MAX_OPTIONS, MAX_WORD);
    return instruction === '' || attributes.length === 0 ? [] : [{ asin, instruction, attributes, options }];
  });
}

/** A goal as WebShop's session logs carry it (`goal` of every line); null when it is none. */
export function readLoggedGoal(entry: unknown): ShopGoal | null {
  if (!isJsonObject(entry)) return null;
  const field = (key: string) => text(own(entry, key), MAX_TITLE);
  const cap = own(entry, 'price_upper');
  const options = own(entry, 'goal_options');
  const goal: ShopGoal = {
    asin: field('asin'),
    category: field('category'),
    query: field('query'),
    name: field('name'),
    productCategory: field('product_category'),
    instruction: field('instruction_text'),
    attributes: texts(own(entry, 'attributes'), MAX_ATTRIBUTES, MAX_WORD),
    options: texts(isJsonObject(options) ? Object.values(options) : options, MAX_OPTIONS, MAX_WORD),
    priceUpper: typeof cap === 'number' && Number.isFinite(cap) ? cap : NO_CAP,
  };
  return goal.asin === '' || goal.instruction === '' ? null : goal;
}
