/**
 * @file The right-hand sides of a text grammar:
 *
 *     text #rule# {r.name} {o.indefinite + ' ' + o.name | inreceptacle(o:object, r:receptacle)} [{…}]
 *
 * `#rule#` stands for another rule, `{…}` for a value, `{… | query}` for one value per answer of the query, and brackets
 * make an enumeration of those. Values are attributes joined by `+`, or the first non-empty one of several by `or`:
 * a small language of its own, where TextWorld evaluates Python.
 */
import { gameError } from './s-expressions';

export type Symbols = readonly TextSymbol[];

export type TextSymbol =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'rule'; readonly name: string }
  | { readonly kind: 'value'; readonly value: Value; readonly given: Query | null; readonly list: boolean }
  | { readonly kind: 'each'; readonly name: string; readonly given: Query | null; readonly list: boolean };

/** Alternatives (`or`) of sums (`+`). */
export type Value = readonly (readonly ValueTerm[])[];
export type ValueTerm = { readonly literal: string } | { readonly variable: string; readonly attribute: Attribute };

const ATTRIBUTES = ['name', 'id', 'type', 'definite', 'indefinite'] as const;
export type Attribute = (typeof ATTRIBUTES)[number];

/** Facts that must all be found; the order is the order answers come in. */
export type Query = readonly QueryFact[];
export interface QueryFact {
  readonly predicate: string;
  /** `not_p(…)`: an action made p false. */
  readonly ended: boolean;
  readonly variables: readonly { readonly name: string; readonly type: string }[];
}

/** @param line of the file, for errors. */
export function parseSymbols(text: string, line: number): Symbols {
  const symbols: TextSymbol[] = [];
  let at = 0;
  let plain = '';
  const flush = () => {
    if (plain !== '') symbols.push({ kind: 'text', text: plain });
    plain = '';
  };
  while (at < text.length) {
    const char = text[at];
    if (char === '#') {
      const end = text.indexOf('#', at + 1);
      if (end < 0) throw gameError('grammar', line, `"#" is never closed in "${text.slice(at, at + 40)}"`);
      flush();
      symbols.push({ kind: 'rule', name: text.slice(at + 1, end) });
      at = end + 1;
    } else if (char === '{' || char === '[') {
      const list = char === '[';
      if (list && text[at + 1] !== '{')
        throw gameError('grammar', line, `"[" is not followed by "{" in "${text.slice(at, at + 40)}"`);
      const open = list ? at + 1 : at;
      const end = text.indexOf('}', open);
      if (end < 0 || (list && text[end + 1] !== ']'))
        throw gameError('grammar', line, `a bracket is never closed in "${text.slice(at, at + 40)}"`);
      flush();
      symbols.push(insertion(text.slice(open + 1, end), list, line));
      at = end + (list ? 2 : 1);
    } else {
      // A closing brace without an opening one is a slip (ALFWorld's grammar has one); it is not text to show.
      if (char !== '}' && char !== ']') plain += char;
      at++;
    }
  }
  flush();
  return symbols;
}

function insertion(inner: string, list: boolean, line: number): TextSymbol {
  const bar = inner.indexOf('|');
  const expression = (bar < 0 ? inner : inner.slice(0, bar)).trim();
  const given = bar < 0 ? null : parseQuery(inner.slice(bar + 1), line);
  const rule = /^#([^#]+)#$/.exec(expression);
  if (rule !== null) return { kind: 'each', name: rule[1], given, list };
  return { kind: 'value', value: parseValue(expression, line), given, list };
}

const MAX_VALUE = 400;
const TERM = /^(?:'([^']*)'|"([^"]*)"|([A-Za-z_]\w*)(?:\.([A-Za-z_]+))?)$/;

function parseValue(expression: string, line: number): Value {
  if (expression.length > MAX_VALUE) throw gameError('grammar', line, `a value is longer than ${MAX_VALUE} characters`);
  return expression.split(/\s+or\s+/).map((sum) =>
    splitOutsideQuotes(sum).map((term): ValueTerm => {
      const match = TERM.exec(term.trim());
      if (match === null) throw gameError('grammar', line, `"{${expression.slice(0, 60)}}" is not a value`);
      const [, single, double, variable, attribute = 'name'] = match;
      if (variable === undefined) return { literal: single ?? double };
      if (!ATTRIBUTES.includes(attribute as Attribute))
        throw gameError('grammar', line, `"${term.trim()}": an object has ${ATTRIBUTES.join(', ')}`);
      return { variable: variable.toLowerCase(), attribute: attribute as Attribute };
    }),
  );
}

/** `a + ' + ' + b` has three terms. */
function splitOutsideQuotes(sum: string): string[] {
  const terms = [''];
  let quote = '';
  for (const char of sum) {
    if (quote === '' && char === '+') {
      terms.push('');
      continue;
    }
    if (quote === '' && (char === "'" || char === '"')) quote = char;
    else if (char === quote) quote = '';
    terms[terms.length - 1] += char;
  }
  return terms;
}

/** More facts than this in one condition, and it is no condition. */
const MAX_FACTS = 30;
const FACT = /^\s*([\w@-]+)\s*\(([^()]*)\)\s*$/;
const VARIABLE = /^\s*(\w+)\s*(?::\s*([\w-]+)\s*)?$/;

/** `openable(r:receptacle) & not_opened(r:receptacle)` */
export function parseQuery(text: string, line: number): Query {
  const parts = text.split('&');
  if (parts.length > MAX_FACTS) throw gameError('grammar', line, `a condition has more than ${MAX_FACTS} facts`);
  return parts.map((part): QueryFact => {
    const match = FACT.exec(part);
    if (match === null) throw gameError('grammar', line, `"${part.trim().slice(0, 60)}" is not a fact`);
    const name = match[1].toLowerCase();
    const ended = name.startsWith('not_');
    const list = match[2].trim() === '' ? [] : match[2].split(',');
    return {
      predicate: ended ? name.slice(4) : name,
      ended,
      variables: list.map((word) => {
        const variable = VARIABLE.exec(word);
        if (variable === null) throw gameError('grammar', line, `"${word.trim().slice(0, 40)}" is not a variable`);
        return { name: variable[1].toLowerCase(), type: (variable[2] ?? 'object').toLowerCase() };
      }),
    };
  });
}
