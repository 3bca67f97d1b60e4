/** @file A product as the shop keeps it, and the small facts every page derives from it. */
import { hashKey } from '../household/random';

export interface ProductOption {
  /** Lower case, e.g. `size`. */
  name: string;
  /** Lower case; a slash reads ` | `. */
  values: readonly string[];
}

export interface Product {
  /** Ten characters, upper case; the key of a product everywhere. */
  asin: string;
  name: string;
  description: string;
  bullets: readonly string[];
  /** Hidden from the agent unless the attributes tab is switched on; the reward compares them. */
  attributes: readonly string[];
  options: readonly ProductOption[];
  category: string;
  /** The shelf the product was found on, lower case. */
  query: string;
  /** Parts joined by ` › `. */
  productCategory: string;
  /** As listed: nothing (then 100 dollars), one price, or the two ends of a range. */
  prices: readonly number[];
}

/** WebShop's price of a product that lists none. */
const UNLISTED_PRICE = 100;

/** As Python prints a float: at least one decimal. */
export const pythonFloat = (value: number): string => (Number.isInteger(value) ? value.toFixed(1) : String(value));

/** `$12.99`, `$8.0 to $20.5`, or `$100.0` where none is listed. */
export function priceTag(product: Product): string {
  const [low, high] = product.prices;
  if (low === undefined) return `$${pythonFloat(UNLISTED_PRICE)}`;
  return high === undefined ? `$${pythonFloat(low)}` : `$${pythonFloat(low)} to $${pythonFloat(high)}`;
}

/**
 * What a purchase costs, in dollars. WebShop draws a price from a range once per process, which makes rewards differ
 * between runs; here the draw belongs to the product, so it is the same everywhere.
 */
export function priceOf(product: Product): number {
  const [low, high] = product.prices;
  if (low === undefined) return UNLISTED_PRICE;
  return high === undefined ? low : low + ((high - low) * hashKey('price', product.asin)) / 4294967296;
}

/** What the search index reads (convert_product_file_format.py): title, description, first bullet and options. */
export function indexText(product: Product): string {
  const options = product.options.map(({ name, values }) => `${name}: ${values.join(', ')}`).join(', and ');
  return `${product.name} ${product.description} ${product.bullets[0] ?? ''} ${options}`.toLowerCase();
}
