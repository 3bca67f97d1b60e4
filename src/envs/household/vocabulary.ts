/**
 * @file What exists: object and receptacle types with their properties, and what each size of the world can name.
 *
 * Property tables are ALFRED's (alfworld/gen/constants.py: VAL_ACTION_OBJECTS, OPENABLE_CLASS_LIST).
 */

import { ALL_PORTABLE_TYPES, ALL_RECEPTACLE_TYPES, canContain } from './containment';
import { SCENES, WORLD_SIZES, type WorldSize } from './scenes';

export { canContain, SCENES, WORLD_SIZES, type WorldSize };

const words = (text: string): string[] => text.trim().split(/\s+/);

export interface ObjectType {
  readonly name: string;
  readonly pickupable: boolean;
  readonly heatable: boolean;
  readonly coolable: boolean;
  readonly cleanable: boolean;
  readonly toggleable: boolean;
  readonly sliceable: boolean;
  /** Cuts sliceable things. */
  readonly knife: boolean;
  /** A dish or box: ALFWorld's `isReceptacleObject`, which only changes the sentence `examine` gives. */
  readonly dish: boolean;
}

export interface ReceptacleType {
  readonly name: string;
  readonly openable: boolean;
}

const HEATABLE = new Set(words('apple bread cup egg mug plate potato tomato'));
const COOLABLE = new Set(words('apple bowl bread cup egg lettuce mug pan plate pot potato tomato winebottle'));
const CLEANABLE = new Set(
  words(`apple bowl butterknife cloth cup dishsponge egg fork kettle knife ladle lettuce mug pan plate pot potato soapbar
    spatula spoon tomato`),
);
const TOGGLEABLE = new Set(words('desklamp floorlamp'));
const SLICEABLE = new Set(words('apple bread egg lettuce potato tomato'));
const KNIFE = new Set(words('butterknife knife'));
const DISH = new Set(words('bowl box cup mug pan plate pot'));
const OPENABLE = new Set(words('cabinet drawer fridge microwave safe'));

/** Fixtures that can be looked at but not carried. */
const FIXED_TYPES = words('desklamp floorlamp houseplant');

function objectType(name: string): ObjectType {
  return {
    name,
    pickupable: !FIXED_TYPES.includes(name),
    heatable: HEATABLE.has(name),
    coolable: COOLABLE.has(name),
    cleanable: CLEANABLE.has(name),
    toggleable: TOGGLEABLE.has(name),
    sliceable: SLICEABLE.has(name),
    knife: KNIFE.has(name),
    dish: DISH.has(name),
  };
}

export const OBJECT_TYPES: ReadonlyMap<string, ObjectType> = new Map(
  [...ALL_PORTABLE_TYPES, ...FIXED_TYPES].sort().map((name) => [name, objectType(name)]),
);
export const RECEPTACLE_TYPES: ReadonlyMap<string, ReceptacleType> = new Map(
  ALL_RECEPTACLE_TYPES.map((name) => [name, { name, openable: OPENABLE.has(name) }]),
);

/** Where a state-changing action happens: `clean` at a sink basin, `heat` at a microwave, `cool` at a fridge. */
export const STATIONS = { clean: 'sinkbasin', heat: 'microwave', cool: 'fridge' } as const;

/** Lamps and plants are no one's to carry, so ALFRED's table does not say where they stand; these types hold them. */
const FIXTURE_CARRIERS: Readonly<Record<string, readonly string[]>> = {
  desklamp: words('desk dresser sidetable'),
  floorlamp: words('armchair coffeetable sidetable sofa'),
  houseplant: words('coffeetable countertop desk diningtable dresser shelf sidetable'),
};

/** Receptacle types on which an object of this type may be found at the start. */
export function mayStartIn(receptacleType: string, objectTypeName: string): boolean {
  const carriers = FIXTURE_CARRIERS[objectTypeName];
  return carriers === undefined ? canContain(receptacleType, objectTypeName) : carriers.includes(receptacleType);
}

/** Most objects of one type in a room, per size. Receptacles have their own limits in the scenes. */
export const MOST_COPIES: Readonly<Record<WorldSize, number>> = { small: 3, medium: 3, full: 4 };

/** All type names a size can mention, each list in alphabetical order: what a tokenizer has to know. */
export function vocabularyOf(size: WorldSize): {
  receptacles: { type: string; most: number }[];
  objects: { type: string; most: number }[];
} {
  const receptacles = new Map<string, number>();
  const objects = new Map<string, number>();
  for (const scene of SCENES[size]) {
    for (const [type, , most] of scene.receptacles) receptacles.set(type, Math.max(most, receptacles.get(type) ?? 0));
    for (const type of scene.objects) objects.set(type, MOST_COPIES[size]);
    for (const type of [...scene.lamps, ...scene.fixtures]) objects.set(type, 1);
  }
  const list = (map: Map<string, number>) =>
    [...map].map(([type, most]) => ({ type, most })).sort((a, b) => (a.type < b.type ? -1 : 1));
  return { receptacles: list(receptacles), objects: list(objects) };
}

/** Every entity name a size can mention, e.g. `cup 1`, in the order receptacles then objects. */
export function entityNames(size: WorldSize): string[] {
  const { receptacles, objects } = vocabularyOf(size);
  return [...receptacles, ...objects].flatMap(({ type, most }) =>
    Array.from({ length: most }, (_, i) => `${type} ${i + 1}`),
  );
}
