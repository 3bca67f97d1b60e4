/**
 * @file PDDL, as far as text games use it: types, constants, actions with quantifiers, conditional effects and equality.
 * Costs are read over; derived predicates, durations and numbers in conditions are refused.
 * Language: Fast Downward's subset of PDDL 2.2; case does not matter.
 */
import { ConditionReader, conjunctionOf, type Names, type Scope } from './conditions';
import { type Typed, typedNames, wordOf } from './declarations';
import { encode, type Logic, type ObjectSet, type Predicate, type Schema, type Slot } from './logic';
import { type Expression, excerpt, gameError, isList, type List, type Part, parseExpression } from './s-expressions';

const MAX_OBJECTS = 5000;
const MAX_TYPES = 1000;
const MAX_ALTERNATIVES = 16;
const MAX_FACTS = 200_000;
const MAX_ACTIONS = 500;
const MAX_PARAMETERS = 16;

/** The sections of a `(define …)`, by keyword, in order. */
function sections(root: List, part: Part, heading: string): [keyword: string, section: List][] {
  const [define, name, ...rest] = root.items;
  if (
    isList(define) ||
    define?.word !== 'define' ||
    !isList(name) ||
    isList(name.items[0]) ||
    name.items[0]?.word !== heading
  )
    throw gameError(part, root.line, `it does not begin with "(define (${heading} …"`);
  return rest.map((section) => {
    if (!isList(section)) throw gameError(part, section.line, `"${section.word}" is no section`);
    return [wordOf(section.items[0], part, section.line, 'the name of a section'), section];
  });
}

/** @throws DreamError `game-unreadable` naming the part, the line and the expression. */
export function readLogic(domainText: string, problemText: string): Logic {
  const domain = sections(parseExpression(domainText, 'domain'), 'domain', 'domain');
  const problem = sections(parseExpression(problemText, 'problem'), 'problem', 'problem');

  const parents = new Map<string, Set<string>>();
  const declared: [Typed, Part][] = [];
  const actionLists: List[] = [];
  for (const [keyword, section] of domain) {
    switch (keyword) {
      case ':types':
        for (const { name, types } of typedNames(section.items.slice(1), 'domain')) {
          const known = parents.get(name) ?? new Set<string>();
          for (const type of types) if (type !== name) known.add(type);
          parents.set(name, known);
        }
        break;
      case ':constants':
        for (const typed of typedNames(section.items.slice(1), 'domain')) declared.push([typed, 'domain']);
        break;
      case ':action':
        actionLists.push(section);
        break;
      case ':requirements':
      case ':predicates':
      case ':functions':
        break;
      default:
        throw gameError('domain', section.line, `sections "${keyword}" are not supported`);
    }
  }
  if (parents.size > MAX_TYPES) throw gameError('domain', 1, `it has more than ${MAX_TYPES} types`);
  if (actionLists.length > MAX_ACTIONS) throw gameError('domain', 1, `it has more than ${MAX_ACTIONS} actions`);

  const facts: List[] = [];
  let goal: Expression | undefined;
  for (const [keyword, section] of problem) {
    switch (keyword) {
      case ':objects':
        for (const typed of typedNames(section.items.slice(1), 'problem')) declared.push([typed, 'problem']);
        break;
      case ':init':
        for (const fact of section.items.slice(1)) {
          if (!isList(fact)) throw gameError('problem', fact.line, `"${fact.word}" is no fact`);
          facts.push(fact);
        }
        break;
      case ':goal':
        goal = section.items[1];
        break;
      case ':domain':
      case ':requirements':
      case ':metric':
        break;
      default:
        throw gameError('problem', section.line, `sections "${keyword}" are not supported`);
    }
  }
  if (goal === undefined) throw gameError('problem', 1, 'it has no goal');
  if (facts.length > MAX_FACTS) throw gameError('problem', 1, `it has more than ${MAX_FACTS} facts`);

  const { objects, objectTypes } = readObjects(declared);
  const objectIndex = new Map(objects.map((id, i) => [id, i]));
  const types = collectTypes(parents, objects, objectTypes);
  const predicates: Predicate[] = [];
  const predicateIndex = new Map<string, number>();
  const names: Names = {
    object: (id) => objectIndex.get(id),
    type: (alternatives, part, line) => unite(alternatives, types, objects.length, part, line),
    predicate(name, arity, part, line) {
      const known = predicateIndex.get(name);
      if (known === undefined) {
        if (objects.length ** arity > Number.MAX_SAFE_INTEGER)
          throw gameError(part, line, `"${name}" has too many arguments for ${objects.length} objects`);
        predicateIndex.set(name, predicates.length);
        predicates.push({ name, arity });
        return predicates.length - 1;
      }
      if (predicates[known].arity !== arity)
        throw gameError(part, line, `"${name}" takes ${predicates[known].arity} arguments, not ${arity}`);
      return known;
    },
  };

  const codes = readFacts(facts, names, objects);
  const schemas = actionLists.map((list) => readAction(list, names));
  const seen = new Set<string>();
  for (const [i, { name }] of schemas.entries()) {
    if (seen.has(name)) throw gameError('domain', actionLists[i].line, `the action "${name}" is defined twice`);
    seen.add(name);
  }
  const reader = new ConditionReader(names, 'problem');
  const goalCondition = reader.conjunction(goal, new Map(), false);
  const start = predicates.flatMap((_, p) => [[...(codes.get(p) ?? [])].sort((a, b) => a - b), []]);
  return {
    objects,
    objectTypes: objectTypes.map((list) => list[0]),
    predicates,
    predicateIndex,
    types,
    schemas,
    goal: goalCondition,
    goalSlotCount: reader.slotCount,
    start,
  };
}

function readObjects(declared: readonly [Typed, Part][]): { objects: string[]; objectTypes: (readonly string[])[] } {
  if (declared.length > MAX_OBJECTS) throw gameError('problem', 1, `it has more than ${MAX_OBJECTS} objects`);
  const byId = new Map<string, readonly string[]>();
  for (const [{ name, types, line }, part] of declared) {
    if (byId.has(name)) throw gameError(part, line, `the object "${name}" is declared twice`);
    byId.set(name, types);
  }
  const objects = [...byId.keys()].sort((a, b) => (a < b ? -1 : 1));
  return { objects, objectTypes: objects.map((id) => byId.get(id)!) };
}

/** Each type with its members; `object` is everything's ancestor, also where a domain declares it again. */
function collectTypes(
  parents: ReadonlyMap<string, ReadonlySet<string>>,
  objects: readonly string[],
  objectTypes: readonly (readonly string[])[],
): Map<string, ObjectSet> {
  const members = new Map<string, number[]>();
  for (const name of ['object', ...parents.keys()]) members.set(name, []);
  for (let i = 0; i < objects.length; i++) {
    const ancestors = new Set(['object']);
    const pending = [...objectTypes[i]];
    for (let type = pending.pop(); type !== undefined; type = pending.pop()) {
      if (ancestors.has(type) && type !== 'object') continue;
      ancestors.add(type);
      for (const parent of parents.get(type) ?? []) if (!ancestors.has(parent)) pending.push(parent);
    }
    for (const type of ancestors) {
      const list = members.get(type);
      if (list === undefined) members.set(type, [i]);
      else list.push(i);
    }
  }
  return new Map([...members].map(([name, list]) => [name, objectSet(list, objects.length)]));
}

function objectSet(members: readonly number[], objectCount: number): ObjectSet {
  const contains = new Uint8Array(objectCount);
  for (const member of members) contains[member] = 1;
  return { members, contains };
}

function unite(
  alternatives: readonly string[],
  types: ReadonlyMap<string, ObjectSet>,
  objectCount: number,
  part: Part,
  line: number,
): ObjectSet {
  if (alternatives.length > MAX_ALTERNATIVES)
    throw gameError(part, line, `a type has more than ${MAX_ALTERNATIVES} alternatives`);
  const sets = alternatives.map((name) => {
    const set = types.get(name);
    if (set === undefined) throw gameError(part, line, `the type "${name}" is not declared`);
    return set;
  });
  if (sets.length === 1) return sets[0];
  return objectSet(
    [...new Set(sets.flatMap(({ members }) => members))].sort((a, b) => a - b),
    objectCount,
  );
}

/** Codes of the true facts at the start, by predicate. Costs and negations add nothing. */
function readFacts(facts: readonly List[], names: Names, objects: readonly string[]): Map<number, Set<number>> {
  const codes = new Map<number, Set<number>>();
  for (const fact of facts) {
    const name = wordOf(fact.items[0], 'problem', fact.line, 'the name of a fact');
    if (name === '=' || name === 'not') continue;
    const arguments_ = fact.items.slice(1).map((item) => {
      const id = wordOf(item, 'problem', item.line, 'an object');
      const object = names.object(id);
      if (object === undefined)
        throw gameError('problem', item.line, `"${id}" in ${excerpt(fact)} is not a declared object`);
      return object;
    });
    const predicate = names.predicate(name, arguments_.length, 'problem', fact.line);
    const known = codes.get(predicate);
    const code = encode({ objects }, arguments_);
    if (known === undefined) codes.set(predicate, new Set([code]));
    else known.add(code);
  }
  return codes;
}

function readAction(list: List, names: Names): Schema {
  const name = wordOf(list.items[1], 'domain', list.line, 'the name of an action');
  const reader = new ConditionReader(names, 'domain');
  const fields = new Map<string, Expression>();
  for (let i = 2; i < list.items.length; i += 2) {
    const key = wordOf(list.items[i], 'domain', list.items[i].line, `a keyword of the action "${name}"`);
    const value = list.items[i + 1];
    if (value === undefined)
      throw gameError('domain', list.items[i].line, `"${key}" of the action "${name}" has no value`);
    if (key !== ':parameters' && key !== ':precondition' && key !== ':effect')
      throw gameError('domain', list.items[i].line, `"${key}" of the action "${name}" is not supported`);
    fields.set(key, value);
  }
  const declared = fields.get(':parameters');
  if (declared !== undefined && !isList(declared))
    throw gameError('domain', declared.line, `the parameters of "${name}" are no list`);
  const typed = typedNames(declared?.items ?? [], 'domain');
  if (typed.length > MAX_PARAMETERS)
    throw gameError('domain', list.line, `the action "${name}" has more than ${MAX_PARAMETERS} parameters`);
  const scope: Scope = new Map();
  const parameters: Slot[] = typed.map((entry) => reader.declare(entry.name, entry.types, entry.line, scope));
  const condition = fields.get(':precondition');
  const effect = fields.get(':effect');
  const compiled = {
    condition: condition === undefined ? conjunctionOf([]) : reader.conjunction(condition, scope, false),
    effects: effect === undefined ? [] : reader.effects(effect, scope),
  };
  const parameterNames = typed.map((entry) => entry.name.slice(1));
  return { name, parameters, names: parameterNames, slotCount: reader.slotCount, ...compiled };
}
