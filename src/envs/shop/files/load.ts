/**
 * @file A shop from a user's own WebShop files: items_shuffle*.json, items_ins_v2*.json and, where there is one, the human
 * instructions. Read piece by piece; nothing is kept of a file that fails.
 */
import { DreamError } from '../../../data/errors';
import type { Task } from '../../environment';
import { Random } from '../../household/random';
import { Catalogue } from '../catalogue';
import { drawPriceCap, humanInstruction, type ShopGoal, syntheticInstruction } from '../goals';
import { type Product, priceOf } from '../product';
import { taskOf } from '../tasks';
import { pythonShuffle } from './python-random';
import { type HumanWish, readAttributes, readHumanWishes, readProduct, type SyntheticWish } from './records';
import { eachMember, type JsonSource } from './stream';

export interface ShopFiles {
  /** items_shuffle.json or items_shuffle_1000.json: a list of products. */
  items: JsonSource;
  /** items_ins_v2.json or items_ins_v2_1000.json: ASIN -> attributes and generated instruction. */
  attributes: JsonSource;
  /** items_human_ins.json: ASIN -> instructions people wrote. */
  instructions?: JsonSource;
}

export interface LoadOptions {
  /** Names the catalogue in task ids. Default `webshop`. */
  name?: string;
  /** Products beyond this many are left out. Default 20,000; those take some 80 MB with the index when texts are short. */
  maxProducts?: number;
  /** Default 4 MiB. */
  maxEntryBytes?: number;
  /** Every product with options has many synthetic goals (all combinations); so many are drawn. Default 2. */
  goalsPerProduct?: number;
  signal?: AbortSignal;
  onProgress?: (file: keyof ShopFiles, read: number) => void;
}

export interface LoadReport {
  products: number;
  humanGoals: number;
  syntheticGoals: number;
  /** Entries not taken, at most `MAX_DROPS` of them listed. */
  dropped: { where: string; why: string }[];
  droppedCount: number;
}

export interface LoadedShop {
  catalogue: Catalogue;
  /** In WebShop's order after its own shuffle (seed 233): the i-th is its session i, where all products were read. */
  humanTasks: Task[];
  syntheticTasks: Task[];
  report: LoadReport;
}

const MAX_DROPS = 1_000;

/** @throws DreamError `shop-file-unreadable`, `shop-file-too-large`, `shop-file-empty`, `cancelled`. */
export async function loadShop(files: ShopFiles, options: LoadOptions = {}): Promise<LoadedShop> {
  const { name = 'webshop', maxProducts = 20_000, maxEntryBytes = 4 << 20, goalsPerProduct = 2, signal } = options;
  const limits = (file: keyof ShopFiles) => ({
    memberBytes: maxEntryBytes,
    signal,
    onProgress: (read: number) => options.onProgress?.(file, read),
  });
  const report: LoadReport = { products: 0, humanGoals: 0, syntheticGoals: 0, dropped: [], droppedCount: 0 };
  const drop = (where: string, why: string) => {
    report.droppedCount++;
    if (report.dropped.length < MAX_DROPS) report.dropped.push({ where: where.slice(0, 200), why });
  };

  const raw = new Map<string, Product>();
  await eachMember('products', files.items, limits('items'), (key, entry) => {
    const product = readProduct(entry, undefined);
    if (typeof product === 'string') drop(`products: entry ${key}`, product);
    else if (raw.has(product.asin)) drop(`products: entry ${key}`, `a second ${product.asin}`);
    else raw.set(product.asin, product);
    return raw.size < maxProducts;
  });
  if (raw.size === 0) {
    throw new DreamError(
      'shop-file-empty',
      'The products file holds no product.',
      'Choose items_shuffle.json or items_shuffle_1000.json of WebShop.',
    );
  }

  // The file of attributes may describe a million products: only those of this shop are kept.
  const wishes = new Map<string, SyntheticWish>();
  await eachMember('attributes', files.attributes, limits('attributes'), (key, entry) => {
    const product = raw.get(key.toUpperCase());
    if (product === undefined) return true;
    const found = readAttributes(entry);
    if (found === null) drop(`attributes: ${key}`, 'not an object');
    else {
      if (found.attributes !== undefined) raw.set(product.asin, { ...product, attributes: found.attributes });
      if (found.wish !== null) wishes.set(product.asin, found.wish);
    }
    return true;
  });

  const human = new Map<string, HumanWish[]>();
  if (files.instructions !== undefined) {
    await eachMember('instructions', files.instructions, limits('instructions'), (key, entry) => {
      const asin = key.toUpperCase();
      if (!raw.has(asin)) return true;
      const found = readHumanWishes(asin, entry);
      if (found.length === 0) drop(`instructions: ${key}`, 'no instruction with attributes');
      else human.set(asin, found);
      return true;
    });
  }

  const catalogue = new Catalogue(name, [...raw.values()]);
  const humanTasks = catalogue.products.flatMap((product) =>
    (human.get(product.asin) ?? []).map((wish, i) => taskOf(humanGoal(product, wish, i), name, `human-${i}`)),
  );
  const syntheticTasks = catalogue.products.flatMap((product) => {
    const wish = wishes.get(product.asin);
    const goals = wish === undefined ? [] : syntheticGoals(product, wish, goalsPerProduct);
    return goals.map((goal, i) => taskOf(goal, name, `synthetic-${i}`));
  });
  report.products = catalogue.products.length;
  report.humanGoals = humanTasks.length;
  report.syntheticGoals = syntheticTasks.length;
  return {
    catalogue,
    humanTasks: pythonShuffle(humanTasks, GOAL_SEED),
    syntheticTasks: pythonShuffle(syntheticTasks, GOAL_SEED),
    report,
  };
}

/** SimServer shuffles its goals with this seed, so that a session's number means the same goal everywhere. */
const GOAL_SEED = 233;

const about = ({ asin, category, query, name, productCategory }: Product) => ({
  asin,
  category,
  query,
  name,
  productCategory,
});

function humanGoal(product: Product, wish: HumanWish, i: number): ShopGoal {
  const priceUpper = drawPriceCap(priceOf(product), new Random('cap').split(product.asin, `human-${i}`));
  return {
    ...about(product),
    instruction: humanInstruction(wish.instruction, priceUpper),
    attributes: wish.attributes,
    options: wish.options,
    priceUpper,
  };
}

function syntheticGoals(product: Product, wish: SyntheticWish, most: number): ShopGoal[] {
  const random = new Random('synthetic').split(product.asin);
  const priceUpper = drawPriceCap(priceOf(product), random);
  const names = [...product.options].sort((a, b) => (a.name < b.name ? -1 : 1));
  const combinations = names.reduce((product, { values }) => Math.min(most, product * values.length), 1);
  const goals = new Map<string, ShopGoal>();
  // A few draws more than needed: two may be alike.
  for (let tries = 0; goals.size < combinations && tries < 20 * most; tries++) {
    const choices = names.map(({ name, values }) => [name, random.pick(values)] as const);
    const instruction = syntheticInstruction(wish.instruction, choices, priceUpper);
    const options = choices.map(([, value]) => value);
    goals.set(instruction, { ...about(product), instruction, attributes: wish.attributes, options, priceUpper });
  }
  return [...goals.values()];
}
