/**
 * @file Accessibility trees as text in the abstract form of the built-in web world (src/envs/web/abstract.ts): one
 * `[id] role: words` a line.
 *
 * Reads WebArena's dialect (`[1234] link 'My Account'`) and BrowserGym's (`[a51] button 'Go'`). Real browsers say more
 * roles than the built-in sites; what can be clicked is kept under the nearest one that they know.
 */
import { LINE_LENGTH, pageLines, WINDOW_LINES } from '../../envs/web/abstract';
import type { AxNode } from '../../envs/web/accessibility';
import { h, type VElement } from '../../envs/web/nodes';
import { type AbstractStates, stateless } from './states';

const node = /^(\s*)\[([a-z]*\d+)\] (\w+)(?: (?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"))?(.*)$/;
const property = /([\w-]+): (.*?)(?= [\w-]+: |$)/g;

/** Clickable in real browsers, under the name of what the built-in sites have. */
const nearest: Readonly<Record<string, string>> = {
  tab: 'button',
  switch: 'checkbox',
  option: 'menuitem',
  treeitem: 'link',
};

interface Page {
  title: string;
  url: string;
  nodes: AxNode[];
  /** The page's own ids, by place. */
  ids: string[];
}

function readPage(raw: string): Page {
  const page: Page = { title: '', url: '', nodes: [], ids: [] };
  for (const line of raw.split('\n')) {
    const found = node.exec(line);
    if (!found) {
      const tab = /^Tab \d+ \(current\): ([^|]*)/.exec(line);
      if (tab) page.title = tab[1].trim();
      page.url ||= /^\s*URL: (?:https?:\/\/)?(\S+)/.exec(line)?.[1] ?? '';
      continue;
    }
    const [, indent, id, role, single, double, rest] = found;
    const name = unquoted(single ?? double ?? '');
    if (role === 'RootWebArea') page.title ||= name;
    page.ids.push(id);
    page.nodes.push({
      id: page.nodes.length,
      role: nearest[role] ?? role,
      name,
      properties: [...rest.matchAll(property)].map(([, key, value]) => `${key}: ${value.trim()}`),
      depth: indent.length,
      element: null,
    });
  }
  return page;
}

const unquoted = (text: string) =>
  text
    .replace(/\\(['"\\])/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();

/** Rows say their cells, menu items outside a menu are links. */
function completed(nodes: readonly AxNode[]): AxNode[] {
  let menuDepth = Number.POSITIVE_INFINITY;
  return nodes.map((current, at) => {
    if (current.depth <= menuDepth) menuDepth = Number.POSITIVE_INFINITY;
    if (current.role === 'combobox') menuDepth = current.depth;
    if (current.role === 'menuitem' && menuDepth === Number.POSITIVE_INFINITY) return { ...current, role: 'link' };
    return current.role === 'row' ? { ...current, element: rowOf(nodes, at) } : current;
  });
}

function rowOf(nodes: readonly AxNode[], at: number): VElement {
  const cells: string[] = [];
  for (let next = at + 1; next < nodes.length && nodes[next].depth > nodes[at].depth; next++)
    if (/cell$|header$/i.test(nodes[next].role) && nodes[next].name !== '') cells.push(nodes[next].name);
  return h(
    'tr',
    null,
    ...(cells.length > 0 ? cells.map((cell) => h('td', null, cell)) : [h('td', null, nodes[at].name)]),
  );
}

export function webState(raw: string): string {
  const { title, url, nodes, ids } = readPage(raw);
  if (nodes.length === 0) return raw.replace(/\s+/g, ' ').trim();
  // The first node is the page itself, as in the built-in tree.
  const root: AxNode[] = nodes[0].role === 'RootWebArea' ? [] : [{ ...nodes[0], role: 'RootWebArea', depth: -1 }];
  const lines = pageLines([...root, ...completed(nodes)]).map((line) =>
    line.replace(/^\[(\d+)\]/, (_, place: string) => `[${ids[Number(place)]}]`),
  );
  const below = lines.length - WINDOW_LINES;
  return [
    `page: ${title.slice(0, LINE_LENGTH)}${url === '' ? '' : ` at ${url.slice(0, LINE_LENGTH)}`}`,
    ...lines.slice(0, WINDOW_LINES),
    ...(below > 0 ? [`below: ${below} lines, scroll [down]`] : []),
  ].join('\n');
}

const webAction = /^(click|hover|type|press|scroll|goto|new_tab|tab_focus|close_tab|go_back|go_forward|stop)\b ?(\[|$)/;

export const webStates: AbstractStates = {
  recognises: (first, actions) =>
    /\[\d+\] RootWebArea|Tab 0 \(current\)|^OBSERVATION:/m.test(first) ||
    (actions.length > 0 && actions.every((action) => webAction.test(action.trim()))),
  split(first) {
    // WebArena's prompt: OBSERVATION, URL, OBJECTIVE, PREVIOUS ACTION.
    const objective = /^OBJECTIVE: (.*)$/m.exec(first)?.[1];
    return {
      instruction: objective?.trim(),
      observation: first.replace(/^(OBJECTIVE|PREVIOUS ACTION): .*$/gm, '').trim(),
    };
  },
  begin: () => stateless(webState),
  action: (raw) => raw.trim(),
  family: () => 'web',
  room: (first) => /^page: .* at ([^/\s]+)/.exec(first)?.[1] ?? 'unknown site',
  unchanged: null,
};
