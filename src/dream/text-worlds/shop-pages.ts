/**
 * @file The shop's next page as a script: its form, and whatever earlier pages have shown, are given; products, prices, option
 * values and descriptions that nobody has seen yet are the model's own.
 */
import type { Task } from '../../envs/environment';
import {
  type AbstractPage,
  FIRST_PAGE,
  offers,
  parseAction,
  readPage,
  type ShopData,
  shopWords,
} from '../../envs/shop';
import { hashText } from '../random';
import type { Script, ScriptWords } from '../text-household/script';
import type { Imagined, Told } from './world';

/** Products that a search finds. */
const counts = [1, 2, 3];
const priceDigits = 3;
const titleTokens = 24;
const valueTokens = 6;
const textTokens = 32;
/** Names of the first options of an item; what they are matters less than their values. */
const optionNames = ['color', 'size', 'style'];
/** Values of each option. */
const optionValues = 2;
/** Free text must not pass for another element, and a title not for its price. */
const unwanted = '[]<>';

/** A purchase is judged when it is made. */
export function* imaginedPage(words: ScriptWords, told: Told, action: string): Imagined {
  const parsed = parseAction(action);
  const before = shopWords.pageInView(told.firstObservation, told.turns);
  if (parsed === null || before === null) {
    // Only a beginning that is no page of this shop leads here: what cannot be read is refused before.
    yield words.say(` ${FIRST_PAGE}\n`);
    return 'none';
  }
  const earlier = told.turns.map(({ observation }) => observation).filter((text) => readPage(text) !== null);
  if (parsed.kind === 'search') {
    yield* searched(words, earlier, parsed.argument);
    return 'none';
  }
  const known = knownPage(before, earlier, parsed.argument);
  if (known !== null) {
    yield words.say(` ${known}\n`);
    return known.startsWith('[page] done') ? 'asked' : 'none';
  }
  const offered = offers(before).get(parsed.argument);
  if (offered?.type === 'product') yield* item(words, told, offered.name, offered.text);
  else if (parsed.argument === 'next >') yield words.say(` ${nextResults(before)}\n`);
  else yield* subPage(words, before, parsed.argument);
  return 'none';
}

function* searched(words: ScriptWords, earlier: readonly string[], query: string): Script {
  const head = /^\[page\] results: page 1, \d+ found for (.*)$/;
  const same = earlier.find((text) => head.exec(text.split('\n')[0])?.[1] === query);
  if (same !== undefined) {
    yield words.say(` ${same}\n`);
    return;
  }
  yield words.say(' [page] results: page 1,');
  const count = Number.parseInt((yield words.choose(counts.map((n) => ` ${n} found`))).trim(), 10);
  yield words.say(` for ${query}\n[back to search] button: new search\n[next >] button: more results\n`);
  for (let i = 0; i < count; i++) {
    yield words.say(`[${asinOf(query, i)}] product:`);
    yield words.fill(unwanted, [', $'], { longest: titleTokens, apart: true });
    yield words.number(['.99\n'], priceDigits);
  }
}

/** A name that no earlier query gave away. */
function asinOf(query: string, place: number): string {
  const hash = hashText(`${query} ${place}`).toString(36).toUpperCase();
  return `B0${hash.padStart(8, '0').slice(-8)}`;
}

/** A page that the text has decided: shown before, or the same page with another choice, or the end. */
function knownPage(before: AbstractPage, earlier: readonly string[], pressed: string): string | null {
  const lastOf = (page: string): string | undefined => earlier.findLast((text) => readPage(text)?.page === page);
  const offered = offers(before).get(pressed);
  if (pressed === 'back to search') return FIRST_PAGE;
  if (pressed === '< prev' && before.page === 'results') return resultsBefore(before, earlier) ?? FIRST_PAGE;
  if (pressed === '< prev') return lastOf(before.page === 'item' ? 'results' : 'item') ?? FIRST_PAGE;
  if (offered?.type === 'product') {
    const seen = earlier.find((text) => readPage(text)?.page === 'item' && readPage(text)?.detail === offered.name);
    return seen?.replaceAll(/(\] option: .*), chosen$/gm, '$1') ?? null;
  }
  if (offered?.type === 'option') return linesOf(before, offered.name, offered.text.replace(/, chosen$/, ''));
  if (before.page !== 'item') return null;
  if (pressed === 'buy now') return `[page] done: bought ${[before.detail, ...choices(before)].join(', ')}`;
  return earlier.find((text) => text.startsWith(`[page] ${pressed}: ${before.detail}\n`)) ?? null;
}

/** The item page with `value` of option `name` chosen, and no other value of it. */
function linesOf({ page, detail, elements }: AbstractPage, value: string, name: string): string {
  const lines = elements.map(({ name: label, type, text }) => {
    const option = text.replace(/, chosen$/, '');
    if (type !== 'option' || option !== name) return `[${label}] ${type}: ${text}`;
    return `[${label}] option: ${option}${label === value ? ', chosen' : ''}`;
  });
  return [`[page] ${page}: ${detail}`, ...lines].join('\n');
}

/** `color teal`, in the page's order. */
const choices = ({ elements }: AbstractPage): string[] =>
  elements
    .filter(({ type, text }) => type === 'option' && text.endsWith(', chosen'))
    .map(({ name, text }) => `${text.replace(/, chosen$/, '')} ${name}`);

/** The page of the same results that was turned before this one. */
function resultsBefore({ detail }: AbstractPage, earlier: readonly string[]): string | undefined {
  const [, page = '1', rest = ''] = /^page (\d+), (.*)$/.exec(detail) ?? [];
  return earlier.find((text) => text.startsWith(`[page] results: page ${Number(page) - 1}, ${rest}\n`));
}

/** Behind the last product that was imagined there is none. */
function nextResults({ detail }: AbstractPage): string {
  const [, page = '1', rest = ''] = /^page (\d+), (.*)$/.exec(detail) ?? [];
  const buttons = '[back to search] button: new search\n[< prev] button: results\n[next >] button: more results';
  return `[page] results: page ${Number(page) + 1}, ${rest}\n${buttons}`;
}

function* item(words: ScriptWords, { task }: Told, asin: string, listing: string): Script {
  const [, title = listing, price = '$9.99'] = /^(.*), (\$.*)$/.exec(listing) ?? [];
  yield words.say(
    ` [page] item: ${asin}\n[back to search] button: new search\n[< prev] button: results\n[title] text: ${title}\n[price] text: ${price}\n`,
  );
  for (const name of optionNames.slice(0, wantedOptions(task)))
    for (let i = 0; i < optionValues; i++) {
      yield words.say('[');
      yield words.fill(unwanted, [`] option: ${name}\n`], { longest: valueTokens });
    }
  yield words.say(
    '[description] button: text\n[features] button: list\n[reviews] button: list\n[buy now] button: buy this item\n',
  );
}

/** As many kinds of options as the task asks for, so that it can be fulfilled. */
function wantedOptions(task: Task): number {
  const { goal } = (task.data ?? {}) as Partial<ShopData>;
  return Array.isArray(goal?.options) ? goal.options.length : 0;
}

function* subPage(words: ScriptWords, before: AbstractPage, pressed: string): Script {
  yield words.say(
    ` [page] ${pressed}: ${before.detail}\n[back to search] button: new search\n[< prev] button: item\n[1] text:`,
  );
  yield words.fill(unwanted, ['\n'], { longest: textTokens, apart: true });
}
