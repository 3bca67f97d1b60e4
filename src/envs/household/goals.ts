/**
 * @file The six ALFWorld task families: their sentences, how to read them back, and what makes one feasible.
 * Templates and goal conditions: alfworld/gen/goal_library.py.
 */
import type { Room } from './rooms';
import { canContain, OBJECT_TYPES, STATIONS } from './vocabulary';

export const FAMILIES = [
  'pick_and_place_simple',
  'look_at_obj_in_light',
  'pick_clean_then_place_in_recep',
  'pick_heat_then_place_in_recep',
  'pick_cool_then_place_in_recep',
  'pick_two_obj_and_place',
] as const;
export type Family = (typeof FAMILIES)[number];

export interface Goal {
  readonly family: Family;
  /** Object type, e.g. `cup`. */
  readonly object: string;
  /** Receptacle type; absent only for `look_at_obj_in_light`. */
  readonly receptacle?: string;
  /** Lamp type; only for `look_at_obj_in_light`. */
  readonly toggle?: string;
}

/** Two sentences per family, exactly ALFWorld's, without the full stop. */
export const TEMPLATES: Readonly<Record<Family, readonly [string, string]>> = {
  pick_and_place_simple: ['put a {obj} in {recep}', 'put some {obj} on {recep}'],
  look_at_obj_in_light: ['look at {obj} under the {toggle}', 'examine the {obj} with the {toggle}'],
  pick_clean_then_place_in_recep: ['put a clean {obj} in {recep}', 'clean some {obj} and put it in {recep}'],
  pick_heat_then_place_in_recep: ['put a hot {obj} in {recep}', 'heat some {obj} and put it in {recep}'],
  pick_cool_then_place_in_recep: ['put a cool {obj} in {recep}', 'cool some {obj} and put it in {recep}'],
  pick_two_obj_and_place: ['put two {obj} in {recep}', 'find two {obj} and put them in {recep}'],
};

/** What has to be done to the object on its way, or null. */
export function treatmentOf(family: Family): 'clean' | 'heat' | 'cool' | null {
  switch (family) {
    case 'pick_clean_then_place_in_recep':
      return 'clean';
    case 'pick_heat_then_place_in_recep':
      return 'heat';
    case 'pick_cool_then_place_in_recep':
      return 'cool';
    default:
      return null;
  }
}

export function instructionOf(goal: Goal, template: 0 | 1 = 0): string {
  return TEMPLATES[goal.family][template]
    .replace('{obj}', goal.object)
    .replace('{recep}', goal.receptacle ?? '')
    .replace('{toggle}', goal.toggle ?? '');
}

const PATTERNS = FAMILIES.flatMap((family) =>
  TEMPLATES[family].map((template) => ({ family, words: template.split(' ') })),
);

/** The goal an instruction states, for every template (a final full stop is forgiven); null when it is none of them. */
export function parseInstruction(text: string): Goal | null {
  const words = text
    .trim()
    .replace(/\s*\.$/, '')
    .split(/\s+/);
  for (const pattern of PATTERNS) {
    if (pattern.words.length !== words.length) continue;
    const slots: Record<string, string> = {};
    const fits = pattern.words.every((word, i) => {
      if (!word.startsWith('{')) return word === words[i];
      slots[word] = words[i];
      return true;
    });
    if (!fits) continue;
    const object = slots['{obj}'];
    if (pattern.family === 'look_at_obj_in_light') return { family: pattern.family, object, toggle: slots['{toggle}'] };
    return { family: pattern.family, object, receptacle: slots['{recep}'] };
  }
  return null;
}

/** One string per goal: equal goals, equal keys. */
export function goalKey(goal: Goal): string {
  return `${goal.family} ${goal.object} ${goal.receptacle ?? goal.toggle ?? ''}`;
}

function count(types: readonly string[], wanted: string): number {
  let n = 0;
  for (const type of types) if (type === wanted) n++;
  return n;
}

/** True when the goal can be reached from the room's start, and is not reached there already. */
export function isFeasible(room: Room, goal: Goal): boolean {
  const kind = OBJECT_TYPES.get(goal.object);
  if (kind === undefined || !kind.pickupable) return false;
  const copies = count(room.objectTypes, goal.object);
  if (copies < (goal.family === 'pick_two_obj_and_place' ? 2 : 1)) return false;
  if (goal.family === 'look_at_obj_in_light') {
    const toggle = goal.toggle ?? '';
    return OBJECT_TYPES.get(toggle)?.toggleable === true && room.objectTypes.includes(toggle);
  }
  const place = goal.receptacle ?? '';
  if (!room.receptacleTypes.includes(place) || !canContain(place, goal.object)) return false;
  const treatment = treatmentOf(goal.family);
  if (treatment !== null) {
    const able = { clean: kind.cleanable, heat: kind.heatable, cool: kind.coolable }[treatment];
    return able && room.receptacleTypes.includes(STATIONS[treatment]);
  }
  return !solvedAtStart(room, goal);
}

/** Only the two families without a treatment can be solved before the first step. */
function solvedAtStart(room: Room, goal: Goal): boolean {
  const needed = goal.family === 'pick_two_obj_and_place' ? 2 : 1;
  const found = new Map<number, number>();
  for (let o = 0; o < room.objectTypes.length; o++) {
    const at = room.startAt[o];
    if (room.objectTypes[o] !== goal.object || room.receptacleTypes[at] !== goal.receptacle) continue;
    const here = (found.get(at) ?? 0) + 1;
    if (here >= needed) return true;
    found.set(at, here);
  }
  return false;
}

const feasibleCache = new WeakMap<Room, ReadonlyMap<Family, readonly Goal[]>>();

/** Every feasible goal of a room, by family, in a fixed order; families without one are absent. */
export function feasibleGoals(room: Room): ReadonlyMap<Family, readonly Goal[]> {
  const known = feasibleCache.get(room);
  if (known !== undefined) return known;
  const objects = [...new Set(room.objectTypes)];
  const receptacles = [...new Set(room.receptacleTypes)];
  const goals = new Map<Family, readonly Goal[]>();
  for (const family of FAMILIES) {
    const candidates: Goal[] = objects.flatMap((object) =>
      family === 'look_at_obj_in_light'
        ? objects.map((toggle): Goal => ({ family, object, toggle }))
        : receptacles.map((receptacle): Goal => ({ family, object, receptacle })),
    );
    const feasible = candidates.filter((goal) => isFeasible(room, goal));
    if (feasible.length > 0) goals.set(family, feasible);
  }
  feasibleCache.set(room, goals);
  return goals;
}
