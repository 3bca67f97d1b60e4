/**
 * @file Web pages in abstract text: what can be done on one, and the next one as a script. Addresses of the bar, pages that
 * were shown before, fields that are filled in and the form of every line are given; titles and elements are the model's own.
 */
import { EPISODE_ENDED, parseAction } from '../../envs/web';
import type { ScriptWords } from '../text-household/script';
import type { Imagined, Told } from './world';

const pressable = new Set(['link', 'button', 'checkbox', 'radio']);
const fillable = new Set(['search box', 'text box', 'number box']);

const elementLine = /^\[(\d+)\] ([a-zA-Z][a-zA-Z ]*): (.*)$/;
const headLine = /^page: (.*) at (\S*)$/;

export function pageInView(firstObservation: string, turns: Told['turns']): string {
  return turns.findLast(({ observation }) => observation.startsWith('page: '))?.observation ?? firstObservation;
}

/** Sorted; what a page's text offers, in the words of the web world's own list. */
export function offeredOn(page: string): string[] {
  const found = ['stop [<answer>]', 'goto [<url>]', 'go_back'];
  for (const line of page.split('\n').slice(1)) {
    const [, id, role, words = ''] = elementLine.exec(line) ?? [];
    if (id === undefined) {
      const scroll = /scroll \[(?:up|down)\]$/.exec(line);
      if (scroll) found.push(scroll[0]);
    } else if (pressable.has(role)) found.push(`click [${id}]`);
    else if (fillable.has(role)) found.push(`type [${id}] [<text>] [0]`, `type [${id}] [<text>] [1]`);
    else if (role === 'menu') found.push(...choicesOf(words).map((option) => `type [${id}] [${option}] [0]`));
  }
  return found.sort();
}

/** `Sort by = Price (of Position, Price)` has two. */
function choicesOf(words: string): string[] {
  const options = / \(of ([^()]*)\)$/.exec(words)?.[1] ?? '';
  return options.split(', ').filter((option) => option !== '' && !/[[\]<>…]/.test(option));
}

const lineKinds = ['link', 'button', 'heading', 'text', 'row', 'search box', 'text box'];
const mostLines = 8;
const longestLine = 100;
const wordTokens = 16;
const titleTokens = 10;
const addressTokens = 10;

/** A task is judged at the end of its episode only. */
export function* imaginedWebPage(words: ScriptWords, told: Told, action: string): Imagined {
  const parsed = parseAction(action);
  const page = pageInView(told.firstObservation, told.turns);
  switch (parsed.kind) {
    case 'stop':
      yield words.say(` ${EPISODE_ENDED}\n`);
      return 'asked';
    case 'go_back':
      yield words.say(` ${excerpt(pageBefore(told, page) ?? page)}\n`);
      return 'none';
    case 'type':
    case 'select': {
      const filled = withField(page, parsed.id, parsed.kind === 'type' ? parsed.text : parsed.option);
      if (parsed.kind === 'type' && parsed.enter) break;
      yield words.say(` ${excerpt(filled ?? page, parsed.id)}\n`);
      return 'none';
    }
    case 'scroll':
    case 'hover':
    case 'press':
    case 'new_tab':
    case 'tab_focus':
    case 'close_tab':
    case 'go_forward':
    case 'wait':
    case 'none':
      yield words.say(` ${excerpt(page)}\n`);
      return 'none';
    default:
  }
  const address = parsed.kind === 'goto' ? oneWord(parsed.url) : null;
  const seen =
    address === null
      ? undefined
      : [told.firstObservation, ...observations(told)].find(
          (text) => headLine.exec(text.split('\n')[0])?.[2] === address,
        );
  if (seen !== undefined) yield words.say(` ${excerpt(seen)}\n`);
  else return yield* newPage(words, address, hostOf(page));
  return 'none';
}

function* newPage(words: ScriptWords, address: string | null, host: string): Imagined {
  yield words.say(' page:');
  yield words.fill('[]', [address === null ? ` at ${host}/` : ` at ${address}\n`], {
    longest: titleTokens,
    apart: true,
  });
  if (address === null) yield words.fill('[] ', ['\n'], { longest: addressTokens });
  for (let i = 0, id = 3; i < mostLines; i++, id += 4) {
    // The first line is an element: a page without any is none.
    const kinds = lineKinds.map((kind) => `[${id}] ${kind}:`);
    const said = yield words.choose(i === 0 ? kinds : [...kinds, 'Reward:']);
    if (said.includes('Reward:')) return 'begun';
    yield words.fill('[]', [said.includes(' box:') ? ' = empty\n' : '\n'], { longest: wordTokens, apart: true });
  }
  return 'none';
}

/** A page again, as much of it as an answer has room for: its head and the lines around one element. */
function excerpt(page: string, id = 0): string {
  const [head, ...lines] = page.split('\n');
  const elements = lines.filter((line) => elementLine.test(line));
  const at = elements.findIndex((line) => line.startsWith(`[${id}] `));
  const from = Math.max(0, Math.min(at - mostLines / 2, elements.length - mostLines));
  return [head, ...elements.slice(from, from + mostLines)].map((line) => line.slice(0, longestLine)).join('\n');
}

const observations = ({ turns }: Told): string[] => turns.map(({ observation }) => observation);

/** The page that was in view before this one. */
function pageBefore(told: Told, page: string): string | null {
  const pages = [told.firstObservation, ...observations(told)].filter((text) => text.startsWith('page: '));
  return pages.findLast((text) => headOf(text) !== headOf(page)) ?? null;
}

const headOf = (page: string): string => page.split('\n')[0];
const hostOf = (page: string): string => /at ([^/\s]+)/.exec(headOf(page))?.[1] ?? 'site';
const oneWord = (url: string): string => url.replace(/^https?:\/\//, '').replace(/\s+/g, '');

/** The page with a field's content changed, or null where there is no such field. */
function withField(page: string, id: number, content: string): string | null {
  let found = false;
  const lines = page.split('\n').map((line) => {
    const [, at, role, words = ''] = elementLine.exec(line) ?? [];
    if (Number(at) !== id || (!fillable.has(role) && role !== 'menu')) return line;
    found = true;
    const options = role === 'menu' ? (/ \(of [^()]*\)$/.exec(words)?.[0] ?? '') : '';
    const name = words.slice(0, Math.max(0, words.lastIndexOf(' = ')));
    return `[${at}] ${role}: ${name} = ${content.replace(/\s+/g, ' ').trim() || 'empty'}${options}`;
  });
  return found ? lines.join('\n') : null;
}
