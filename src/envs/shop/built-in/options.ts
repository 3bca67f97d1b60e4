/**
 * @file The lists that options are drawn from. A key may carry a second word that says whose list it is (`flavor tea`);
 * the option's name on the page is the part given here, as WebShop's pages name it (lower case).
 */

interface OptionList {
  name: string;
  /** All values in their natural order; a product offers some neighbouring or picked ones. */
  values: readonly string[];
  /** True when any subset makes sense (colours); false when a run of neighbours does (sizes). */
  scattered: boolean;
}

const run = (name: string, values: string): OptionList => ({ name, values: values.split(', '), scattered: false });
const some = (name: string, values: string): OptionList => ({ name, values: values.split(', '), scattered: true });

const volumes = '2 fl oz, 4 fl oz, 8 fl oz, 12 fl oz, 16 fl oz, 20 fl oz, 24 fl oz, 32 fl oz, 64 fl oz';
const beds = 'twin, twin xl, full, queen, king, california king';
const sizes = 'x-small, small, medium, large, x-large, xx-large, 3x-large';

export const OPTION_LISTS: Readonly<Record<string, OptionList>> = {
  color: some(
    'color',
    'black, white, navy, grey, dark green, sky blue, pink, red, beige, brown, purple, yellow, teal, coral, olive, burgundy, silver, mint, lavender, orange',
  ),
  scent: some(
    'scent',
    'unscented, rose, lemon grass, vanilla, sandalwood, mint, jasmine, cedar, orange blossom, ocean',
  ),
  volume: run('size', volumes),
  flavor: some('flavor name', 'cherry, mint, vanilla, coconut, mango, berry, unflavored, honey'),
  pack: run('pack', '1 pack, 2 pack, 3 pack, 4 pack, 6 pack, 8 pack, 12 pack'),
  plug: some('plug type', 'us plug, eu plug, uk plug, au plug'),
  pieces: run('piece count', '4 piece, 6 piece, 8 piece, 10 piece, 12 piece, 16 piece, 24 piece'),
  length: run('length', '1 ft, 3 ft, 6 ft, 10 ft, 15 ft'),
  model: some('model', 'phone 11, phone 12, phone 12 mini, phone 13, phone 13 pro, phone 14, phone 15, phone 15 plus'),
  screen: run('screen size', '8 inch, 10 inch, 11 inch, 13 inch'),
  hand: some('hand orientation', 'left handed, right handed, both hands'),
  capacity: run('capacity', '5000 mah, 10000 mah, 15000 mah, 20000 mah, 30000 mah'),
  band: run('band size', '38 mm, 40 mm, 42 mm, 44 mm, 46 mm'),
  clothes: run('size', sizes),
  waist: run('size', '26, 27, 28, 29, 30, 31, 32, 34, 36, 38'),
  belt: run('size', '28 inch, 30 inch, 32 inch, 34 inch, 36 inch, 38 inch, 40 inch'),
  metal: some('metal', 'gold tone, silver tone, rose gold tone, black steel'),
  chain: run('length', '14 inch, 16 inch, 18 inch, 20 inch, 24 inch'),
  'capacity bag': run('capacity', '15 liter, 20 liter, 25 liter, 30 liter, 35 liter'),
  shoe: run('size', '5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, 11, 12'),
  cups: run('capacity', '1 cup, 4 cup, 8 cup, 10 cup, 12 cup, 14 cup'),
  diameter: run('size', '6 inch, 8 inch, 10 inch, 12 inch, 14 inch'),
  compartments: run('compartments', '1 compartment, 2 compartments, 3 compartments, 4 compartments'),
  material: some('material', 'bamboo, acacia, walnut, plastic, rubber wood'),
  board: run('size', '9x6 inch, 12x8 inch, 15x10 inch, 18x12 inch'),
  tiers: run('style', '1 tier, 2 tier, 3 tier, 4 tier'),
  height: run('height', '24 inch, 26 inch, 28 inch, 30 inch'),
  table: run('size', '32 inch, 40 inch, 48 inch, 55 inch, 63 inch'),
  shelves: run('style', '3 shelf, 4 shelf, 5 shelf, 6 shelf'),
  seats: run('seats', '1 seat, 2 seats, 3 seats, 4 seats'),
  drawers: run('style', '1 drawer, 2 drawer, 3 drawer'),
  bed: run('size', beds),
  'screen tv': run('size', '43 inch, 50 inch, 55 inch, 65 inch, 75 inch'),
  ottoman: run('size', '15 inch cube, 30 inch bench, 43 inch bench, 60 inch bench'),
  firmness: some('firmness', 'soft, medium soft, medium firm, extra firm'),
  pillow: run('size', 'standard, queen, king, body'),
  blanket: run('size', '40x50 inch, 50x60 inch, 60x80 inch, 90x90 inch'),
  thickness: run('thickness', '1 inch, 2 inch, 3 inch, 4 inch'),
  panel: run('size', '36x72 inch, 52x63 inch, 52x84 inch, 52x96 inch, 72x72 inch'),
  rug: run('size', '2x3 ft, 3x5 ft, 4x6 ft, 5x7 ft, 8x10 ft, 9x12 ft'),
  'length hose': run('length', '25 ft, 50 ft, 75 ft, 100 ft'),
  light: some('light color', 'warm white, cool white, multicolor, amber'),
  'diameter umbrella': run('size', '7.5 ft, 9 ft, 10 ft, 11 ft'),
  'diameter fire': run('size', '22 inch, 26 inch, 30 inch, 36 inch'),
  'flavor nut': some(
    'flavor name',
    'almond, cashew, peanut butter, berry blast, tropical, maple pecan, cocoa, salted caramel',
  ),
  'flavor chocolate': some('flavor name', 'sea salt, hazelnut, orange zest, mint, raspberry, plain, espresso bean'),
  'flavor tea': some('flavor name', 'jasmine, lemon, ginger, plain, peach, mint, matcha'),
  bags: run('count', '20 bags, 40 bags, 80 bags, 100 bags'),
  roast: some('roast', 'light roast, medium roast, dark roast, decaf'),
  weight: run('size', '8 ounce, 12 ounce, 16 ounce, 32 ounce'),
  'flavor jerky': some('flavor name', 'original, teriyaki, peppered, sweet chili, smokehouse, garlic'),
  'flavor sauce': some('flavor name', 'basil, roasted garlic, four cheese, mushroom, arrabbiata, vodka'),
  flower: some('flavor name', 'wildflower, clover, orange blossom, acacia, buckwheat'),
  heat: some('heat', 'mild, medium hot, extra hot, ghost pepper'),
  pet: run('size', 'x-small, small, medium, large, x-large'),
  'height tree': run('height', '30 inch, 36 inch, 48 inch, 60 inch, 72 inch'),
  'length leash': run('length', '4 ft, 5 ft, 6 ft, 8 ft, 10 ft'),
  tank: run('tank size', '5 gallon, 10 gallon, 20 gallon, 40 gallon, 75 gallon'),
  'thickness mat': run('thickness', '3 mm, 4 mm, 6 mm, 8 mm, 10 mm'),
  load: run('weight', '2 lb, 5 lb, 8 lb, 10 lb, 15 lb, 20 lb'),
  people: run('capacity', '1 person, 2 person, 3 person, 4 person, 6 person'),
  season: some('season', 'summer, three season, winter'),
  head: run('size', 'kids, small, medium, large, x-large'),
  strength: run('resistance', 'light, medium, heavy, extra heavy'),
  'length rod': run('length', '5 ft, 6 ft, 7 ft, 8 ft, 9 ft'),
  lens: some('lens', 'clear lens, smoke lens, mirror lens, polarized lens'),
  theme: some('theme', 'ocean, space, dinosaurs, farm, castle, forest, city, pirates'),
  'pieces toy': run('piece count', '40 piece, 60 piece, 100 piece, 150 piece, 200 piece'),
  'pieces puzzle': run('piece count', '100 piece, 300 piece, 500 piece, 1000 piece, 2000 piece'),
  language: some('language', 'english, french, german, spanish'),
  players: run('players', '2 players, 4 players, 6 players, 8 players'),
  animal: some('animal', 'bear, rabbit, elephant, penguin, fox, owl, dragon, sloth'),
  toy: run('size', '8 inch, 12 inch, 16 inch, 24 inch'),
  scale: run('scale', '1:10, 1:14, 1:16, 1:18, 1:24'),
  case: some('case', 'wooden case, metal tin, zip pouch, paper box'),
  age: run('age', '4 years, 6 years, 8 years, 10 years, 12 years'),
  floors: run('style', '1 floor, 2 floors, 3 floors, 4 floors'),
  span: run('size', '30 inch, 48 inch, 60 inch, 80 inch'),
};
