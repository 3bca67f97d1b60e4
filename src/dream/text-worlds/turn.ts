/**
 * @file One turn of the policy: a thought and an action in which free text stands where the world's template leaves room.
 *
 * `search[<query>]` is given up to its bracket, the query is the model's own, the closing bracket is given again. Templates
 * that begin alike (`type [5] [<text>] [0]` and `... [1]`) are one choice, told apart by how they end.
 */
import type { Script, ScriptWords } from '../text-household/script';

/** Tokens of one piece of free text. */
const longestText = 20;

export interface TurnForm {
  /** Most tokens of the thought; 0: act without thinking. */
  thoughtTokens: number;
  /** Templates whose text may be empty. */
  optionalText?: ReadonlySet<string>;
}

/** `actions`: what is possible; empty: any one line. */
export function* ledTurn(
  words: ScriptWords,
  { thoughtTokens, optionalText }: TurnForm,
  actions: readonly string[],
): Script {
  if (thoughtTokens > 0) {
    const thought = yield words.line(thoughtTokens);
    yield words.say(`${/\n\s*$/.test(thought) ? '' : '\n'}Action:`);
  }
  if (actions.length === 0) {
    yield words.fill('', [''], { longest: longestText * 2, ended: true });
    return;
  }
  yield* ledAction(words, actions, optionalText ?? new Set());
}

interface Template {
  /** Given words and, between them, what the gaps are called. */
  pieces: string[];
  gaps: string[];
}

export function readTemplate(action: string): Template | null {
  const parts = action.split(/<([^<>]*)>/);
  if (parts.length === 1) return null;
  return { pieces: parts.filter((_, i) => i % 2 === 0), gaps: parts.filter((_, i) => i % 2 === 1) };
}

function* ledAction(words: ScriptWords, actions: readonly string[], optional: ReadonlySet<string>): Script {
  const templates = actions.map(readTemplate).filter((template) => template !== null);
  const headOf = ({ pieces }: Template): string => ` ${pieces[0].trimEnd()}`;
  const heads = [...new Set(templates.map(headOf))];
  const fixed = actions.filter((action) => readTemplate(action) === null).map((action) => ` ${action}`);
  const said = yield words.chooseOrGoOn(fixed, heads);
  // An action that was chosen whole ends with its end token, so it never reads like a head.
  const open = templates.filter((template) => headOf(template).trim() === said.trim());
  if (open.length > 0) yield* gaps(words, open, 0, optional);
}

/** The templates agree in everything before gap `at`. */
function* gaps(words: ScriptWords, templates: readonly Template[], at: number, optional: ReadonlySet<string>): Script {
  const last = templates.filter(({ gaps }) => gaps.length === at + 1);
  const more = templates.filter(({ gaps }) => gaps.length > at + 1);
  const least = templates.every(({ gaps }) => optional.has(gaps[at])) ? 0 : 1;
  const tail = ({ pieces }: Template): string => pieces[at + 1];
  // A blank before a gap belongs to the first word in it, as tokenizers have it.
  const apart = templates.every(({ pieces }) => / $/.test(pieces[at]));
  if (more.length === 0) {
    const tails = last.map((template) => tail(template).trimEnd());
    yield words.fill(firstLetters(tails), tails, { least, longest: longestText, ended: true, apart });
    return;
  }
  // With several gaps the first template decides; worlds of that kind have one action of the form.
  const [template] = more;
  const next = tail(template).trimEnd();
  yield words.fill(firstLetters([next.trim()]), [next], { least, longest: longestText, apart });
  yield* gaps(words, [template], at + 1, optional);
}

/** What free text may not have in it: the letter that ends it, and the one that opened it. */
function firstLetters(tails: readonly string[]): string {
  const letters = tails.map((tail) => tail.trim()[0] ?? '').filter((letter) => /[^\p{L}\p{N}]/u.test(letter));
  return [...new Set(letters.flatMap((letter) => [letter, opening.get(letter) ?? '']))].join('');
}

const opening: ReadonlyMap<string, string> = new Map([
  [']', '['],
  [')', '('],
  ['}', '{'],
]);
