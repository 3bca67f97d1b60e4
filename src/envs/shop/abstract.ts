/**
 * @file The abstract text of a page: one `[element] type: description` line an element, DreamGym's state space for shops.
 *
 * The words in brackets are what `click[...]` takes. The instruction is part of the task and is not repeated; the score
 * of a purchase is the reward's business and is not shown.
 */

import { subPageTexts } from './pages';
import { priceTag } from './product';
import { buttonsOf, type Scene } from './session';

/** The first observation of every task. */
export const FIRST_PAGE = '[page] search\n[search bar] input: type search[keywords]';
/** The answer to anything that changes nothing. */
export const UNCHANGED = '[page] unchanged: invalid action';
/** The answer to a `think[...]` in ReAct's dialect. */
export const THOUGHT = '[page] unchanged: thought noted';

/** Text of a product is foreign: one line, and no bracket that could pass for an element. */
export const plain = (text: string): string => text.replace(/\s+/g, ' ').replace(/\[/g, '(').replace(/\]/g, ')').trim();

const HINTS: Readonly<Record<string, string>> = {
  'Back to Search': 'new search',
  'Next >': 'more results',
  'Buy Now': 'buy this item',
  Description: 'text',
  Features: 'list',
  Reviews: 'list',
  Attributes: 'list',
};

export function abstractPage(scene: Scene, showAttributes: boolean): string {
  const { state, hits, shown, product } = scene;
  const button = (label: string): string => {
    const hint = label === '< Prev' ? (state.page === 'sub' ? 'item' : 'results') : HINTS[label];
    return `[${label.toLowerCase()}] button: ${hint}`;
  };
  const buttons = buttonsOf(scene, showAttributes);
  switch (state.page) {
    case 'index':
      return FIRST_PAGE;
    case 'results':
      return [
        `[page] results: page ${state.pageNumber}, ${hits.length} found for ${plain(state.keywords)}`,
        ...buttons.map(button),
        ...shown.map((hit) => `[${hit.asin}] product: ${plain(hit.name)}, ${priceTag(hit)}`),
      ].join('\n');
    case 'item': {
      if (product === null) return UNCHANGED;
      const chosen = new Map(state.options);
      return [
        `[page] item: ${product.asin}`,
        ...buttons.slice(0, 2).map(button),
        `[title] text: ${plain(product.name)}`,
        `[price] text: ${priceTag(product)}`,
        ...product.options.flatMap(({ name, values }) =>
          values.map(
            (value) => `[${plain(value)}] option: ${plain(name)}${chosen.get(name) === value ? ', chosen' : ''}`,
          ),
        ),
        ...buttons.slice(2).map(button),
      ].join('\n');
    }
    case 'sub':
      return [
        `[page] ${state.subPage?.toLowerCase()}: ${state.asin}`,
        ...buttons.map(button),
        ...subPageTexts(scene).map((line, i) => `[${i + 1}] text: ${plain(line)}`),
      ].join('\n');
    case 'done': {
      // In the page's order, not that of the clicks: what the item page shows is enough to know this line.
      const chosen = new Map(state.options);
      const bought = product?.options.flatMap(({ name }) => {
        const value = chosen.get(name);
        return value === undefined ? [] : [`${plain(name)} ${plain(value)}`];
      });
      return `[page] done: bought ${[state.asin, ...(bought ?? [])].join(', ')}`;
    }
  }
}
