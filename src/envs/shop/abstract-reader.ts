/**
 * @file Reads the abstract text of a page back (abstract.ts): for the checks that hold a dream to its own words, and for
 * what a page offers when there is no shop behind it.
 */
export interface Element {
  name: string;
  type: 'input' | 'button' | 'product' | 'text' | 'option';
  /** What stands after the colon; may be empty. */
  text: string;
}

export interface AbstractPage {
  /** `search`, `results`, `item`, `description`, `features`, `reviews`, `attributes`, `done` or `unchanged`. */
  page: string;
  detail: string;
  elements: readonly Element[];
}

const PAGE_LINE = /^\[page\] (search|results|item|description|features|reviews|attributes|done|unchanged)(?:: (.+))?$/;
const ELEMENT_LINE = /^\[([^[\]]+)\] (input|button|product|text|option)(?:: (.*))?$/;
const MAX_LINES = 400;

/** null for text that is not a page: every line must be an element, the first one says which page. */
export function readPage(text: string): AbstractPage | null {
  const lines = text.split('\n');
  const head = PAGE_LINE.exec(lines[0]);
  if (head === null || lines.length > MAX_LINES) return null;
  const elements: Element[] = [];
  for (const line of lines.slice(1)) {
    const found = ELEMENT_LINE.exec(line);
    if (found === null) return null;
    elements.push({ name: found[1], type: found[2] as Element['type'], text: found[3] ?? '' });
  }
  return { page: head[1], detail: head[2] ?? '', elements };
}

/** ASIN of an item or sub page, or of what was bought. */
export function asinOf({ page, detail }: AbstractPage): string | null {
  if (page === 'done') return /^bought ([^,]+)/.exec(detail)?.[1] ?? null;
  return ['search', 'results', 'unchanged'].includes(page) ? null : detail;
}

export const textOf = ({ elements }: AbstractPage, name: string): string | null =>
  elements.find((element) => element.type === 'text' && element.name === name)?.text ?? null;

/** Values chosen on an item page. */
export const chosenValues = ({ elements }: AbstractPage): string[] =>
  elements.filter(({ type, text }) => type === 'option' && text.endsWith(', chosen')).map(({ name }) => name);

/** What the page offers to `click[...]`, lower case, with the element it belongs to; the last of equal names counts. */
export function offers({ elements }: AbstractPage): Map<string, Element> {
  const clickable = elements.filter(({ type }) => type === 'option' || type === 'product');
  const buttons = elements.filter(({ type }) => type === 'button');
  return new Map([...clickable, ...buttons].map((element) => [element.name.toLowerCase(), element]));
}

/** Lowest price of a tag in dollars, null for anything else. */
export function lowestPrice(tag: string | null): number | null {
  const found = tag === null ? null : /\$(\d+(?:\.\d+)?)/.exec(tag.replaceAll(',', ''));
  return found === null ? null : Number(found[1]);
}
