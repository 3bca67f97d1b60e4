/**
 * @file WebShop's texts in the abstract form of the built-in shop (src/envs/shop/abstract.ts): one
 * `[element] type: description` a line. Three raw forms lead to it: the `[SEP]` text of the environment, the bracket text
 * of ReAct's harness, and the page records of session logs.
 *
 * A page says less than the state behind it (which query, which item), so the mapping remembers the episode's actions.
 */
import { FIRST_PAGE, plain, UNCHANGED } from '../../envs/shop/abstract';
import type { AbstractStates, EpisodeStates } from './states';

const asin = /^B[0-9A-Z]{9}$/i;
const price = /^\$[\d,.]+(?: to \$[\d,.]+)?$/;
const pageLine = /^Page (\d+) \(Total results: (\d+)\)$/;
const subPages = ['description', 'features', 'reviews', 'attributes'];

/** What the built-in shop says of its buttons. */
const hints: Readonly<Record<string, string>> = {
  'back to search': 'new search',
  'next >': 'more results',
  'buy now': 'buy this item',
  description: 'text',
  features: 'list',
  reviews: 'list',
  attributes: 'list',
};
const fixed = new Set([...Object.keys(hints), '< prev', 'search']);

const button = (label: string, previous: string): string =>
  `[${label.toLowerCase()}] button: ${label.toLowerCase() === '< prev' ? previous : hints[label.toLowerCase()]}`;

/** `[SEP]` text does not say which words name an option and which are its values: these are names in real catalogues. */
const optionNames = new Set(
  (
    'color colour style scent flavor flavour pattern shape length width height depth thickness weight material metal ' +
    'edition configuration design model team finish capacity pack count size age animal case compartments firmness heat ' +
    'language lens players resistance roast scale season seats theme voltage wattage set'
  ).split(' '),
);
const sizeValue = /^(?:one|king|queen|twin|full|plus|travel|standard|regular|family|large|small|medium)\b.* size$/;
const isOptionName = (text: string) =>
  optionNames.has(text) ||
  (!sizeValue.test(text) && /^(?:[\w-]+ ){1,3}(?:name|type|size|count|quantity|colou?r|orientation|items)$/.test(text));

interface Option {
  name: string;
  value: string;
  chosen: boolean;
}

interface Item {
  asin: string;
  title: string;
  price: string;
  options: Option[];
  buttons: string[];
}

interface Token {
  text: string;
  chosen: boolean;
  isButton: boolean;
  /** Position of the line it stood on; -1 when lines mean nothing. */
  line: number;
}

function tokensOf(raw: string): Token[] {
  if (raw.includes('[SEP]'))
    return raw
      .split('[SEP]')
      .map((text) => ({ text: text.replace(/\s+/g, ' ').trim(), chosen: false, isButton: false, line: -1 }))
      .filter(({ text }) => text !== '');
  return raw.split('\n').flatMap((line, i) => lineTokens(line.trim(), i));
}

/** `[button] X [button_]`, `size [a][[b]]`, `[Search]`, or plain words. */
function lineTokens(line: string, i: number): Token[] {
  const rich = /^\[(clicked )?button\] (.*?) \[(?:clicked )?button_\]$/.exec(line);
  if (rich) return [{ text: rich[2], chosen: rich[1] !== undefined, isButton: true, line: i }];
  const found = /^([^[\]]*?)\s*((?:\[\[?[^[\]]*\]?\]\s*)+)$/.exec(line);
  if (!found) return line === '' ? [] : [{ text: line, chosen: false, isButton: false, line: i }];
  const buttons = [...found[2].matchAll(/\[(\[?)([^[\]]*)\]/g)];
  return [
    ...(found[1] === '' ? [] : [{ text: found[1], chosen: false, isButton: false, line: i }]),
    ...buttons.map(([, twice, text]) => ({ text: text.trim(), chosen: twice !== '', isButton: true, line: i })),
  ];
}

/** The instruction stands on most pages; it is the task, not the state. */
function withoutInstruction(tokens: readonly Token[]): { instruction?: string; rest: Token[] } {
  const at = tokens.findIndex(({ text }) => /^Instruction:/i.test(text));
  if (at === -1) return { rest: [...tokens] };
  const inline = tokens[at].text.replace(/^Instruction:\s*/i, '');
  const instruction = inline !== '' ? inline : tokens[at + 1]?.text;
  return { instruction, rest: tokens.filter((_, i) => i < at || i > at + (inline !== '' ? 0 : 1)) };
}

class ShopEpisode implements EpisodeStates {
  private keywords = '';
  private item: Item | null = null;
  private opened = '';

  first(raw: string): string {
    return this.page(raw);
  }

  next(action: string, raw: string): string {
    const [, kind, argument] = /^(search|click)\[([\s\S]*)\]$/.exec(action) ?? [];
    if (kind === 'search') this.keywords = argument.toLowerCase();
    if (kind === 'click' && asin.test(argument)) this.opened = argument.toUpperCase();
    if (kind === 'click' && argument.toLowerCase() === 'buy now') {
      const options = this.item?.options.filter(({ chosen }) => chosen) ?? [];
      return boughtState(this.opened, options);
    }
    return this.page(raw, argument);
  }

  private page(raw: string, clicked = ''): string {
    if (/^\s*Invalid action/i.test(raw)) return UNCHANGED;
    // ReAct's harness shows no page after a choice.
    const told = /^\s*You have clicked ([\s\S]*?)\.?\s*$/.exec(raw);
    if (told && !told[1].includes('\n') && this.item) {
      choose(this.item, told[1].trim());
      return itemState(this.item);
    }
    const { rest } = withoutInstruction(tokensOf(raw.replace(/^\s*You have clicked [^\n]*\n/, '')));
    const texts = rest.map(({ text }) => text);
    if (texts.some((text) => /^Thank you for shopping with us/.test(text)))
      return boughtState(this.opened, this.item?.options.filter(({ chosen }) => chosen) ?? []);
    const results = texts.findIndex((text) => pageLine.test(text));
    if (results !== -1) return this.results(texts, results);
    const priced = texts.findIndex((text) => /^Price: /i.test(text) || (price.test(text) && texts.includes('Buy Now')));
    if (priced > 0) {
      this.item = itemOf(rest, priced, this.opened, clicked, this.item);
      return itemState(this.item);
    }
    if (texts.at(-1)?.toLowerCase() === 'search' && rest.length <= 3) return FIRST_PAGE;
    if (subPages.includes(clicked.toLowerCase()) || texts.some((text) => text.toLowerCase() === '< prev'))
      return subPageState(clicked.toLowerCase() || 'text', this.opened, texts);
    return raw.replace(/\s+/g, ' ').trim();
  }

  private results(texts: readonly string[], at: number): string {
    const [, page, total] = pageLine.exec(texts[at])!;
    const products: string[][] = [];
    for (const text of texts.slice(at + 1)) {
      if (asin.test(text)) products.push([text]);
      else products.at(-1)?.push(plain(text));
    }
    const buttons = texts.filter((text) => /^(back to search|< prev|next >)$/i.test(text));
    return [
      `[page] results: page ${page}, ${total} found for ${plain(this.keywords)}`,
      ...buttons.map((label) => button(label, 'results')),
      ...products.map(([id, ...rest]) => `[${id}] product${rest.length > 0 ? `: ${rest.join(', ')}` : ''}`),
    ].join('\n');
  }
}

function itemOf(tokens: readonly Token[], priced: number, id: string, clicked: string, before: Item | null): Item {
  const begin = tokens.findLastIndex(({ text }, i) => i < priced && /^(< prev|back to search)$/i.test(text));
  const { title, rest } = withoutTitle(tokens.slice(begin + 1, priced));
  const options: Option[] = [];
  let name = '';
  for (const { text, line, isButton, chosen } of rest) {
    const isName = line === -1 ? name === '' || isOptionName(text) : !isButton;
    if (isName) name = text;
    else options.push({ name, value: text, chosen });
  }
  const item: Item = {
    asin: id,
    title,
    price: tokens[priced].text.replace(/^Price: ?/i, ''),
    options,
    buttons: tokens.map(({ text }) => text).filter((text) => fixed.has(text.toLowerCase())),
  };
  // The `[SEP]` text does not mark what was chosen.
  if (before?.asin === id && !options.some(({ chosen }) => chosen)) {
    for (const option of before.options) if (option.chosen) choose(item, option.value);
    if (clicked !== '') choose(item, clicked);
  }
  return item;
}

/** The title stands right above the price. Some demonstrations lack it; some titles end in a bracket. */
function withoutTitle(tokens: readonly Token[]): { title: string; rest: readonly Token[] } {
  const last = tokens.at(-1);
  if (!last) return { title: '', rest: [] };
  if (!last.isButton) return { title: last.text, rest: tokens.slice(0, -1) };
  const line = tokens.filter((token) => token.line === last.line);
  if (line.length !== 2 || line[0].isButton) return { title: '', rest: tokens };
  return { title: `${line[0].text} [${last.text}]`, rest: tokens.slice(0, -2) };
}

/** One value a name: the last choice counts. */
function choose(item: Item, value: string): void {
  const found = item.options.find((option) => option.value.toLowerCase() === value.toLowerCase());
  if (!found) return;
  for (const option of item.options) if (option.name === found.name) option.chosen = option === found;
}

function itemState({ asin: id, title, price: cost, options, buttons }: Item): string {
  const [before, after] = [
    buttons.filter((b) => /^(back to search|< prev)$/i.test(b)),
    buttons.filter((b) => !/^(back to search|< prev|search)$/i.test(b)),
  ];
  return [
    `[page] item: ${id}`,
    ...before.map((label) => button(label, 'results')),
    ...(title === '' ? [] : [`[title] text: ${plain(title)}`]),
    ...(cost === '' ? [] : [`[price] text: ${plain(cost)}`]),
    ...options.map(({ name, value, chosen }) => `[${plain(value)}] option: ${plain(name)}${chosen ? ', chosen' : ''}`),
    ...after.map((label) => button(label, 'results')),
  ].join('\n');
}

function subPageState(kind: string, id: string, texts: readonly string[]): string {
  const buttons = texts.filter((text) => /^(back to search|< prev)$/i.test(text));
  const prose = texts.filter((text) => !fixed.has(text.toLowerCase()));
  return [
    `[page] ${kind}: ${id}`,
    ...buttons.map((label) => button(label, 'item')),
    ...prose.map((text, i) => `[${i + 1}] text: ${plain(text)}`),
  ].join('\n');
}

const boughtState = (id: string, options: readonly { name: string; value: string }[]): string =>
  `[page] done: bought ${[id, ...options.map(({ name, value }) => `${plain(name)} ${plain(value)}`)].join(', ')}`;

/** A page of a session log: it names items and choices, but shows neither titles nor prices. */
export function shopPageState(visit: {
  page: string;
  asin: string;
  number: number;
  keywords: readonly string[];
  results: readonly string[];
  options: Readonly<Record<string, string>>;
  subPage: string;
}): string {
  const { page, asin: id, number, keywords, results, subPage } = visit;
  const options = Object.entries(visit.options).map(([name, value]) => ({ name, value, chosen: true }));
  const buttons = ['Back to Search', '< Prev'];
  switch (page) {
    case 'index':
      return FIRST_PAGE;
    case 'search_results':
      return [
        `[page] results: page ${number} for ${plain(keywords.join(' '))}`,
        button('Back to Search', 'results'),
        ...(number > 1 ? [button('< Prev', 'results')] : []),
        button('Next >', 'results'),
        ...results.map((result) => `[${result}] product`),
      ].join('\n');
    case 'item_page':
      return itemState({
        asin: id,
        title: '',
        price: '',
        options,
        buttons: [...buttons, 'Description', 'Features', 'Reviews', 'Buy Now'],
      });
    case 'item_sub_page':
      return subPageState(subPage.toLowerCase(), id, buttons);
    default:
      return boughtState(id, options);
  }
}

const isShopAction = (action: string) => /^(search|click)\s*\[.+\]$/s.test(action.trim());

export const shopStates: AbstractStates = {
  recognises: (first, actions) =>
    actions.length > 0 && actions.every(isShopAction) && /Instruction:|WebShop|Amazon Shopping Game/i.test(first),
  split(first) {
    const { instruction } = withoutInstruction(tokensOf(first));
    return { instruction: instruction?.trim(), observation: first };
  },
  begin: () => new ShopEpisode(),
  action: (raw) => raw.trim().replace(/^(search|click)\s+\[/, '$1['),
  family: () => 'buy_item',
  // One catalogue: what one shopper saw is what the next one sees.
  room: () => 'catalogue',
  unchanged: UNCHANGED,
};
