/**
 * @file A planning problem in numbers: objects, predicates, conditions and effects, ready to be matched against a state.
 *
 * Objects are numbered in the order of their ids, and a fact's code is its arguments in base (number of objects), so that
 * the order of numbers is the order ALFWorld lists things in.
 */

/** A variable's slot (>= 0), or an object as its complement (< 0). */
export type Term = number;

/** Conditions in negation normal form: `not` stands only before an atom, an equality and an `exists`. */
export type Condition =
  | { readonly kind: 'atom'; readonly negated: boolean; readonly predicate: number; readonly terms: readonly Term[] }
  | { readonly kind: 'equal'; readonly negated: boolean; readonly terms: readonly [Term, Term] }
  | { readonly kind: 'exists'; readonly negated: boolean; readonly slots: readonly Slot[]; readonly body: Conjunction }
  | { readonly kind: 'or'; readonly parts: readonly Conjunction[] };

/** A list of conditions that must all hold; `free[i]` are the slots that part i needs bound before it can be tested. */
export interface Conjunction {
  readonly parts: readonly Condition[];
  readonly free: readonly (readonly number[])[];
}

export interface Slot {
  readonly index: number;
  readonly type: ObjectSet;
}

export interface ObjectSet {
  /** Object numbers, ascending. */
  readonly members: readonly number[];
  /** 1 where the object is a member. */
  readonly contains: Uint8Array;
}

export interface Effect {
  /** Variables of `forall`, and what `when` asks for. */
  readonly slots: readonly Slot[];
  readonly when: Conjunction;
  /** False: the fact ends. */
  readonly adds: boolean;
  readonly predicate: number;
  readonly terms: readonly Term[];
}

export interface Schema {
  /** Lower case, as the planner names it. */
  readonly name: string;
  /** Slots 0..n-1 in order. */
  readonly parameters: readonly Slot[];
  /** Parameter names without the question mark: what the text grammar calls them. */
  readonly names: readonly string[];
  /** How many slots parameters and quantifiers need together. */
  readonly slotCount: number;
  readonly condition: Conjunction;
  readonly effects: readonly Effect[];
}

export interface Predicate {
  readonly name: string;
  readonly arity: number;
}

export interface Logic {
  /** Ids in ascending order, in lower case. */
  readonly objects: readonly string[];
  /** Type of each object, as declared. */
  readonly objectTypes: readonly string[];
  readonly predicates: readonly Predicate[];
  readonly predicateIndex: ReadonlyMap<string, number>;
  readonly types: ReadonlyMap<string, ObjectSet>;
  readonly schemas: readonly Schema[];
  readonly goal: Conjunction;
  readonly goalSlotCount: number;
  readonly start: State;
}

/**
 * Ascending codes of the facts: table 2p holds the true facts of predicate p, table 2p + 1 those that an action has
 * made false. The text grammar's `not_p` means the second: TextWorld knows no other negation.
 * Never changed in place: a new state shares the tables that stayed the same, so a snapshot costs nothing.
 */
export type State = readonly (readonly number[])[];

export function encode(logic: { readonly objects: readonly string[] }, arguments_: readonly number[]): number {
  let code = 0;
  for (const argument of arguments_) code = code * logic.objects.length + argument;
  return code;
}

/** Argument `position` of a fact's code. */
export function argumentOf(code: number, position: number, arity: number, base: number): number {
  let rest = code;
  for (let i = arity - 1; i > position; i--) rest = Math.floor(rest / base);
  return rest % base;
}

/** Index of the first code that is not less than `code`. */
export function lowerBound(table: readonly number[], code: number): number {
  let low = 0;
  let high = table.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (table[middle] < code) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function includes(table: readonly number[], code: number): boolean {
  return table[lowerBound(table, code)] === code;
}
