/**
 * @file PDDL's conditions and effects, compiled: variables become slots, negations move inward to the atoms, and `forall`
 * becomes "there is none that is not".
 */
import { typedNames } from './declarations';
import type { Condition, Conjunction, Effect, ObjectSet, Slot, Term } from './logic';
import { type Expression, excerpt, gameError, isList, type List, type Part } from './s-expressions';

/** What the rest of the file knows. */
export interface Names {
  object(id: string): number | undefined;
  type(alternatives: readonly string[], part: Part, line: number): ObjectSet;
  predicate(name: string, arity: number, part: Part, line: number): number;
}

/** Variables in sight, with their slots. */
export type Scope = Map<string, number>;

const MAX_SLOTS = 200;
/** Effects that count costs. They change no fact. */
const COSTS = new Set(['increase', 'decrease', 'assign', 'scale-up', 'scale-down']);

/** Reads the expressions of one action, or of the goal; its slots are numbered through. */
export class ConditionReader {
  slotCount = 0;

  constructor(
    private readonly names: Names,
    private readonly part: Part,
  ) {}

  /** A new slot for a variable; hides an outer variable of the same name. */
  declare(name: string, types: readonly string[], line: number, scope: Scope): Slot {
    if (!name.startsWith('?')) throw gameError(this.part, line, `the variable "${name}" does not begin with "?"`);
    if (this.slotCount >= MAX_SLOTS) throw gameError(this.part, line, `more than ${MAX_SLOTS} variables`);
    const index = this.slotCount++;
    scope.set(name, index);
    return { index, type: this.names.type(types, this.part, line) };
  }

  /** The condition (or its negation) as a list of parts that must all hold. */
  conjunction(expression: Expression, scope: Scope, negated: boolean): Conjunction {
    return conjunctionOf(this.parts(expression, scope, negated));
  }

  private parts(expression: Expression, scope: Scope, negated: boolean): Condition[] {
    const list = this.list(expression);
    if (list.items.length === 0) return negated ? [{ kind: 'or', parts: [] }] : [];
    const head = this.head(list);
    const rest = list.items.slice(1);
    switch (head) {
      case 'and':
      case 'or': {
        if ((head === 'and') !== negated) return rest.flatMap((item) => this.parts(item, scope, negated));
        return [{ kind: 'or', parts: rest.map((item) => this.conjunction(item, scope, negated)) }];
      }
      case 'not':
        return this.parts(this.only(list), scope, !negated);
      case 'imply': {
        if (rest.length !== 2) throw this.error(list, '"imply" takes two conditions');
        if (negated) return [...this.parts(rest[0], scope, false), ...this.parts(rest[1], scope, true)];
        return [
          { kind: 'or', parts: [this.conjunction(rest[0], scope, true), this.conjunction(rest[1], scope, false)] },
        ];
      }
      case 'exists':
      case 'forall': {
        const inner: Scope = new Map(scope);
        const slots = this.variables(list, inner);
        if (rest.length !== 2) throw this.error(list, `"${head}" takes variables and one condition`);
        const every = head === 'forall';
        return [{ kind: 'exists', negated: every !== negated, slots, body: this.conjunction(rest[1], inner, every) }];
      }
      case '=': {
        const terms = this.terms(list, scope);
        if (terms.length !== 2) throw this.error(list, '"=" compares two things');
        return [{ kind: 'equal', negated, terms: [terms[0], terms[1]] }];
      }
      case '<':
      case '>':
      case '<=':
      case '>=':
        throw this.error(list, 'conditions on numbers are not supported');
      default: {
        const terms = this.terms(list, scope);
        const predicate = this.names.predicate(head, terms.length, this.part, list.line);
        return [{ kind: 'atom', negated, predicate, terms }];
      }
    }
  }

  effects(expression: Expression, scope: Scope, slots: readonly Slot[] = [], when = conjunctionOf([])): Effect[] {
    const list = this.list(expression);
    if (list.items.length === 0) return [];
    const head = this.head(list);
    const rest = list.items.slice(1);
    if (COSTS.has(head)) return [];
    switch (head) {
      case 'and':
        return rest.flatMap((item) => this.effects(item, scope, slots, when));
      case 'forall': {
        const inner: Scope = new Map(scope);
        const more = this.variables(list, inner);
        if (rest.length !== 2) throw this.error(list, '"forall" takes variables and one effect');
        return this.effects(rest[1], inner, [...slots, ...more], when);
      }
      case 'when': {
        if (rest.length !== 2) throw this.error(list, '"when" takes a condition and an effect');
        const both = conjunctionOf([...when.parts, ...this.parts(rest[0], scope, false)]);
        return this.effects(rest[1], scope, slots, both);
      }
      case 'not': {
        const atom = this.list(this.only(list));
        return [this.effect(atom, scope, slots, when, false)];
      }
      default:
        return [this.effect(list, scope, slots, when, true)];
    }
  }

  private effect(atom: List, scope: Scope, slots: readonly Slot[], when: Conjunction, adds: boolean): Effect {
    const head = this.head(atom);
    if (['and', 'or', 'not', 'exists', 'forall', 'when', '='].includes(head))
      throw this.error(atom, `"${head}" cannot stand here`);
    const terms = this.terms(atom, scope);
    return { slots, when, adds, predicate: this.names.predicate(head, terms.length, this.part, atom.line), terms };
  }

  private variables(list: List, scope: Scope): Slot[] {
    const declared = list.items[1];
    if (!isList(declared)) throw this.error(list, 'a list of variables is missing');
    return typedNames(declared.items, this.part).map(({ name, types, line }) => this.declare(name, types, line, scope));
  }

  private terms(list: List, scope: Scope): Term[] {
    return list.items.slice(1).map((item) => {
      if (isList(item)) throw this.error(list, 'an argument is a list');
      if (item.word.startsWith('?')) {
        const slot = scope.get(item.word);
        if (slot === undefined) throw this.error(list, `the variable "${item.word}" is not declared`);
        return slot;
      }
      const object = this.names.object(item.word);
      if (object === undefined) throw this.error(list, `"${item.word}" is not a declared object`);
      return ~object;
    });
  }

  private only(list: List): Expression {
    if (list.items.length !== 2) throw this.error(list, `"${this.head(list)}" takes one expression`);
    return list.items[1];
  }

  private list(expression: Expression): List {
    if (!isList(expression)) throw this.error(expression, 'a parenthesis is missing');
    return expression;
  }

  private head(list: List): string {
    const head = list.items[0];
    if (head === undefined || isList(head)) throw this.error(list, 'the name of a condition is missing');
    return head.word;
  }

  private error(expression: Expression, problem: string): Error {
    return gameError(this.part, expression.line, `${problem} in ${excerpt(expression)}`);
  }
}

export function conjunctionOf(parts: readonly Condition[]): Conjunction {
  return { parts, free: parts.map((part) => [...freeSlots(part)]) };
}

function freeSlots(condition: Condition): Set<number> {
  switch (condition.kind) {
    case 'atom':
    case 'equal':
      return new Set(condition.terms.filter((term) => term >= 0));
    case 'exists': {
      const free = new Set(condition.body.free.flat());
      for (const { index } of condition.slots) free.delete(index);
      return free;
    }
    case 'or':
      return new Set(condition.parts.flatMap((part) => part.free.flat()));
  }
}
