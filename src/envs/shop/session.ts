/**
 * @file Where the shopper stands, and where an action leads: WebShop's transitions (web_agent_text_env.py) as one pure
 * function from state to state.
 *
 * States are immutable and share their parts, so a snapshot is a reference.
 */
import type { Catalogue } from './catalogue';
import type { Product } from './product';

export type SubPage = 'Description' | 'Features' | 'Reviews' | 'Attributes';

export interface ShopState {
  readonly page: 'index' | 'results' | 'item' | 'sub' | 'done';
  /** The query as typed, lower case; empty before the first search. */
  readonly keywords: string;
  /** Page of the results, from 1. Next is not bounded: beyond the last page stands nothing. */
  readonly pageNumber: number;
  readonly asin: string;
  /** Chosen options, in the order of the first choice; the last choice of a name wins. */
  readonly options: readonly (readonly [name: string, value: string])[];
  readonly subPage: SubPage | null;
  /** ASINs opened since the last visit of the search page. */
  readonly visited: readonly string[];
  /** Sub pages read since the item was opened: what the shopper can know about it. */
  readonly read: readonly SubPage[];
}

export const START: ShopState = {
  page: 'index',
  keywords: '',
  pageNumber: 1,
  asin: '',
  options: [],
  subPage: null,
  visited: [],
  read: [],
};

export const PRODUCTS_PER_PAGE = 10;
/** Longer actions are no actions: nobody types a query of this length. */
const MAX_ACTION_CHARACTERS = 4096;

export type ShopAction = { kind: 'search' | 'click'; argument: string };

/**
 * `search[...]` or `click[...]`; null for anything else. Reads as Python's `(.+)\[(.+)\]` does: greedily, from the very
 * start, on the first line only; what follows the last bracket is ignored; the argument is made lower case.
 */
export function parseAction(action: string): ShopAction | null {
  if (action.length > MAX_ACTION_CHARACTERS) return null;
  const newline = action.indexOf('\n');
  const line = newline < 0 ? action : action.slice(0, newline);
  const close = line.lastIndexOf(']');
  const open = close < 2 ? -1 : line.lastIndexOf('[', close - 2);
  if (open < 1) return null;
  const kind = line.slice(0, open);
  if (kind !== 'search' && kind !== 'click') return null;
  return { kind, argument: line.slice(open + 1, close).toLowerCase() };
}

/** What the state shows of the catalogue. Looked up once per page. */
export interface Scene {
  readonly state: ShopState;
  /** All hits of the query (results page only). */
  readonly hits: readonly Product[];
  /** The hits on this page. */
  readonly shown: readonly Product[];
  /** The product of an item or sub page, or the one bought. */
  readonly product: Product | null;
}

export function sceneOf(catalogue: Catalogue, state: ShopState, seed: string): Scene {
  const hits = state.page === 'results' ? catalogue.search(state.keywords, seed) : [];
  const start = (state.pageNumber - 1) * PRODUCTS_PER_PAGE;
  const product = state.asin === '' ? null : (catalogue.get(state.asin) ?? null);
  return { state, hits, shown: hits.slice(start, start + PRODUCTS_PER_PAGE), product };
}

const SUB_PAGES: readonly SubPage[] = ['Description', 'Features', 'Reviews'];

/** Buttons of a page as they are labelled, in the order in which the page shows them. */
export function buttonsOf(scene: Scene, showAttributes: boolean): string[] {
  const { page, pageNumber } = scene.state;
  switch (page) {
    case 'index':
      return ['Search'];
    case 'results':
      return ['Back to Search', ...(pageNumber > 1 ? ['< Prev'] : []), 'Next >'];
    case 'item':
      return ['Back to Search', '< Prev', ...SUB_PAGES, ...(showAttributes ? ['Attributes'] : []), 'Buy Now'];
    case 'sub':
      return ['Back to Search', '< Prev'];
    case 'done':
      return [];
  }
}

/** Everything `click[...]` accepts, as labelled. The search button is shown but cannot be clicked. */
export function clickables(scene: Scene, showAttributes: boolean): string[] {
  const buttons = buttonsOf(scene, showAttributes).filter((label) => label !== 'Search');
  switch (scene.state.page) {
    case 'results':
      return [...buttons, ...scene.shown.map(({ asin }) => asin)];
    case 'item':
      return [...buttons, ...(scene.product?.options.flatMap(({ values }) => values) ?? [])];
    default:
      return buttons;
  }
}

/** The state after an action; null when the page does not offer it. Where a button and a value agree, the button. */
export function transition(scene: Scene, action: ShopAction, showAttributes: boolean): ShopState | null {
  const { state } = scene;
  if (state.page === 'done') return null;
  if (action.kind === 'search') return { ...resultsOf(state, 1), keywords: action.argument };
  const label = buttonsOf(scene, showAttributes).find((button) => button.toLowerCase() === action.argument);
  if (label !== undefined) return press(state, label);
  if (state.page === 'results') {
    const product = scene.shown.find(({ asin }) => asin.toLowerCase() === action.argument);
    return product === undefined ? null : openItem(state, product.asin);
  }
  if (state.page === 'item') {
    // Two options may share a value: the page's last one gets the click.
    const option = scene.product?.options.findLast(({ values }) => values.includes(action.argument));
    return option === undefined ? null : choose(state, option.name, action.argument);
  }
  return null;
}

function press(state: ShopState, label: string): ShopState | null {
  switch (label) {
    case 'Back to Search':
      return START;
    case 'Next >':
      return resultsOf(state, state.pageNumber + 1);
    case '< Prev':
      if (state.page === 'sub') return { ...state, page: 'item', subPage: null };
      return resultsOf(state, state.page === 'item' ? state.pageNumber : state.pageNumber - 1);
    case 'Buy Now':
      return { ...state, page: 'done' };
    case 'Description':
    case 'Features':
    case 'Reviews':
    case 'Attributes':
      return { ...state, page: 'sub', subPage: label, read: [...state.read.filter((page) => page !== label), label] };
    default:
      return null;
  }
}

/** A results page forgets the product and its options. */
const resultsOf = (state: ShopState, pageNumber: number): ShopState => ({
  ...state,
  page: 'results',
  pageNumber,
  asin: '',
  options: [],
  subPage: null,
  read: [],
});

const openItem = (state: ShopState, asin: string): ShopState => ({
  ...state,
  page: 'item',
  asin,
  visited: state.visited.includes(asin) ? state.visited : [...state.visited, asin],
});

function choose(state: ShopState, name: string, value: string): ShopState {
  const known = state.options.some(([other]) => other === name);
  const options = known
    ? state.options.map((pair) => (pair[0] === name ? ([name, value] as const) : pair))
    : [...state.options, [name, value] as const];
  return { ...state, options };
}
