/**
 * @file The `.twl2` text grammar of a game: what each action is called, what it answers, and the rules for both.
 *
 *     grammar :: """ { "rule": [ { "condition": "open(r:receptacle)", "rhs": "The {r.name} is open." }, … ] } """;
 *     action OpenObject { template :: "open {r}"; feedback :: "#OpenObject.feedback#"; }
 */
import { isJsonObject } from '../../data/json-object';
import { gameError, MAX_CHARACTERS } from './s-expressions';
import { parseQuery, parseSymbols, type Query, type Symbols } from './symbols';

/** One way to write a rule: the first whose condition holds is taken. */
export interface Alternative {
  readonly condition: Query | null;
  readonly symbols: Symbols;
}

export interface ActionText {
  readonly template: Symbols;
  readonly feedback: Symbols;
}

export interface Grammar {
  readonly rules: ReadonlyMap<string, readonly Alternative[]>;
  /** By the action's name in lower case. */
  readonly actions: ReadonlyMap<string, ActionText>;
}

const TOKEN = /\s+|#[^\n]*|"""[\s\S]*?"""|"[^"]*"|::|[{};]|[\w/-]+/y;

interface Token {
  readonly text: string;
  readonly line: number;
}

function tokens(text: string): Token[] {
  if (text.length > MAX_CHARACTERS)
    throw gameError('grammar', 1, `the text is longer than ${MAX_CHARACTERS} characters`);
  const found: Token[] = [];
  const token = new RegExp(TOKEN);
  let line = 1;
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const match = token.exec(text);
    if (match === null) throw gameError('grammar', line, `"${text.slice(at, at + 20)}" is not expected`);
    const [word] = match;
    if (!/^[\s#]/.test(word)) found.push({ text: word, line });
    for (let i = word.indexOf('\n'); i >= 0; i = word.indexOf('\n', i + 1)) line++;
  }
  return found;
}

/** @throws DreamError `game-unreadable` with the line. */
export function readGrammar(text: string): Grammar {
  const list = tokens(text);
  const rules = new Map<string, readonly Alternative[]>();
  const actions = new Map<string, ActionText>();
  let at = 0;
  const next = (what: string): Token => {
    const token = list[at++];
    if (token === undefined)
      throw gameError('grammar', list.at(-1)?.line ?? 1, `the text ends where ${what} should be`);
    return token;
  };
  const expect = (word: string): void => {
    const token = next(`"${word}"`);
    if (token.text !== word)
      throw gameError('grammar', token.line, `"${token.text.slice(0, 30)}" stands for "${word}"`);
  };
  const value = (quotes: string, what: string): Token => {
    expect('::');
    const token = next(what);
    const length = quotes.length;
    if (!token.text.startsWith(quotes) || token.text.length < 2 * length)
      throw gameError('grammar', token.line, `${what} should stand in ${quotes}`);
    expect(';');
    return { text: token.text.slice(length, -length), line: token.line };
  };

  while (at < list.length) {
    const keyword = next('"grammar" or "action"');
    if (keyword.text === 'grammar') readRules(value('"""', 'the rules'), rules);
    else if (keyword.text === 'action') {
      const name = next('the name of an action');
      expect('{');
      let template: Token | null = null;
      let feedback: Token | null = null;
      for (let field = next('"}"'); field.text !== '}'; field = next('"}"')) {
        if (field.text === 'template') template = value('"', 'the template');
        else if (field.text === 'feedback') feedback = value('"', 'the feedback');
        else if (field.text === 'grammar') readRules(value('"""', 'the rules'), rules);
        else if (field.text === 'pddl') value('"""', 'the PDDL');
        else throw gameError('grammar', field.line, `"${field.text.slice(0, 30)}" is no field of an action`);
      }
      if (template === null || feedback === null)
        throw gameError('grammar', name.line, `the action "${name.text}" lacks its template or its feedback`);
      actions.set(name.text.toLowerCase(), {
        template: parseSymbols(template.text, template.line),
        feedback: parseSymbols(feedback.text, feedback.line),
      });
    } else throw gameError('grammar', keyword.line, `"${keyword.text.slice(0, 30)}" stands for "grammar" or "action"`);
  }
  return { rules, actions };
}

/** A JSON object of rules; later rules of the same name replace earlier ones. */
function readRules(block: Token, rules: Map<string, readonly Alternative[]>): void {
  const json = block.text.replace(/^[ \t]*#.*$/gm, '');
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (cause) {
    throw gameError('grammar', block.line, `the rules that begin here are not JSON: ${(cause as Error).message}`);
  }
  if (!isJsonObject(parsed)) throw gameError('grammar', block.line, 'the rules that begin here are no JSON object');
  for (const [name, alternatives] of Object.entries(parsed)) {
    if (!Array.isArray(alternatives)) throw gameError('grammar', block.line, `the rule "${name}" is no list`);
    rules.set(
      name,
      alternatives.map((alternative: unknown) => readAlternative(name, alternative, block.line)),
    );
  }
}

function readAlternative(name: string, alternative: unknown, line: number): Alternative {
  const { condition, rhs } = (alternative ?? {}) as { condition?: unknown; rhs?: unknown };
  if (typeof rhs !== 'string') throw gameError('grammar', line, `the rule "${name}" has a line without "rhs"`);
  if (condition !== undefined && typeof condition !== 'string')
    throw gameError('grammar', line, `a condition of the rule "${name}" is no text`);
  return {
    condition: condition === undefined || condition.trim() === '' ? null : parseQuery(condition, line),
    symbols: parseSymbols(rhs, line),
  };
}
