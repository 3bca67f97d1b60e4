/**
 * @file A task from a sentence, for curricula that invent wishes: understood by the built-in shop's own words, and only
 * when a product of the shop can fulfil it.
 *
 * The sentence must name a kind of product and at least one of its qualities. Products kept for evaluation are never the
 * answer, so that an invented task does not train on the held-out list.
 */
import type { Task } from '../../environment';
import { hashKey } from '../../household/random';
import type { ShopGoal } from '../goals';
import { type Product, priceOf } from '../product';
import { scorePurchase } from '../reward';
import { isHeldOut, taskOf } from '../tasks';
import { priceCapOf } from '../words';
import { type Kind, productKinds } from './departments';
import { BUILT_IN, builtInCatalogue } from './generate';
import { OPTION_LISTS } from './options';

const MAX_INSTRUCTION = 1_000;

/** Words with single spaces around them, so that a phrase is found only whole. */
const spaced = (text: string): string =>
  ` ${
    text
      .toLowerCase()
      .match(/[a-z0-9.:'-]+/g)
      ?.join(' ') ?? ''
  } `;

/** Takes the longest phrases out of the text first: `medium soft` before `medium`. */
class Words {
  private text: string;

  constructor(text: string) {
    this.text = spaced(text);
  }

  take(phrases: readonly string[]): string[] {
    const found: string[] = [];
    for (const phrase of [...phrases].sort((a, b) => b.length - a.length)) {
      const sought = spaced(phrase);
      if (sought.trim() === '' || !this.text.includes(sought)) continue;
      this.text = this.text.replace(sought, ' | ');
      found.push(phrase);
    }
    return found;
  }
}

/** null when the sentence is no wish of this shop, or nothing on sale (or price) fulfils it. */
export function taskFromInstruction(instruction: string): Task | null {
  if (instruction.length > MAX_INSTRUCTION) return null;
  const sentence = instruction.trim().replace(/\.+$/, '');
  const words = new Words(sentence.replace(/,? and price (?:lower|less) than .*$/i, '').replace(/\. /g, ' '));
  const kinds = productKinds();
  const [named] = words.take(kinds.flatMap(({ noun, query }) => [noun, query]));
  const kind = kinds.find(({ noun, query }) => noun === named || query === named);
  if (kind === undefined) return null;
  const attributes = words.take(kind.traits).sort();
  if (attributes.length === 0) return null;
  const options = optionsIn(words, kind);
  const priceUpper = priceCapOf(sentence);
  const wish = { instruction: sentence, attributes, options, priceUpper };
  for (const product of builtInCatalogue().products) {
    if (product.query !== kind.query || isHeldOut(product)) continue;
    const goal = goalFor(product, wish);
    if (goal === null) continue;
    const key = hashKey(...attributes, '|', ...[...options].sort(), '|', priceUpper).toString(36);
    return taskOf(goal, BUILT_IN, `made-${key}`);
  }
  return null;
}

/** At most one value of each option list. */
function optionsIn(words: Words, kind: Kind): string[] {
  const found: string[] = [];
  for (const list of kind.optionLists) found.push(...words.take(OPTION_LISTS[list].values).slice(0, 1));
  return found;
}

type Wish = Pick<ShopGoal, 'instruction' | 'attributes' | 'options' | 'priceUpper'>;

function goalFor(product: Product, wish: Wish): ShopGoal | null {
  const offered = product.options.flatMap(({ values }) => values);
  if (!wish.options.every((value) => offered.includes(value))) return null;
  const { asin, category, query, name, productCategory } = product;
  const goal: ShopGoal = { asin, category, query, name, productCategory, ...wish };
  return scorePurchase(product, goal, priceOf(product), wish.options).total === 1 ? goal : null;
}
