/**
 * @file What a shopper wants, and the price cap that WebShop adds to every wish.
 *
 * WebShop samples the caps when a process starts, before it seeds its generator, so that the same session asks for
 * different prices in different runs. Here the cap is drawn from the goal's own seed.
 */
import type { Random } from '../household/random';

export interface ShopGoal {
  asin: string;
  category: string;
  query: string;
  /** Title of the product that the wish was written for. */
  name: string;
  productCategory: string;
  /** The whole sentence, price included, without a final full stop. */
  instruction: string;
  attributes: readonly string[];
  /** Option values, lower case. */
  options: readonly string[];
  /** Dollars; `NO_CAP` when the sentence names no price. */
  priceUpper: number;
}

/** WebShop's stand-in for no limit. */
export const NO_CAP = 1_000_000;

/** Of the first four multiples of ten above the price (10 to 990) two are drawn and the larger is the cap. */
export function drawPriceCap(price: number, random: Random): number {
  const candidates: number[] = [];
  for (let cap = 10; cap < 1000 && candidates.length < 4; cap += 10) if (cap > price) candidates.push(cap);
  if (candidates.length < 2) return NO_CAP;
  const first = random.int(candidates.length);
  const second = (first + 1 + random.int(candidates.length - 1)) % candidates.length;
  return Math.max(candidates[first], candidates[second]);
}

export const priceText = (cap: number): string =>
  cap === NO_CAP ? '' : `, and price lower than ${cap.toFixed(2)} dollars`;

/** Human goals: full stops at either end go, as in goal.py. */
export const humanInstruction = (sentence: string, cap: number): string =>
  `${sentence.replace(/^\.+|\.+$/g, '')}${priceText(cap)}`;

/** Synthetic goals: `Find me … with color: black, and size: large, and price lower than 40.00 dollars`. */
export function syntheticInstruction(
  opening: string,
  options: readonly (readonly [name: string, value: string])[],
  cap: number,
): string {
  const chosen = options.map(([name, value]) => `${name}: ${value}`).join(', and ');
  return `${opening}${chosen === '' ? '' : ` with ${chosen}`}${priceText(cap)}`;
}
