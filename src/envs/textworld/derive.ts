/**
 * @file Writes a text from the grammar: rules are replaced by the first of their lines whose condition holds, values and
 * enumerations are filled in from the facts. Bounded, because a grammar may name itself.
 */
import { DreamError } from '../../data/errors';
import type { Grammar } from './grammar-file';
import { argumentOf, type Logic, lowerBound, type State } from './logic';
import type { Query, Symbols, TextSymbol, Value } from './symbols';

/** Variables of the grammar and the objects they stand for. */
export type Bindings = ReadonlyMap<string, number>;

/** What one writer may do: the texts of all commands of a step, or one answer. */
const MAX_SYMBOLS = 300_000;
const MAX_DEPTH = 60;
const MAX_TEXT = 1_000_000;
const MAX_LOOKS = 2_000_000;
const MAX_ANSWERS = 20_000;

export class TextWriter {
  private symbols = 0;
  private looks = 0;
  private length = 0;

  /** `names[i]` is what object i is called. */
  constructor(
    private readonly logic: Logic,
    private readonly grammar: Grammar,
    private readonly names: readonly string[],
    private readonly state: State,
  ) {}

  /** @throws DreamError `game-text` when the grammar never ends, or says nothing for this state. */
  write(symbols: Symbols, bindings: Bindings): string {
    return this.all(symbols, bindings, 0);
  }

  private all(symbols: Symbols, bindings: Bindings, depth: number): string {
    if (depth > MAX_DEPTH) throw textError('its rules name each other without end');
    let text = '';
    for (const symbol of symbols) text += this.one(symbol, bindings, depth);
    return text;
  }

  private one(symbol: TextSymbol, bindings: Bindings, depth: number): string {
    if (++this.symbols > MAX_SYMBOLS) throw textError('its rules grow without end');
    switch (symbol.kind) {
      case 'text':
        this.length += symbol.text.length;
        if (this.length > MAX_TEXT) throw textError(`it makes texts longer than ${MAX_TEXT} characters`);
        return symbol.text;
      case 'rule':
        return this.rule(symbol.name, bindings, depth + 1);
      case 'value':
      case 'each': {
        const answers = symbol.given === null ? [bindings] : this.answers(symbol.given, bindings, false);
        const items = answers.map((answer) =>
          symbol.kind === 'value' ? this.value(symbol.value, answer) : this.rule(symbol.name, answer, depth + 1),
        );
        return symbol.list ? this.enumeration(items, bindings, depth) : items.join('');
      }
    }
  }

  private rule(name: string, bindings: Bindings, depth: number): string {
    const alternatives = this.grammar.rules.get(name);
    if (alternatives === undefined) throw textError(`it has no rule "${name}"`);
    for (const { condition, symbols } of alternatives) {
      if (condition === null || this.answers(condition, bindings, true).length > 0)
        return this.all(symbols, bindings, depth);
    }
    throw textError(`no line of its rule "${name}" suits this state`);
  }

  private enumeration(items: readonly string[], bindings: Bindings, depth: number): string {
    const word = (rule: string, usual: string) =>
      this.grammar.rules.has(rule) ? this.rule(rule, bindings, depth + 1) : usual;
    if (items.length === 0) return word('list_empty', 'nothing');
    if (items.length === 1) return items[0];
    const separator = word('list_separator', ', ');
    return items.slice(0, -1).join(separator) + word('list_last_separator', ', and ') + items[items.length - 1];
  }

  private value(value: Value, bindings: Bindings): string {
    for (const terms of value) {
      let text = '';
      for (const term of terms) {
        if ('literal' in term) {
          text += term.literal;
          continue;
        }
        const object = bindings.get(term.variable);
        if (object === undefined) throw textError(`it speaks of "${term.variable}", which is not known there`);
        if (term.attribute === 'name') text += this.names[object];
        else if (term.attribute === 'id') text += this.logic.objects[object];
        else if (term.attribute === 'type') text += this.logic.objectTypes[object];
        else text += term.attribute === 'definite' ? 'the' : 'a';
      }
      this.length += text.length;
      if (this.length > MAX_TEXT) throw textError(`it makes texts longer than ${MAX_TEXT} characters`);
      if (text !== '') return text;
    }
    return '';
  }

  /**
   * The bindings that answer a query, in the order of the facts. Different variables stand for different objects.
   * With `any`, one answer is enough.
   */
  private answers(query: Query, bindings: Bindings, any: boolean): Bindings[] {
    const { logic, state } = this;
    const base = logic.objects.length;
    const found: Bindings[] = [];
    const bound = new Map(bindings);
    const taken = new Set(bindings.values());
    const visit = (depth: number): boolean => {
      if (depth === query.length) {
        if (found.length >= MAX_ANSWERS) throw textError('a condition has too many answers');
        found.push(new Map(bound));
        return any;
      }
      const { predicate, ended, variables } = query[depth];
      const index = logic.predicateIndex.get(predicate);
      if (index === undefined || logic.predicates[index].arity !== variables.length) return false;
      const table = state[2 * index + (ended ? 1 : 0)];
      const first = variables.length > 0 ? bound.get(variables[0].name) : undefined;
      const width = base ** (variables.length - 1);
      const from = first === undefined ? 0 : lowerBound(table, first * width);
      const to = first === undefined ? table.length : lowerBound(table, (first + 1) * width);
      for (let i = from; i < to; i++) {
        if (++this.looks > MAX_LOOKS) throw textError('a condition has too many answers');
        const fresh: string[] = [];
        let fits = true;
        for (let position = 0; position < variables.length && fits; position++) {
          const { name, type } = variables[position];
          const object = argumentOf(table[i], position, variables.length, base);
          const known = bound.get(name);
          if (known !== undefined) fits = known === object;
          else if (taken.has(object) || logic.types.get(type)?.contains[object] !== 1) fits = false;
          else {
            bound.set(name, object);
            taken.add(object);
            fresh.push(name);
          }
        }
        const stop = fits && visit(depth + 1);
        for (const name of fresh) {
          taken.delete(bound.get(name)!);
          bound.delete(name);
        }
        if (stop) return true;
      }
      return false;
    };
    visit(0);
    return found;
  }
}

function textError(problem: string): DreamError {
  return new DreamError(
    'game-text',
    `The text grammar of the game cannot be followed: ${problem}.`,
    'Use the grammar that belongs to this game, or repair the rule.',
  );
}
