/**
 * @file Instructions for built-in products: the way people ask (`i need a leak proof water bottle in teal …`) and the way
 * WebShop's generator asks (`Find me leak proof water bottles with color: teal, …`).
 */
import { Random } from '../../household/random';
import { drawPriceCap, humanInstruction, type ShopGoal, syntheticInstruction } from '../goals';
import { type Product, priceOf } from '../product';
import { kindOf } from './generate';

export type WishStyle = 'human' | 'synthetic';
export const WISH_STYLES: readonly WishStyle[] = ['human', 'synthetic'];

const and = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts[parts.length - 1]}`;

/** How a person names a choice: a colour or `3 pack` by itself, the rest with its name where it would be unclear. */
function spoken([name, value]: readonly [string, string], random: Random): string {
  if (name === 'color') return random.pick([`in ${value}`, `in the color ${value}`, `${value} colored`]);
  if (name === 'size') return random.pick([`in size ${value}`, `size ${value}`]);
  const last = name.replace(/s$/, '').split(' ').at(-1) ?? name;
  if (name === 'style' || value.includes(last)) return value;
  return random.pick([`with ${name} ${value}`, `${name} should be ${value}`]);
}

const withArticles = (sentence: string): string => sentence.replace(/\ba (?=[aeio])(?!one\b)/g, 'an ');

type Sentence = (noun: string, traits: readonly string[], choices: string, use: string) => string;

const SENTENCES: readonly Sentence[] = [
  (noun, traits, choices) => `i am looking for a ${traits.join(', ')} ${noun}${choices && ` ${choices}`}`,
  (noun, traits, choices) => `i need a ${noun} that is ${and(traits)}${choices && `, ${choices}`}`,
  (noun, traits, choices, use) =>
    `can you find a ${noun} for ${use} that is ${and(traits)}${choices && `, ${choices}`}`,
  (noun, traits, choices) => `i want to buy a ${noun}${choices && ` ${choices}`}. it must be ${and(traits)}`,
  (noun, traits, choices, use) => `looking for a ${and(traits)} ${noun} for ${use}${choices && ` ${choices}`}`,
  (noun, traits, choices) => `please get me a ${noun} with these qualities: ${and(traits)}${choices && `, ${choices}`}`,
];

/** The `style` wish for a product; a pure function of both. Every wish can be met by its own product. */
export function wishFor(product: Product, style: WishStyle): ShopGoal {
  const random = new Random('wish').split(product.asin, style);
  const kind = kindOf(product);
  const attributes = random.shuffle([...product.attributes]).slice(0, 1 + random.int(2));
  const wanted = random.shuffle([...product.options]).slice(0, random.int(product.options.length + 1));
  const choices = wanted.map(({ name, values }) => [name, random.pick(values)] as const);
  const priceUpper = drawPriceCap(priceOf(product), random);
  const sentence = random.pick(SENTENCES);
  const spokenChoices = choices.map((choice) => spoken(choice, random)).join(', ');
  return {
    asin: product.asin,
    category: product.category,
    query: product.query,
    name: product.name,
    productCategory: product.productCategory,
    instruction:
      style === 'human'
        ? humanInstruction(
            withArticles(sentence(kind.noun, attributes, spokenChoices, random.pick(kind.uses))),
            priceUpper,
          )
        : syntheticInstruction(`Find me ${attributes.join(', ')} ${product.query}`, choices, priceUpper),
    attributes,
    options: choices.map(([, value]) => value),
    priceUpper,
  };
}
