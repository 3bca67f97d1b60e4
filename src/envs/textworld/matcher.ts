/**
 * @file Which assignments of objects to variables make a condition true? A join over the facts: the atom with the fewest
 * candidates binds first, objects of a type are tried only where no atom is left to bind a variable.
 */
import { DreamError } from '../../data/errors';
import {
  argumentOf,
  type Condition,
  type Conjunction,
  includes,
  type Logic,
  lowerBound,
  type Slot,
  type State,
} from './logic';

/** What one matcher may do: a unit is a condition looked at. ALFWorld's games need some ten thousand a step. */
const MAX_UNITS = 5_000_000;
const UNBOUND = -1;

/** Called at each solution, with the binding in place; true ends the search. */
type Visit = () => boolean;

export class Matcher {
  private left = MAX_UNITS;
  private readonly base: number;

  constructor(
    logic: Logic,
    private readonly state: State,
  ) {
    this.base = logic.objects.length;
  }

  /** A binding with every slot free. */
  static binding(slotCount: number): Int32Array {
    return new Int32Array(slotCount).fill(UNBOUND);
  }

  /**
   * Visits every binding of `slots` that makes `body` true. Slots are free again afterwards.
   * @returns true when a visit ended the search.
   * @throws DreamError `game-too-large`
   */
  each(slots: readonly Slot[], body: Conjunction, binding: Int32Array, visit: Visit): boolean {
    return this.join(slots, body, new Uint8Array(body.parts.length), binding, visit);
  }

  holds(body: Conjunction, binding: Int32Array): boolean {
    return this.each([], body, binding, () => true);
  }

  private join(
    slots: readonly Slot[],
    body: Conjunction,
    used: Uint8Array,
    binding: Int32Array,
    visit: Visit,
  ): boolean {
    this.spend(used.length);
    // Test all that can be tested; remember which, so that they count again on the way back.
    const settled: number[] = [];
    let dead = false;
    for (let i = 0; i < used.length && !dead; i++) {
      if (used[i] === 1 || !this.isBound(body.free[i], binding)) continue;
      used[i] = 1;
      settled.push(i);
      dead = !this.test(body.parts[i], binding);
    }
    const stopped = !dead && this.branch(slots, body, used, binding, visit);
    for (const i of settled) used[i] = 0;
    return stopped;
  }

  private branch(
    slots: readonly Slot[],
    body: Conjunction,
    used: Uint8Array,
    binding: Int32Array,
    visit: Visit,
  ): boolean {
    let best = -1;
    let fewest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < used.length; i++) {
      const part = body.parts[i];
      if (used[i] === 1 || part.kind !== 'atom' || part.negated) continue;
      const [from, to] = this.range(part.predicate, part.terms, binding);
      if (to - from < fewest) {
        fewest = to - from;
        best = i;
      }
    }
    if (best >= 0) return this.branchOnFacts(slots, body, used, binding, visit, best);

    const slot = slots.find(({ index }) => binding[index] === UNBOUND);
    if (slot === undefined) return visit();
    for (const object of slot.type.members) {
      this.spend(1);
      binding[slot.index] = object;
      const stopped = this.join(slots, body, used, binding, visit);
      binding[slot.index] = UNBOUND;
      if (stopped) return true;
    }
    return false;
  }

  private branchOnFacts(
    slots: readonly Slot[],
    body: Conjunction,
    used: Uint8Array,
    binding: Int32Array,
    visit: Visit,
    chosen: number,
  ): boolean {
    const part = body.parts[chosen] as Condition & { kind: 'atom' };
    const { predicate, terms } = part;
    const table = this.state[2 * predicate];
    const [from, to] = this.range(predicate, terms, binding);
    const fresh: number[] = [];
    used[chosen] = 1;
    let stopped = false;
    for (let i = from; i < to && !stopped; i++) {
      this.spend(1);
      let fits = true;
      for (let position = 0; position < terms.length && fits; position++) {
        const object = argumentOf(table[i], position, terms.length, this.base);
        const term = terms[position];
        if (term < 0) fits = ~term === object;
        else if (binding[term] !== UNBOUND) fits = binding[term] === object;
        else {
          const slot = slots.find(({ index }) => index === term);
          fits = slot !== undefined && slot.type.contains[object] === 1;
          if (fits) {
            binding[term] = object;
            fresh.push(term);
          }
        }
      }
      if (fits) stopped = this.join(slots, body, used, binding, visit);
      for (const term of fresh) binding[term] = UNBOUND;
      fresh.length = 0;
    }
    used[chosen] = 0;
    return stopped;
  }

  /** The stretch of a predicate's table that can match: narrowed by the arguments known from the front. */
  private range(predicate: number, terms: readonly number[], binding: Int32Array): readonly [number, number] {
    const table = this.state[2 * predicate];
    let low = 0;
    let known = 0;
    for (const term of terms) {
      const object = term < 0 ? ~term : binding[term];
      if (object === UNBOUND) break;
      low = low * this.base + object;
      known++;
    }
    if (known === 0) return [0, table.length];
    const width = this.base ** (terms.length - known);
    return [lowerBound(table, low * width), lowerBound(table, (low + 1) * width)];
  }

  private isBound(free: readonly number[], binding: Int32Array): boolean {
    for (const slot of free) if (binding[slot] === UNBOUND) return false;
    return true;
  }

  private test(condition: Condition, binding: Int32Array): boolean {
    this.spend(1);
    const value = (term: number) => (term < 0 ? ~term : binding[term]);
    switch (condition.kind) {
      case 'atom': {
        let code = 0;
        for (const term of condition.terms) code = code * this.base + value(term);
        return includes(this.state[2 * condition.predicate], code) !== condition.negated;
      }
      case 'equal':
        return (value(condition.terms[0]) === value(condition.terms[1])) !== condition.negated;
      case 'exists':
        return this.each(condition.slots, condition.body, binding, () => true) !== condition.negated;
      case 'or':
        return condition.parts.some((part) => this.holds(part, binding));
    }
  }

  private spend(units: number): void {
    this.left -= units;
    if (this.left < 0) throw tooLarge(`its rules look at more than ${MAX_UNITS} conditions in one step`);
  }
}

export function tooLarge(problem: string): DreamError {
  return new DreamError(
    'game-too-large',
    `The game is too large: ${problem}.`,
    'Use a game with fewer objects, or with rules whose conditions name what they need.',
  );
}
