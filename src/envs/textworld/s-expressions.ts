/**
 * @file Parenthesised lists with line numbers: the outer form of PDDL. Reads without recursion and gives up early, because
 * a game file comes from anywhere.
 */
import { DreamError } from '../../data/errors';

/** A word, or a list. PDDL knows no case: words are in lower case. */
export type Expression = Word | List;
export interface Word {
  readonly line: number;
  readonly word: string;
}
export interface List {
  readonly line: number;
  readonly items: readonly Expression[];
}

export function isList(expression: Expression | undefined): expression is List {
  return expression !== undefined && 'items' in expression;
}

/** Longest file of a game, in characters: real ones have less than 200,000. */
export const MAX_CHARACTERS = 8_000_000;
const MAX_DEPTH = 100;

/** Which file of a game, as messages name it. */
export type Part = 'domain' | 'problem' | 'grammar';

/** @returns the error for line `line` (from 1) of a part of a game file. */
export function gameError(part: Part, line: number, problem: string): DreamError {
  return new DreamError(
    'game-unreadable',
    // The words of a file must not steer the terminal that shows the message.
    `The ${part} of the game has an error in line ${line}: ${problem}.`.replace(/\p{Cc}/gu, ' '),
    'Use a game.tw-pddl file that TextWorld or ALFWorld made, or repair this line.',
  );
}

/** The words of an expression, shortened: what a message shows of it. */
export function excerpt(expression: Expression): string {
  const words: string[] = [];
  const visit = (e: Expression): void => {
    if (words.length > 12) return;
    if (!isList(e)) {
      words.push(e.word);
      return;
    }
    words.push('(');
    for (const item of e.items) visit(item);
    words.push(')');
  };
  visit(expression);
  const text = words.join(' ').replaceAll('( ', '(').replaceAll(' )', ')');
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/**
 * The one list that a PDDL file is.
 * @throws DreamError `game-unreadable` for unbalanced parentheses, text outside of them, or nesting beyond 100.
 */
export function parseExpression(text: string, part: Part): List {
  if (text.length > MAX_CHARACTERS) throw gameError(part, 1, `the text is longer than ${MAX_CHARACTERS} characters`);
  // Commas separate nothing in PDDL, but ALFWorld's own domain has one in a list of variables.
  const token = /;[^\n]*|[^\s(),;]+|[()\n]/g;
  const open: { line: number; items: Expression[] }[] = [];
  let root: List | null = null;
  let line = 1;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const word = match[0];
    if (word === '\n') line++;
    else if (word[0] === ';') continue;
    else if (root !== null) throw gameError(part, line, `"${word.slice(0, 40)}" stands after the last parenthesis`);
    else if (word === '(') {
      if (open.length >= MAX_DEPTH) throw gameError(part, line, `more than ${MAX_DEPTH} parentheses are open`);
      open.push({ line, items: [] });
    } else if (word === ')') {
      const done = open.pop();
      if (done === undefined) throw gameError(part, line, 'a closing parenthesis has no opening one');
      const parent = open.at(-1);
      if (parent === undefined) root = done;
      else parent.items.push(done);
    } else {
      const parent = open.at(-1);
      if (parent === undefined) throw gameError(part, line, `"${word.slice(0, 40)}" stands outside the parentheses`);
      parent.items.push({ line, word: word.toLowerCase() });
    }
  }
  const unclosed = open.at(-1);
  if (unclosed !== undefined) throw gameError(part, unclosed.line, 'a parenthesis is never closed');
  if (root === null) throw gameError(part, line, 'it is empty');
  return root;
}
