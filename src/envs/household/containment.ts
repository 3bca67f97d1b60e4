/**
 * @file What may stand in or on what: the compatibility facts of ALFRED (alfworld/gen/constants.py,
 * VAL_RECEPTACLE_OBJECTS) for whole, unsliced objects, in ALFWorld's lower-case names.
 */

const words = (text: string): string[] => text.trim().split(/\s+/);

const FOOD_AND_DISHES = 'apple bowl bread cup egg glassbottle mug plate potato tomato';
const SEAT = 'basketball book box cellphone cloth creditcard keychain laptop newspaper pillow remotecontrol';
const WASHROOM =
  'candle cloth dishsponge papertowel soapbar soapbottle spraybottle tissuebox toiletpaper toiletpaperroll handtowel';
const BUREAU = `alarmclock basketball book bowl box candle cd cellphone cloth creditcard cup glassbottle keychain laptop
  mug newspaper pen pencil plate remotecontrol spraybottle statue tennisracket tissuebox toiletpaper toiletpaperroll vase
  watch wateringcan winebottle`;
const TABLE = `alarmclock apple baseballbat basketball book bowl box bread butterknife candle cd cellphone cloth
  creditcard cup dishsponge glassbottle egg fork kettle keychain knife ladle laptop lettuce mug newspaper pan papertowel
  pen pencil peppershaker plate pot potato remotecontrol saltshaker soapbar soapbottle spatula spoon spraybottle statue
  tennisracket tissuebox toiletpaper toiletpaperroll tomato vase watch wateringcan winebottle handtowel`;

const CONTAINMENT: Readonly<Record<string, readonly string[]>> = {
  armchair: words(SEAT),
  bathtubbasin: words('cloth dishsponge soapbar handtowel'),
  bed: words('baseballbat basketball book cellphone laptop newspaper pillow tennisracket'),
  cabinet: words(`book bowl box candle cd cloth cup dishsponge glassbottle kettle ladle mug newspaper pan peppershaker
    plate plunger pot saltshaker soapbar soapbottle spraybottle tissuebox toiletpaper toiletpaperroll vase wateringcan
    winebottle handtowel`),
  cart: words(`${WASHROOM} mug plunger statue vase`),
  coffeemachine: ['mug'],
  coffeetable: words(TABLE),
  countertop: words(TABLE),
  desk: words(`${BUREAU} soapbottle`),
  diningtable: words(TABLE),
  drawer:
    words(`book butterknife candle cd cellphone cloth creditcard dishsponge fork keychain knife ladle newspaper pen
    pencil peppershaker remotecontrol saltshaker soapbar soapbottle spatula spoon spraybottle tissuebox toiletpaper
    toiletpaperroll watch wateringcan handtowel`),
  dresser: words(BUREAU),
  fridge: words(`${FOOD_AND_DISHES} lettuce pan pot winebottle`),
  garbagecan:
    words(`apple bread cd cloth dishsponge egg lettuce newspaper papertowel pen pencil potato soapbar soapbottle
    spraybottle tissuebox toiletpaper toiletpaperroll tomato winebottle handtowel`),
  handtowelholder: ['handtowel'],
  laundryhamper: ['cloth'],
  microwave: words(FOOD_AND_DISHES),
  ottoman: words(SEAT),
  safe: words('cd cellphone creditcard keychain statue vase watch'),
  shelf: words(`alarmclock book bowl box candle cd cellphone cloth creditcard cup dishsponge glassbottle kettle keychain
    mug newspaper papertowel pen pencil peppershaker plate pot remotecontrol saltshaker soapbar soapbottle spraybottle
    statue tissuebox toiletpaper toiletpaperroll vase watch wateringcan winebottle handtowel`),
  sidetable: words(TABLE),
  sinkbasin: words(`apple bowl butterknife cloth cup dishsponge egg glassbottle fork kettle knife ladle lettuce mug pan
    plate pot potato soapbar spatula spoon tomato handtowel`),
  sofa: words(SEAT),
  stoveburner: words('kettle pan pot'),
  toaster: [],
  toilet: words(`${WASHROOM} newspaper`),
  toiletpaperhanger: words('toiletpaper toiletpaperroll'),
  towelholder: ['towel'],
  tvstand: ['tissuebox'],
};

const CONTAINMENT_SETS = new Map(Object.entries(CONTAINMENT).map(([type, objects]) => [type, new Set(objects)]));

/** True when ALFWorld lets an agent put an object of this type into a receptacle of that type. */
export function canContain(receptacleType: string, objectType: string): boolean {
  return CONTAINMENT_SETS.get(receptacleType)?.has(objectType) ?? false;
}

/** Every receptacle type of the full vocabulary, in alphabetical order. */
export const ALL_RECEPTACLE_TYPES: readonly string[] = Object.keys(CONTAINMENT).sort();

/** Every object type that can be carried, in alphabetical order. */
export const ALL_PORTABLE_TYPES: readonly string[] = [...new Set(Object.values(CONTAINMENT).flat())].sort();
