/**
 * @file Which words of a product's title are nouns: the one part of WebShop's reward that is not exactly portable.
 *
 * The original asks a spaCy tagger for NOUN and PROPN. Product titles are written in capitals, which the tagger takes
 * for proper nouns almost without exception, so the rule here is: a capitalised word is a noun unless it is a function
 * word; a small word is one unless it looks like anything else. On the five goals of the published human sessions whose
 * noun counts follow from their logged title scores the rule is within two of the tagger (see the tests).
 */
const FUNCTION_WORDS = new Set(
  'a an and or nor the this that these those of for with without in on to from by at as is are be it its our your his her their my up down off out over under per via not no compatible w s t'.split(
    ' ',
  ),
);

/** Common qualities, written small. Endings catch the rest. */
const QUALITIES = new Set(
  'small medium large big little long short tall wide narrow thick thin slim soft hard firm heavy light new old good best great nice free easy quick fast slow high low deep warm cold cool hot dry wet clean safe strong dark bright black white red blue green grey gray pink brown purple yellow beige navy gold silver modern classic natural organic fresh pure real full double single extra super mini many more most all every each both other such one two three four five six eight ten portable durable adjustable foldable washable reusable suitable comfortable breathable'.split(
    ' ',
  ),
);
const NOT_A_NOUN = /(ly|ed|ful|less|able|ible|ous|ive|proof|resistant)$/;

const cache = new Map<string, readonly string[]>();
const MAX_CACHED = 8192;

/** The nouns of a title, lower case, in order, repeated where it repeats them (the score divides by all of them). */
export function titleNouns(title: string): readonly string[] {
  let nouns = cache.get(title);
  if (nouns === undefined) {
    nouns = (title.match(/[\p{L}\p{N}]+/gu) ?? []).filter(isNoun).map((word) => word.toLowerCase());
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(title, nouns);
  }
  return nouns;
}

function isNoun(word: string): boolean {
  // Numbers and measures (`8`, `260ml`, `38mm`) are no nouns; names with digits inside (`RL38`) are.
  if (/^\p{N}/u.test(word)) return false;
  const small = word.toLowerCase();
  if (FUNCTION_WORDS.has(small)) return false;
  return word !== small || !(QUALITIES.has(small) || NOT_A_NOUN.test(small));
}
