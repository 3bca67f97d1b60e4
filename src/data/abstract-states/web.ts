/**
 * @file An accessibility tree as a compact list: `page Search Results | 12 link My Account | 31 textbox Search required`.
 *
 * WebArena's dialect (`[1234] link 'My Account'`) and BrowserGym's (`[a51] button 'Go'`). Depth and words that repeat
 * their parent are left out, because a model that imagines pages must spend its tokens on what can be acted on.
 */
import { type AbstractStates, stateless } from './states';

const node = /^\s*\[([a-z]*\d+)\] (\w+)(?: (?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"))?(.*)$/;
const silent = new Set(['RootWebArea', 'StaticText', 'generic', 'img', 'image', 'InlineTextBox']);
const longestName = 80;
const mostNodes = 120;

export function webState(raw: string): string {
  const parts: string[] = [];
  let title = '';
  let more = 0;
  let lastName = '';
  for (const line of raw.split('\n')) {
    const found = node.exec(line);
    if (!found) {
      const tab = /^Tab \d+ \(current\): ([^|]*)/.exec(line);
      if (tab) title = tab[1].trim();
      else if (!/^\s*(URL:|Tab \d+|OBSERVATION:|$)/.test(line)) title ||= line.trim().slice(0, longestName);
      continue;
    }
    const [, id, role, single, double, rest] = found;
    const name = (single ?? double ?? '').replace(/\s+/g, ' ').trim();
    if (role === 'RootWebArea') title = name || title;
    const isText = silent.has(role);
    // A text below a link or a button says what the link already said.
    if (isText && (role !== 'StaticText' || name === '' || lastName.includes(name))) continue;
    lastName = name;
    if (parts.length >= mostNodes) {
      more++;
      continue;
    }
    const shown = name.length > longestName ? `${name.slice(0, longestName - 1)}…` : name;
    const properties = rest
      .replace(/\b(focused|hasPopup|url|describedby|autocomplete): \S+/g, '')
      .replace(/\s+/g, ' ')
      .trim();
    parts.push([isText ? 'text' : `${id} ${role}`, shown, properties].filter(Boolean).join(' '));
  }
  if (parts.length === 0) return raw.replace(/\s+/g, ' ').trim();
  return [`page ${title}`, ...parts, ...(more > 0 ? [`${more} more`] : [])].join(' | ');
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
  room(first) {
    return /^page ([^|]*)/.exec(first)?.[1].trim() ?? 'web';
  },
  unchanged: null,
};
