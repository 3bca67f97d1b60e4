/**
 * @file Scripted shoppers, for demonstrations, offline data and baselines.
 *
 * - `expert`: searches for what is wanted, opens the product that can fulfil the wish, reads its features where the title
 *   does not show a wanted quality, chooses the options and buys.
 * - `clumsy`: the expert with wasteful habits: reads everything, looks at another product first, changes its mind.
 * - `noisy`: the expert, with a random action now and then; some of them the page does not offer.
 * - `hasty`: buys the first thing that looks right, with options forgotten or picked blindly. Mostly fails.
 * - `random`: anything the page offers.
 */
import type { Random } from '../household/random';
import { type Product, priceOf } from './product';
import { optionMatches, scorePurchase } from './reward';
import { PRODUCTS_PER_PAGE } from './session';
import type { ShopWorld } from './world';

export type ShopperKind = 'expert' | 'clumsy' | 'noisy' | 'hasty' | 'random';
export const SHOPPER_KINDS: readonly ShopperKind[] = ['expert', 'clumsy', 'noisy', 'hasty', 'random'];

const NOISE = 0.2;
const HABIT = 0.35;

/** The choices on the product's page that the wish asks for: `[option name, value]` per wanted value. */
export function wantedChoices(product: Product, wanted: readonly string[]): [name: string, value: string][] {
  const choices: [string, string][] = [];
  for (const want of wanted) {
    const taken = (name: string) => choices.some(([other]) => other === name);
    const fits = (same: (value: string) => boolean) => {
      const option = product.options.find(({ name, values }) => !taken(name) && values.some(same));
      if (option === undefined) return false;
      choices.push([option.name, option.values.find(same) ?? '']);
      return true;
    };
    // The exact value first: `large` also matches `x-large`.
    if (!fits((value) => value === want)) fits((value) => optionMatches(value, want));
  }
  return choices;
}

/** Could buying this product, with the right options, score 1? */
export function canFulfil(world: ShopWorld, product: Product): boolean {
  const { goal } = world;
  const chosen = wantedChoices(product, goal.options).map(([, value]) => value);
  return scorePurchase(product, goal, priceOf(product), chosen).total === 1;
}

/** What the expert types, one query after the other until something fits; the title itself is the last resort. */
function queries(world: ShopWorld): string[] {
  const { goal } = world;
  const clean = (text: string) => text.toLowerCase().replace(/[[\]]/g, ' ').replace(/\s+/g, ' ').trim();
  const asked = [
    [...goal.attributes, goal.query, ...goal.options].join(' '),
    [...goal.attributes, goal.query].join(' '),
    goal.name,
  ];
  return asked.map(clean).filter((query, i, all) => query !== '' && all.indexOf(query) === i);
}

/** Is there anything left to try before buying what does not fit? */
function somethingBetter(world: ShopWorld): boolean {
  const { keywords } = world.state;
  if (keywords !== queries(world).at(-1)) return true;
  return world.catalogue.search(keywords, world.task.id).some((hit) => canFulfil(world, hit));
}

/** The expert's next action, or null when the episode is over. A pure function of what the world shows. */
export function expertAction(world: ShopWorld): string | null {
  const { state, goal, product } = world;
  switch (state.page) {
    case 'done':
      return null;
    case 'index':
      return `search[${queries(world)[0]}]`;
    case 'results': {
      const fit = world.shown.find((shown) => canFulfil(world, shown));
      if (fit !== undefined) return `click[${fit.asin}]`;
      const more = world.hits.length > state.pageNumber * PRODUCTS_PER_PAGE;
      if (more && world.mode !== 'react') return 'click[next >]';
      const asked = queries(world);
      const next = asked[asked.indexOf(state.keywords) + 1];
      if (next !== undefined) return `search[${next}]`;
      // Nothing fits anywhere: the nearest thing is better than nothing.
      const any = world.shown[0] ?? null;
      return any === null ? `search[${goal.query}]` : `click[${any.asin}]`;
    }
    case 'sub':
      return 'click[< prev]';
    case 'item': {
      if (product === null) return 'click[back to search]';
      if (!canFulfil(world, product) && somethingBetter(world)) return 'click[< prev]';
      const chosen = new Map(state.options);
      const missing = wantedChoices(product, goal.options).find(([name, value]) => chosen.get(name) !== value);
      if (missing !== undefined) return `click[${missing[1]}]`;
      const shown = product.name.toLowerCase();
      const proven = goal.attributes.every((attribute) => shown.includes(attribute));
      if (!proven && !state.read.includes('Features')) return 'click[features]';
      return 'click[buy now]';
    }
  }
}

/** Anything the page offers, with a query made of the wish's own words. */
export function randomAction(world: ShopWorld, random: Random): string {
  const words = world.goal.instruction.toLowerCase().match(/[a-z0-9]+/g) ?? ['gift'];
  const query = Array.from({ length: 1 + random.int(4) }, () => random.pick(words)).join(' ');
  const offered = world.admissible();
  if (offered.length === 0) return `search[${query}]`;
  const action = random.pick(offered);
  return action === 'search[<query>]' ? `search[${query}]` : action;
}

export class Shopper {
  readonly kind: ShopperKind;
  private readonly world: ShopWorld;
  private readonly random: Random;

  /** The world must have been reset; make a new shopper for every episode. */
  constructor(kind: ShopperKind, world: ShopWorld, random: Random) {
    this.kind = kind;
    this.world = world;
    this.random = random;
  }

  /** The next action, or null when the episode is over. Call once per step, before the step. */
  next(): string | null {
    const { world, random } = this;
    if (world.state.page === 'done') return null;
    switch (this.kind) {
      case 'expert':
        return expertAction(world);
      case 'clumsy':
        return this.habit() ?? expertAction(world);
      case 'noisy':
        if (!random.chance(NOISE)) return expertAction(world);
        return random.chance(0.5) ? randomAction(world, random) : this.mistake();
      case 'hasty':
        return this.haste();
      case 'random':
        return randomAction(world, random);
    }
  }

  /** Something useless that people do here; null for nothing. */
  private habit(): string | null {
    const { world, random } = this;
    const { state, product, shown } = world;
    if (!random.chance(HABIT)) return null;
    if (state.page === 'index') return `search[${world.goal.query}]`;
    if (state.page === 'results') {
      const unseen = shown.filter(({ asin }) => !state.visited.includes(asin));
      return unseen.length === 0 || state.visited.length > 1 ? null : `click[${random.pick(unseen).asin}]`;
    }
    if (state.page === 'item' && product !== null) {
      const unread = (['Description', 'Reviews', 'Features'] as const).filter((page) => !state.read.includes(page));
      if (unread.length > 0 && random.chance(0.6)) return `click[${random.pick(unread).toLowerCase()}]`;
      const option = product.options.length === 0 ? null : random.pick(product.options);
      if (option !== null && state.options.length < 2) return `click[${random.pick(option.values)}]`;
    }
    return null;
  }

  /** Of correct form, but not on offer: an unknown product, a value of another product, a button of another page. */
  private mistake(): string {
    const { world, random } = this;
    const other = random.pick(world.catalogue.products);
    const values = other.options.flatMap(({ values }) => values);
    return random.pick([
      `click[${other.asin}]`,
      `click[${values.length === 0 ? 'large' : random.pick(values)}]`,
      `click[${random.pick(['buy now', 'features', 'next >', '< prev', 'add to cart'])}]`,
      `open[${world.goal.query}]`,
    ]);
  }

  private haste(): string {
    const { world, random } = this;
    const { state, product, shown, goal } = world;
    if (state.page === 'index')
      return `search[${random.pick([goal.query, `${goal.attributes[0] ?? ''} ${goal.query}`.trim()])}]`;
    if (state.page === 'results') {
      return shown.length === 0 ? `search[${goal.query}]` : `click[${random.pick(shown.slice(0, 4)).asin}]`;
    }
    if (state.page === 'sub' || product === null) return 'click[< prev]';
    const open = product.options.filter(({ name }) => !state.options.some(([other]) => other === name));
    if (open.length === 0 || random.chance(0.5)) return 'click[buy now]';
    const { values } = random.pick(open);
    const wanted = values.find((value) => goal.options.includes(value));
    return `click[${wanted !== undefined && random.chance(0.5) ? wanted : random.pick(values)}]`;
  }
}
