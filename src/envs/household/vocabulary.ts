/**
 * @file What exists: object and receptacle types with their properties, and the three sizes of the world.
 *
 * `small` is the embedded model's world, `medium` a fuller flat, `full` ALFWorld's own vocabulary in its four kinds of
 * scene. Property tables are ALFRED's (alfworld/gen/constants.py: VAL_ACTION_OBJECTS, OPENABLE_CLASS_LIST).
 */
import { ALL_PORTABLE_TYPES, ALL_RECEPTACLE_TYPES, canContain } from './containment';

export { canContain };

export type WorldSize = 'small' | 'medium' | 'full';
export const WORLD_SIZES: readonly WorldSize[] = ['small', 'medium', 'full'];

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

/** One kind of room: which receptacles (with least and greatest number) and which objects it may hold. */
export interface Scene {
  readonly name: string;
  readonly receptacles: readonly (readonly [type: string, least: number, most: number])[];
  /** At least one of these must exist (the lamp has to stand somewhere); empty when the scene has no lamp. */
  readonly lampCarriers: readonly string[];
  readonly lamps: readonly string[];
  readonly objects: readonly string[];
  readonly fixtures: readonly string[];
  /** Number of receptacles and of objects in a room, least and greatest. */
  readonly receptacleCount: readonly [number, number];
  readonly objectCount: readonly [number, number];
  /** Share of cabinets and drawers that cannot be opened, as in ALFWorld's data. */
  readonly fixedFrontShare: number;
}

const SMALL: Scene = {
  name: 'studio',
  receptacles: [
    ['cabinet', 0, 3],
    ['countertop', 0, 2],
    ['desk', 0, 2],
    ['diningtable', 0, 1],
    ['drawer', 0, 3],
    ['dresser', 0, 1],
    ['fridge', 1, 1],
    ['garbagecan', 0, 1],
    ['microwave', 1, 1],
    ['shelf', 0, 3],
    ['sidetable', 0, 2],
    ['sinkbasin', 1, 1],
  ],
  lampCarriers: words('desk dresser sidetable'),
  lamps: ['desklamp'],
  objects: words(
    'apple book bowl bread cloth cup egg fork keychain knife lettuce mug pan pen plate potato soapbar tomato watch',
  ),
  fixtures: [],
  receptacleCount: [8, 12],
  objectCount: [8, 13],
  fixedFrontShare: 0,
};

const MEDIUM: Scene = {
  name: 'flat',
  receptacles: [
    ['armchair', 0, 1],
    ['bed', 0, 1],
    ['cabinet', 1, 4],
    ['coffeemachine', 0, 1],
    ['coffeetable', 0, 1],
    ['countertop', 1, 2],
    ['desk', 0, 2],
    ['diningtable', 0, 1],
    ['drawer', 1, 4],
    ['dresser', 0, 1],
    ['fridge', 1, 1],
    ['garbagecan', 0, 1],
    ['microwave', 1, 1],
    ['safe', 0, 1],
    ['shelf', 0, 3],
    ['sidetable', 0, 2],
    ['sinkbasin', 1, 1],
    ['sofa', 0, 1],
    ['stoveburner', 0, 2],
    ['toilet', 0, 1],
  ],
  lampCarriers: words('desk dresser sidetable'),
  lamps: ['desklamp'],
  objects:
    words(`alarmclock apple book bowl bread butterknife candle cd cellphone cloth creditcard cup dishsponge egg fork
    kettle keychain knife lettuce mug newspaper pan pen pencil peppershaker pillow plate pot potato remotecontrol saltshaker
    soapbar spatula spoon spraybottle tomato vase watch winebottle`),
  fixtures: [],
  receptacleCount: [12, 18],
  objectCount: [14, 22],
  fixedFrontShare: 0,
};

const FULL: readonly Scene[] = [
  {
    name: 'kitchen',
    receptacles: [
      ['cabinet', 4, 10],
      ['coffeemachine', 1, 1],
      ['countertop', 1, 3],
      ['diningtable', 0, 1],
      ['drawer', 2, 8],
      ['fridge', 1, 1],
      ['garbagecan', 1, 1],
      ['microwave', 1, 1],
      ['shelf', 0, 3],
      ['sidetable', 0, 1],
      ['sinkbasin', 1, 1],
      ['stoveburner', 4, 4],
      ['toaster', 1, 1],
    ],
    lampCarriers: [],
    lamps: [],
    objects:
      words(`apple book bowl bread butterknife cellphone creditcard cup dishsponge egg fork glassbottle kettle knife
      ladle lettuce mug pan papertowel peppershaker plate pot potato saltshaker soapbottle spatula spoon statue tomato vase
      winebottle`),
    fixtures: ['houseplant'],
    receptacleCount: [20, 30],
    objectCount: [20, 34],
    fixedFrontShare: 0.1,
  },
  {
    name: 'livingroom',
    receptacles: [
      ['armchair', 0, 2],
      ['cabinet', 0, 4],
      ['coffeetable', 1, 1],
      ['diningtable', 0, 1],
      ['drawer', 0, 5],
      ['dresser', 0, 1],
      ['garbagecan', 1, 1],
      ['ottoman', 0, 1],
      ['safe', 0, 1],
      ['shelf', 0, 6],
      ['sidetable', 1, 2],
      ['sofa', 1, 1],
      ['tvstand', 0, 1],
    ],
    lampCarriers: words('dresser sidetable'),
    lamps: words('desklamp floorlamp'),
    objects:
      words(`basketball book bowl box candle cd cellphone creditcard keychain laptop newspaper pen pencil pillow plate
      remotecontrol statue tissuebox vase watch wateringcan`),
    fixtures: ['houseplant'],
    receptacleCount: [9, 18],
    objectCount: [12, 22],
    fixedFrontShare: 0.1,
  },
  {
    name: 'bedroom',
    receptacles: [
      ['armchair', 0, 1],
      ['bed', 1, 1],
      ['desk', 1, 2],
      ['drawer', 2, 8],
      ['dresser', 0, 1],
      ['garbagecan', 1, 1],
      ['laundryhamper', 0, 1],
      ['safe', 0, 1],
      ['shelf', 0, 6],
      ['sidetable', 0, 2],
    ],
    lampCarriers: words('desk dresser sidetable'),
    lamps: ['desklamp'],
    objects:
      words(`alarmclock baseballbat basketball book bowl box cd cellphone cloth creditcard keychain laptop mug pen
      pencil pillow remotecontrol statue tennisracket tissuebox vase watch`),
    fixtures: [],
    receptacleCount: [9, 18],
    objectCount: [12, 22],
    fixedFrontShare: 0.1,
  },
  {
    name: 'bathroom',
    receptacles: [
      ['bathtubbasin', 0, 1],
      ['cabinet', 2, 4],
      ['cart', 0, 1],
      ['countertop', 1, 1],
      ['drawer', 0, 4],
      ['garbagecan', 1, 1],
      ['handtowelholder', 1, 2],
      ['shelf', 0, 2],
      ['sinkbasin', 1, 2],
      ['toilet', 1, 1],
      ['toiletpaperhanger', 1, 1],
      ['towelholder', 1, 1],
    ],
    lampCarriers: [],
    lamps: [],
    objects:
      words(`candle cloth dishsponge handtowel papertowel plunger soapbar soapbottle spraybottle tissuebox toiletpaper
      toiletpaperroll towel`),
    fixtures: [],
    receptacleCount: [10, 16],
    objectCount: [9, 16],
    fixedFrontShare: 0.1,
  },
];

export const SCENES: Readonly<Record<WorldSize, readonly Scene[]>> = { small: [SMALL], medium: [MEDIUM], full: FULL };

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
