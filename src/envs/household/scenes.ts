/**
 * @file The kinds of rooms of each world size: which receptacles and objects they may hold, and how many.
 *
 * `small` is the embedded model's world, `medium` a fuller flat, `full` ALFWorld's own vocabulary in its four scenes.
 */

export type WorldSize = 'small' | 'medium' | 'full';
export const WORLD_SIZES: readonly WorldSize[] = ['small', 'medium', 'full'];

const words = (text: string): string[] => text.trim().split(/\s+/);

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
