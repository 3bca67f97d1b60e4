/** @file How PDDL declares names: `a b - c`, in lists of types, objects, parameters and quantified variables. */
import { type Expression, gameError, isList, type Part } from './s-expressions';

/** A name with its type, as `a b - c` declares them. */
export interface Typed {
  readonly name: string;
  readonly types: readonly string[];
  readonly line: number;
}

/** The word that must stand here. @throws DreamError `game-unreadable` */
export function wordOf(expression: Expression | undefined, part: Part, line: number, what: string): string {
  if (expression === undefined || isList(expression))
    throw gameError(part, expression?.line ?? line, `${what} is missing`);
  return expression.word;
}

/** `a b - c d` -> a: c, b: c, d: object. `- (either c e)` gives both types. */
export function typedNames(items: readonly Expression[], part: Part): Typed[] {
  const found: Typed[] = [];
  let untyped: { name: string; line: number }[] = [];
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    const name = wordOf(item, part, item.line, 'a name');
    if (name !== '-') {
      untyped.push({ name, line: item.line });
      continue;
    }
    const type = items[++i];
    const types =
      isList(type) && wordOf(type.items[0], part, type.line, '"either"') === 'either'
        ? type.items.slice(1).map((t) => wordOf(t, part, t.line, 'a type'))
        : [wordOf(type, part, item.line, 'the type after "-"')];
    for (const entry of untyped) found.push({ ...entry, types });
    untyped = [];
  }
  for (const entry of untyped) found.push({ ...entry, types: ['object'] });
  return found;
}
