/**
 * @file CSS selectors over page trees: tags, #id, .class, [attribute] with its operators, :first-child, :last-child,
 * :nth-child(n), descendant and child combinators, lists. Like a browser, it closes a `[` that the text leaves open
 * (many WebArena locators do).
 */
import type { VElement, VNode } from '../nodes';

interface Test {
  readonly kind: 'tag' | 'attribute' | 'child';
  readonly name: string;
  readonly operator: string;
  readonly value: string;
}
interface Compound {
  readonly tests: readonly Test[];
  /** How it relates to the compound before it. */
  readonly combinator: ' ' | '>';
}
export type Selector = readonly (readonly Compound[])[];

const PART =
  /^(?:([a-zA-Z][\w-]*|\*)|#([\w-]+)|\.([\w-]+)|\[\s*([\w-]+)\s*(?:([~^$*|]?=)\s*(?:"([^"]*)"|'([^']*)'|([^\]\s]*)))?\s*(?:\]|$)|:(first-child|last-child|nth-child\((\d+)\)))/;

/** null when the selector uses something outside the subset. */
export function parseSelector(text: string): Selector | null {
  const lists: Compound[][] = [];
  let compounds: Compound[] = [];
  let tests: Test[] = [];
  let combinator: ' ' | '>' = ' ';
  let rest = text.trim();
  const close = (): boolean => {
    if (tests.length === 0) return false;
    compounds.push({ tests, combinator });
    tests = [];
    return true;
  };
  while (rest !== '') {
    const between = /^\s*([>,])\s*|^\s+/.exec(rest);
    if (between !== null) {
      if (!close()) return null;
      combinator = between[1] === '>' ? '>' : ' ';
      if (between[1] === ',') {
        lists.push(compounds);
        compounds = [];
      }
      rest = rest.slice(between[0].length);
      continue;
    }
    const part = PART.exec(rest);
    if (part === null) return null;
    const [whole, tag, id, className, attribute, operator, double, single, bare, pseudo, nth] = part;
    if (tag !== undefined) tests.push({ kind: 'tag', name: tag.toLowerCase(), operator: '', value: '' });
    else if (id !== undefined) tests.push({ kind: 'attribute', name: 'id', operator: '=', value: id });
    else if (className !== undefined)
      tests.push({ kind: 'attribute', name: 'class', operator: '~=', value: className });
    else if (attribute !== undefined)
      tests.push({
        kind: 'attribute',
        name: attribute,
        operator: operator ?? '',
        value: double ?? single ?? bare ?? '',
      });
    else tests.push({ kind: 'child', name: pseudo, operator: '', value: nth ?? '' });
    rest = rest.slice(whole.length);
  }
  if (!close()) return null;
  lists.push(compounds);
  return lists;
}

interface Placed {
  readonly element: VElement;
  /** 0-based place among the element children of the parent, and how many there are. */
  readonly index: number;
  readonly count: number;
}

function passes(test: Test, { element, index, count }: Placed): boolean {
  if (test.kind === 'tag') return test.name === '*' || element.tag === test.name;
  if (test.kind === 'child') {
    if (test.name === 'first-child') return index === 0;
    return test.name === 'last-child' ? index === count - 1 : index === Number(test.value) - 1;
  }
  const value = element.attributes[test.name];
  if (value === undefined) return false;
  switch (test.operator) {
    case '':
      return true;
    case '=':
      return value === test.value;
    case '~=':
      return value.split(/\s+/).includes(test.value);
    case '^=':
      return test.value !== '' && value.startsWith(test.value);
    case '$=':
      return test.value !== '' && value.endsWith(test.value);
    case '*=':
      return test.value !== '' && value.includes(test.value);
    default:
      return value === test.value || value.startsWith(`${test.value}-`);
  }
}

function matches(compounds: readonly Compound[], path: readonly Placed[], at: number, last: number): boolean {
  const compound = compounds[last];
  if (at < 0 || !compound.tests.every((test) => passes(test, path[at]))) return false;
  if (last === 0) return true;
  if (compound.combinator === '>') return matches(compounds, path, at - 1, last - 1);
  for (let above = at - 1; above >= 0; above--) if (matches(compounds, path, above, last - 1)) return true;
  return false;
}

/** Elements below `root` that match, in document order, without repeats. `root` itself never matches. */
export function queryAll(root: VElement, selector: Selector): VElement[] {
  const found: VElement[] = [];
  const path: Placed[] = [];
  const visit = (parent: VElement): void => {
    const elements = elementChildren(parent);
    elements.forEach((element, index) => {
      path.push({ element, index, count: elements.length });
      if (selector.some((compounds) => matches(compounds, path, path.length - 1, compounds.length - 1)))
        found.push(element);
      visit(element);
      path.pop();
    });
  };
  visit(root);
  return found;
}

export const elementChildren = (element: VElement): VElement[] =>
  element.children.filter((child: VNode): child is VElement => typeof child !== 'string');
