/**
 * @file The abstract observation: what a small model needs of a page, one `[id] role: words` line each, bounded in length.
 *
 * Kept: everything the agent can act on, and the words of headings, table rows, lists and facts. Left out: decoration,
 * texts that a kept line already says, options that are not chosen (a menu shows its choices on its own line).
 * A page longer than the window is read by scrolling.
 */
import type { AxNode } from './accessibility';
import type { View } from './browser';
import { inlineText, type VElement } from './nodes';

/** Lines of a page in one observation, and characters of a line. */
export const WINDOW_LINES = 40;
export const LINE_LENGTH = 160;

const WORDS: Record<string, string> = {
  searchbox: 'search box',
  textbox: 'text box',
  spinbutton: 'number box',
  combobox: 'menu',
  StaticText: 'text',
  heading: 'heading',
};
const FIELDS = new Set(['searchbox', 'textbox', 'spinbutton']);

const shorten = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

function menuWords(node: AxNode, all: readonly AxNode[], at: number): string {
  const options: string[] = [];
  let chosen = '';
  for (let next = at + 1; next < all.length && all[next].depth > node.depth; next++) {
    if (all[next].role !== 'menuitem') continue;
    options.push(all[next].name);
    if (all[next].properties.includes('selected: True')) chosen = all[next].name;
  }
  return `${node.name} = ${chosen} (of ${options.join(', ')})`;
}

function fieldWords(node: AxNode, all: readonly AxNode[], at: number): string {
  const below = all[at + 1];
  const value = below !== undefined && below.depth > node.depth && below.role === 'StaticText' ? below.name : '';
  const lacking = node.properties.includes('required: True') ? 'empty, must be filled in' : 'empty';
  return `${node.name} = ${value === '' ? lacking : value}`;
}

/** All lines of a page, before the window is cut out. */
export function pageLines(nodes: readonly AxNode[]): string[] {
  const lines: string[] = [];
  let said = '';
  let term = '';
  let row = { words: '', depth: Number.POSITIVE_INFINITY };
  for (let at = 1; at < nodes.length; at++) {
    const node = nodes[at];
    if (node.depth <= row.depth) row = { words: '', depth: Number.POSITIVE_INFINITY };
    const line = (words: string): void => {
      lines.push(`[${node.id}] ${WORDS[node.role] ?? node.role}: ${shorten(words, LINE_LENGTH)}`);
      said = words;
    };
    if (node.role === 'combobox') line(menuWords(node, nodes, at));
    else if (FIELDS.has(node.role)) {
      line(fieldWords(node, nodes, at));
    } else if (node.role === 'checkbox' || node.role === 'radio')
      line(`${node.name}${node.properties.includes('checked: true') ? ' = on' : ' = off'}`);
    else if (node.role === 'link' || node.role === 'button' || node.role === 'heading') {
      // A row has already said what its links are called, but not that they can be clicked.
      line(node.name);
      term = '';
    } else if (node.role === 'row') {
      row = { words: rowWords(node.element), depth: node.depth };
      line(row.words);
    } else if (node.role === 'StaticText') {
      if (inTerm(nodes, at)) term = node.name;
      else if (![said, row.words].some((words) => words.includes(node.name)) && !isLabel(nodes, at)) {
        // `by`, `in`: left over between links.
        if (term === '' && /^[a-z]{1,2}$/.test(node.name)) continue;
        line(term === '' ? node.name : `${term}: ${node.name}`);
        term = '';
      }
    }
  }
  return lines;
}

const rowWords = (element: VElement | null): string =>
  element === null
    ? ''
    : element.children
        .map(inlineText)
        .filter((text) => text !== '')
        .join(' | ');

/** A label says what the field after it says again. */
const isLabel = (nodes: readonly AxNode[], at: number): boolean => {
  const next = nodes[at + 1];
  return next !== undefined && next.name === nodes[at].name && (FIELDS.has(next.role) || next.role === 'combobox');
};

const inTerm = (nodes: readonly AxNode[], at: number): boolean => {
  for (let above = at - 1; above > 0; above--)
    if (nodes[above].depth < nodes[at].depth) return nodes[above].role === 'term';
  return false;
};

/** How often a page can be scrolled down. */
export const lastWindow = (view: View): number =>
  Math.max(0, Math.ceil(pageLines(view.accessibility).length / WINDOW_LINES) - 1);

/** Title and address, then the window of lines the tab is scrolled to. */
export function abstractObservation(view: View, tabs: readonly string[], current: number): string {
  const lines = pageLines(view.accessibility);
  const windows = Math.max(1, Math.ceil(lines.length / WINDOW_LINES));
  const at = Math.min(view.tab.scroll, windows - 1);
  const head =
    tabs.length === 1
      ? view.page.title
      : tabs.map((title, index) => `${index === current ? '*' : ''}${index} ${title}`).join(' | ');
  const below = lines.length - (at + 1) * WINDOW_LINES;
  return [
    `page: ${shorten(head, LINE_LENGTH)} at ${shorten(view.url.replace(/^https?:\/\//, ''), LINE_LENGTH)}`,
    ...(at > 0 ? [`above: ${at * WINDOW_LINES} lines, scroll [up]`] : []),
    ...lines.slice(at * WINDOW_LINES, (at + 1) * WINDOW_LINES),
    ...(below > 0 ? [`below: ${below} lines, scroll [down]`] : []),
  ].join('\n');
}
