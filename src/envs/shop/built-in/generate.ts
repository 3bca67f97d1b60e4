/**
 * @file The built-in catalogue: 1,440 products made from departments.ts and options.ts, the same on every machine.
 *
 * Generated when first asked for (some milliseconds), never stored. Products of one kind differ in traits, options and
 * price, so that a search finds the shelf at once and the right product only to a careful reader.
 */
import { hashKey, Random } from '../../household/random';
import { Catalogue } from '../catalogue';
import type { Product, ProductOption } from '../product';
import { type Kind, productKinds } from './departments';
import { OPTION_LISTS } from './options';

export const BUILT_IN = 'built-in';
export const PRODUCTS_PER_KIND = 12;

const BRANDS =
  'Abrelo Bastina Calvero Dorvik Elmont Fenrow Galdor Hesper Ivorra Jantel Kelvane Lumora Mirelle Norvash Ostella Pinwick Quorra Rastel Sunmere Talvio Umbrix Velora Wexham Yarrow Zantia Arkell Briova Corwen Drosia Evandel'.split(
    ' ',
  );
const STYLES = 'Classic Nova Prime Harbor Meadow Urban Summit Coastal Studio Heritage Breeze Echo'.split(' ');
const BULLETS: readonly ((trait: string, kind: Kind) => string)[] = [
  (trait, kind) => `${capital(trait)}: what people look for in ${kind.query}`,
  (trait) => `${capital(trait)} - you notice it from the first day`,
  (trait, kind) => `Chosen by buyers of ${kind.query} for this: ${trait}`,
  (trait) => `You asked for it: ${trait}`,
];

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const title = (text: string): string => text.split(' ').map(capital).join(' ');

let catalogue: Catalogue | null = null;

export function builtInCatalogue(): Catalogue {
  catalogue ??= new Catalogue(BUILT_IN, generateProducts());
  return catalogue;
}

const kinds = new Map<string, Kind>();

/** The kind of a built-in product, by its shelf. */
export function kindOf(product: Product): Kind {
  if (kinds.size === 0) for (const kind of productKinds()) kinds.set(kind.query, kind);
  const kind = kinds.get(product.query);
  if (kind === undefined) throw new RangeError(`No built-in kind has the shelf "${product.query}".`);
  return kind;
}

export function generateProducts(): Product[] {
  return productKinds().flatMap((kind) =>
    Array.from({ length: PRODUCTS_PER_KIND }, (_, i) => generateProduct(kind, i)),
  );
}

function generateProduct(kind: Kind, i: number): Product {
  const random = new Random('built-in shop').split(kind.query, i);
  const brand = random.pick(BRANDS);
  const traits = random.shuffle([...kind.traits]).slice(0, 3 + random.int(3));
  const uses = random.shuffle([...kind.uses]).slice(0, 2);
  const noun = title(kind.noun);
  const inTitle = traits.slice(0, 1 + random.int(2)).map(title);
  const style = random.pick(STYLES);
  const names = [
    `${brand} ${inTitle[0]} ${noun} for ${title(uses[0])}${inTitle[1] === undefined ? '' : `, ${inTitle[1]}`}`,
    `${brand} ${style} ${noun}, ${inTitle.join(', ')}`,
    `${noun} by ${brand} - ${inTitle.join(' and ')}, ${style} Series`,
  ];
  const description = [
    `The ${brand} ${style.toLowerCase()} ${kind.noun} is at home with ${uses.join(' and ')}.`,
    `Best known for: ${traits[0]}, ${traits[1]}.`,
    random.chance(0.5) ? `A good gift for ${uses[0]}.` : `Questions are answered within a day.`,
  ].join(' ');
  return {
    asin: `B0${hashKey('asin', kind.query, i).toString(36).toUpperCase().padStart(7, '0')}${(i % 36).toString(36).toUpperCase()}`,
    name: random.pick(names),
    description,
    bullets: traits.map((trait) => random.pick(BULLETS)(trait, kind)),
    attributes: traits,
    options: kind.optionLists.map((list) => drawOption(list, random)),
    category: kind.category,
    query: kind.query,
    productCategory: kind.path,
    prices: drawPrices(kind, random),
  };
}

function drawOption(key: string, random: Random): ProductOption {
  const { name, values, scattered } = OPTION_LISTS[key];
  const count = Math.min(values.length, 3 + random.int(3));
  if (scattered) return { name, values: random.shuffle([...values]).slice(0, count) };
  const start = random.int(values.length - count + 1);
  return { name, values: values.slice(start, start + count) };
}

/** Cheap ones are more common than dear ones; one product in eight lists a range. */
function drawPrices(kind: Kind, random: Random): number[] {
  const draw = () => kind.lowPrice + (kind.highPrice - kind.lowPrice) * random.float() * random.float();
  const cents = (price: number) => Math.floor(price) + random.pick([0.99, 0.49, 0.95, 0, 0.5]);
  const price = cents(draw());
  return random.chance(1 / 8) ? [price, cents(price * 1.3 + 2)] : [price];
}
