/**
 * @file WebShop's score of a purchase (engine/goal.py), with every component.
 *
 *   total = r_type * (attribute matches + option matches + [price <= cap]) / (attributes + options + 1)
 *
 * `r_type` guards against a bargain of the wrong kind: 1 when the shelf, two categories or more than a fifth of the
 * title's nouns agree, else 0.5; 0.1 and 0 when the titles share next to nothing. Success is a score of exactly 1.
 */
import { normalColour } from './colours';
import { matches } from './fuzzy';
import type { ShopGoal } from './goals';
import { titleNouns } from './nouns';
import type { Product } from './product';

export interface ShopScore {
  /** 0..1. */
  total: number;
  rType: number;
  /** Share of the wanted attributes that the product has; 0 where none is wanted. */
  rAtt: number;
  /** Share of the wanted options that were chosen; null where none is wanted. */
  rOption: number | null;
  rPrice: boolean;
  queryMatch: boolean;
  categoryMatch: boolean;
  titleScore: number;
  attributeMatches: number;
  optionMatches: number;
}

export interface TypeEvidence {
  queryMatch: boolean;
  /** At least two parts of the category path in common. */
  categoryMatch: boolean;
  titleScore: number;
}

export function typeReward({ queryMatch, categoryMatch, titleScore }: TypeEvidence): number {
  if (titleScore === 0) return 0;
  if (titleScore < 0.1) return 0.1;
  return queryMatch || categoryMatch || titleScore > 0.2 ? 1 : 0.5;
}

const pathParts = (path: string): Set<string> => new Set(path.split('›').map((part) => part.trim()));

export function typeEvidence(product: Product, goal: ShopGoal): TypeEvidence {
  const wanted = pathParts(goal.productCategory);
  let shared = 0;
  for (const part of pathParts(product.productCategory)) if (wanted.has(part)) shared++;
  const wantedNouns = titleNouns(goal.name);
  const common = new Set(titleNouns(product.name).filter((noun) => wantedNouns.includes(noun))).size;
  return {
    queryMatch: product.query === goal.query,
    categoryMatch: shared >= 2,
    titleScore: wantedNouns.length === 0 ? 0.2 : common / wantedNouns.length,
  };
}

/** Listed attributes are compared word by word; otherwise the phrase must stand somewhere in the product's text. */
export function hasAttribute(product: Product, attribute: string): boolean {
  return (
    product.attributes.some((own) => matches(own, attribute)) ||
    product.name.toLowerCase().includes(attribute) ||
    product.bullets.join(' ').toLowerCase().includes(attribute) ||
    product.description.toLowerCase().includes(attribute)
  );
}

/** Does a chosen value stand for a wanted one? `large` also takes `x-large`: the original forgives it. */
export const optionMatches = (chosen: string, wanted: string): boolean =>
  matches(normalColour(chosen), normalColour(wanted));

export const countOptionMatches = (chosen: readonly string[], wanted: readonly string[]): number =>
  wanted.filter((want) => chosen.some((value) => optionMatches(value, want))).length;

export function totalScore(
  rType: number,
  counts: { attributeMatches: number; attributes: number; optionMatches: number; options: number; rPrice: boolean },
): number {
  const met = counts.attributeMatches + counts.optionMatches + (counts.rPrice ? 1 : 0);
  return (met / (counts.attributes + counts.options + 1)) * rType;
}

/** `price` in dollars, `chosen` the values of the options clicked. */
export function scorePurchase(product: Product, goal: ShopGoal, price: number, chosen: readonly string[]): ShopScore {
  const evidence = typeEvidence(product, goal);
  const rType = typeReward(evidence);
  const rPrice = price <= goal.priceUpper;
  const attributes = goal.attributes.length;
  const options = goal.options.length;
  const attributeMatches = goal.attributes.filter((attribute) => hasAttribute(product, attribute)).length;
  const matched = countOptionMatches(chosen, goal.options);
  return {
    total: totalScore(rType, { attributeMatches, attributes, optionMatches: matched, options, rPrice }),
    rType,
    rAtt: attributes === 0 ? 0 : attributeMatches / attributes,
    rOption: options === 0 ? null : matched / options,
    rPrice,
    ...evidence,
    attributeMatches,
    optionMatches: matched,
  };
}
