/**
 * @file Three ways in which published agents write an action, read into one form.
 *
 * `webarena`: `click [12]`, `type [12] [text] [1]`, bare or between triple backticks (browser_env/actions.py).
 * `browsergym`: `click('12')`, `fill('12', 'text')`, `send_msg_to_user('...')` (browsergym/core/action/functions.py).
 * `webrl`: `do(action="Click", element="12")`, `exit(message="...")` (VAB-WebArena-Lite, p_webrl_chat.json).
 */
import type { Action, Parsed } from './actions';

export type ActionDialect = 'webarena' | 'browsergym' | 'webrl' | 'auto';

const none = (reason: string): Parsed => ({ kind: 'none', reason });

export function parseAction(text: string, dialect: ActionDialect = 'auto'): Parsed {
  const words = unfenced(text);
  if (words === '') return none('the action is empty');
  if (dialect === 'webarena') return parseWebArena(words);
  if (dialect === 'webrl') return parseWebRl(words);
  if (dialect === 'browsergym') return parseBrowserGym(words);
  // A call `name(...)` is never a WebArena action; do/exit/go_backward tell WebRL from BrowserGym.
  const line = words
    .split('\n')
    .map((part) => part.trim())
    .find((part) => part !== '' && !part.startsWith('#'));
  if (line === undefined || !/^[a-z_]+\s*\(/.test(line)) return parseWebArena(words);
  return /^(?:do|exit|go_backward)\s*\(/.test(line) ? parseWebRl(words) : parseBrowserGym(words);
}

/** What stands between the first pair of triple backticks, if there is one. */
function unfenced(text: string): string {
  const match = /```([\s\S]*?)```/.exec(text);
  return (match === null ? text : match[1]).trim();
}

function parseWebArena(text: string): Parsed {
  const bracket = text.indexOf('[');
  const verb = (bracket >= 0 ? text.slice(0, bracket) : text.split(/\s+/)[0]).trim();
  const argument = (pattern: RegExp): RegExpExecArray | null => pattern.exec(text);
  const id = (digits: string): number => Number(digits.slice(0, 9));
  switch (verb) {
    case 'click':
    case 'hover': {
      const match = argument(/^(?:click|hover) ?\[(\d+)\]/);
      return match === null ? none(`Invalid ${verb} action ${text}`) : { kind: verb, id: id(match[1]) };
    }
    case 'type': {
      const flagged = /\[[01]\]$/.test(text) ? text : `${text} [1]`;
      const match = /type ?\[(\d+)\] ?\[(.+)\] ?\[(\d+)\]/.exec(flagged);
      if (match === null) return none(`Invalid type action ${text}`);
      return { kind: 'type', id: id(match[1]), text: match[2], enter: match[3] === '1' };
    }
    case 'press': {
      const match = argument(/press ?\[(.+)\]/);
      return match === null ? none(`Invalid press action ${text}`) : { kind: 'press', keys: match[1] };
    }
    case 'scroll': {
      const match = argument(/scroll ?\[?(up|down)\]?/);
      if (match === null) return none(`Invalid scroll action ${text}`);
      return { kind: 'scroll', direction: match[1] === 'up' ? 'up' : 'down' };
    }
    case 'goto': {
      const match = argument(/goto ?\[(.+)\]/);
      return match === null ? none(`Invalid goto action ${text}`) : { kind: 'goto', url: match[1] };
    }
    case 'tab_focus': {
      const match = argument(/tab_focus ?\[(\d+)\]/);
      return match === null ? none(`Invalid tab_focus action ${text}`) : { kind: 'tab_focus', tab: id(match[1]) };
    }
    case 'new_tab':
    case 'close_tab':
    case 'go_back':
    case 'go_forward':
    case 'wait':
      return { kind: verb };
    case 'stop':
      return { kind: 'stop', answer: argument(/stop ?\[([\s\S]+)\]/)?.[1] ?? '' };
    default:
      return none(`Invalid action ${text}`);
  }
}

/** Arguments of a Python-like call: quoted strings, numbers, lists of strings, some of them named. */
interface Call {
  readonly name: string;
  readonly positional: readonly string[];
  readonly named: Readonly<Record<string, string>>;
}

const STRING = /^(?:"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\[\s\S])*)')/;
const ESCAPED: Record<string, string> = { n: '\n', t: '\t', r: '\r' };

function parseCall(text: string): Call | null {
  const head = /^([a-z_]+)\s*\(\s*/.exec(text);
  if (head === null) return null;
  const positional: string[] = [];
  const named: Record<string, string> = {};
  let rest = text.slice(head[0].length);
  while (!rest.startsWith(')')) {
    const key = /^([a-z_]+)\s*=\s*/.exec(rest);
    if (key !== null) rest = rest.slice(key[0].length);
    const list = /^\[\s*/.exec(rest);
    if (list !== null) rest = rest.slice(list[0].length);
    const string = STRING.exec(rest);
    const bare = string === null ? /^[-\w.]+/.exec(rest) : null;
    const found = string ?? bare;
    if (found === null) return null;
    const value =
      string === null
        ? found[0]
        : (string[1] ?? string[2]).replace(/\\([\s\S])/g, (_, character: string) => ESCAPED[character] ?? character);
    rest = rest.slice(found[0].length).trimStart();
    // Of a list only the first item is used: our fields hold one value.
    if (list !== null) {
      const end = /^(?:\s*,\s*(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|[-\w.]+))*\s*\]\s*/.exec(rest);
      if (end === null) return null;
      rest = rest.slice(end[0].length);
    }
    if (key === null) positional.push(value);
    else named[key[1]] = value;
    if (rest.startsWith(',')) rest = rest.slice(1).trimStart();
    else if (!rest.startsWith(')')) return null;
  }
  return { name: head[1], positional, named };
}

/** Element ids are digits, or digits behind a frame's letters in BrowserGym (`a51`). */
function elementId(text: string | undefined): number | null {
  const match = /^[a-zA-Z]*(\d{1,9})$/.exec((text ?? '').trim());
  return match === null ? null : Number(match[1]);
}

/** The first call of a text whose other lines may be comments. */
function firstCall(text: string): Call | null {
  for (const line of text.split(/\n(?=\s*(?:#|[a-z_]+\s*\())/)) {
    if (line.trim() === '' || line.trim().startsWith('#')) continue;
    return parseCall(line.trim());
  }
  return null;
}

function parseBrowserGym(text: string): Parsed {
  const call = firstCall(text);
  if (call === null) return none(`Invalid action ${text}`);
  const { name, positional, named } = call;
  const id = elementId(positional[0] ?? named.bid);
  const second = positional[1] ?? named.value ?? named.options ?? named.key_comb ?? named.text;
  const onElement = (make: (id: number) => Action): Parsed =>
    id === null ? none(`${name} needs the id of an element`) : make(id);
  switch (name) {
    case 'click':
    case 'dblclick':
    case 'check':
    case 'uncheck':
      return onElement((element) => ({ kind: 'click', id: element }));
    case 'hover':
    case 'focus':
      return onElement((element) => ({ kind: 'hover', id: element }));
    case 'fill':
    case 'clear':
      return onElement((element) => ({ kind: 'type', id: element, text: second ?? '', enter: false }));
    case 'select_option':
      return onElement((element) => ({ kind: 'select', id: element, option: second ?? '' }));
    case 'press':
    case 'keyboard_press':
      return { kind: 'press', keys: name === 'press' ? (second ?? '') : (positional[0] ?? named.key ?? '') };
    case 'scroll':
      return { kind: 'scroll', direction: Number(positional[1] ?? named.delta_y ?? 0) < 0 ? 'up' : 'down' };
    case 'goto':
      return { kind: 'goto', url: positional[0] ?? named.url ?? '' };
    case 'go_back':
    case 'go_forward':
    case 'new_tab':
      return { kind: name };
    case 'tab_close':
      return { kind: 'close_tab' };
    case 'tab_focus':
      return { kind: 'tab_focus', tab: Number(positional[0] ?? named.index ?? 0) || 0 };
    case 'send_msg_to_user':
      return { kind: 'stop', answer: positional[0] ?? named.text ?? '' };
    case 'report_infeasible':
      return { kind: 'stop', answer: 'N/A' };
    case 'noop':
      return { kind: 'wait' };
    default:
      return none(`Unknown action ${name}`);
  }
}

function parseWebRl(text: string): Parsed {
  const call = firstCall(text);
  if (call === null) return none(`Invalid action ${text}`);
  if (call.name === 'exit') return { kind: 'stop', answer: call.named.message ?? call.positional[0] ?? '' };
  if (call.name === 'go_backward') return { kind: 'go_back' };
  if (call.name === 'go_forward') return { kind: 'go_forward' };
  if (call.name !== 'do') return none(`Unknown action ${call.name}`);
  const verb = call.named.action ?? call.positional[0] ?? '';
  const argument = call.named.argument ?? '';
  const id = elementId(call.named.element);
  const onElement = (make: (id: number) => Action): Parsed =>
    id === null ? none(`${verb} needs element="<id>"`) : make(id);
  switch (verb) {
    case 'Click':
    case 'Right Click':
      return onElement((element) => ({ kind: 'click', id: element }));
    case 'Hover':
      return onElement((element) => ({ kind: 'hover', id: element }));
    case 'Type':
      return onElement((element) => ({ kind: 'type', id: element, text: argument, enter: false }));
    case 'Search':
      return onElement((element) => ({ kind: 'type', id: element, text: argument, enter: true }));
    case 'Select Dropdown Option':
      return onElement((element) => ({ kind: 'select', id: element, option: argument }));
    case 'Scroll Up':
      return { kind: 'scroll', direction: 'up' };
    case 'Scroll Down':
      return { kind: 'scroll', direction: 'down' };
    case 'Press Enter':
      return { kind: 'press', keys: 'Enter' };
    case 'Switch Tab':
      return { kind: 'tab_focus', tab: Number(argument) || 0 };
    case 'Go Backward':
      return { kind: 'go_back' };
    case 'Go Forward':
      return { kind: 'go_forward' };
    case 'Goto':
      return { kind: 'goto', url: argument };
    case 'Wait':
      return { kind: 'wait' };
    default:
      return none(`Unknown action ${verb}`);
  }
}
