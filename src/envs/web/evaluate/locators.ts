/**
 * @file What a task's locator points at, without running any script.
 *
 * Two forms are read: a plain CSS selector (the text of its first match), and the chain that nearly all WebArena
 * locators are, `document.querySelector('..').outerText` with the usual members. Anything else is `unsupported`: it
 * needs a live page and a script engine.
 */
import { fieldValue, isChecked, optionValue } from '../accessibility';
import { textOf, type VElement } from '../nodes';
import { elementChildren, parseSelector, queryAll } from './selectors';

export type Located = { readonly text: string } | 'unsupported';

type Value = VElement | readonly VElement[] | string | number | boolean | null;

const NO_FIELDS = new Map<number, string>();
const CALL = /^\??\.(querySelector|querySelectorAll|getAttribute)\(\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*\)/;
const MEMBER =
  /^\??\.(outerText|innerText|textContent|value|checked|selectedIndex|lastElementChild|firstElementChild|lastChild|firstChild|length|toString\(\)|trim\(\))(?!\w)/;

const isList = (value: Value): value is readonly VElement[] => Array.isArray(value);

/** Text of what `locator` finds in `body`; empty when nothing is found (as upstream, where the script throws). */
export function locate(body: VElement, locator: string): Located {
  const text = locator.trim();
  const page: VElement = { tag: 'html', attributes: {}, children: [body] };
  if (!text.startsWith('document.')) {
    if (/[();]|=>/.test(text.replace(/nth-child\(\d+\)|"[^"]*"|'[^']*'/g, ''))) return 'unsupported';
    const selector = parseSelector(text);
    if (selector === null) return 'unsupported';
    const [first] = queryAll(page, selector);
    return { text: first === undefined ? '' : shownText(first) };
  }
  let value: Value = page;
  let rest = text.slice('document'.length);
  let missing = false;
  while (rest !== '') {
    const part = CALL.exec(rest) ?? MEMBER.exec(rest) ?? /^\[(\d+)\]/.exec(rest);
    if (part === null) return 'unsupported';
    rest = rest.slice(part[0].length);
    const argument = part[2] ?? part[3];
    const selector = part[1].startsWith('query') ? parseSelector(argument ?? '') : null;
    if (part[1].startsWith('query') && selector === null) return 'unsupported';
    // Reading a member of nothing throws in a browser, and upstream then takes the empty text.
    if (missing || value === null) {
      missing = true;
      continue;
    }
    if (selector !== null) {
      if (typeof value !== 'object' || isList(value)) return 'unsupported';
      const found: VElement[] = queryAll(value, selector);
      value = part[1] === 'querySelector' ? (found[0] ?? null) : found;
    } else if (/^\d+$/.test(part[1])) {
      if (!isList(value)) return 'unsupported';
      value = value[Number(part[1])] ?? null;
    } else {
      const next = member(value, part[1], argument);
      if (next === undefined) return 'unsupported';
      value = next;
    }
  }
  if (missing || value === null) return { text: '' };
  if (typeof value === 'object') return 'unsupported';
  return { text: String(value) };
}

/** A field's value where there is one, else the visible text: what a person would read off. */
const shownText = (element: VElement): string =>
  'input select textarea'.split(' ').includes(element.tag) ? fieldText(element) : textOf(element);

const fieldText = (element: VElement): string =>
  element.attributes.type === 'checkbox' || element.attributes.type === 'radio'
    ? String(isChecked(element, 0, NO_FIELDS))
    : fieldValue(element, 0, NO_FIELDS);

function member(value: Exclude<Value, null>, name: string, argument: string | undefined): Value | undefined {
  if (name === 'toString()') return typeof value === 'object' ? undefined : String(value);
  if (name === 'trim()') return typeof value === 'string' ? value.trim() : undefined;
  if (isList(value) || typeof value === 'string') return name === 'length' ? value.length : undefined;
  if (typeof value !== 'object') return undefined;
  switch (name) {
    case 'outerText':
    case 'innerText':
    case 'textContent':
      return textOf(value);
    case 'value':
      return fieldValue(value, 0, NO_FIELDS);
    case 'checked':
      return isChecked(value, 0, NO_FIELDS);
    case 'getAttribute':
      return value.attributes[argument ?? ''] ?? null;
    case 'selectedIndex': {
      const chosen = fieldValue(value, 0, NO_FIELDS);
      return elementChildren(value).findIndex((option) => optionValue(option) === chosen);
    }
    case 'lastElementChild':
      return elementChildren(value).at(-1) ?? null;
    case 'firstElementChild':
      return elementChildren(value)[0] ?? null;
    case 'lastChild':
    case 'firstChild': {
      const child = name === 'lastChild' ? value.children.at(-1) : value.children[0];
      // A text node's own text is all that the locators read of it.
      return child === undefined
        ? null
        : typeof child === 'string'
          ? { tag: 'span', attributes: {}, children: [child] }
          : child;
    }
    default:
      return undefined;
  }
}
