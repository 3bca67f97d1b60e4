/**
 * @file What the built-in shop sells: twelve departments of ten kinds of product, in our own words.
 *
 * One line a kind: `noun; plural used as the shelf's query; shelf; price from-to; options; traits; uses`. Options name
 * the lists of options.ts; traits become attributes (lower case, two words mostly, as in WebShop's items_ins files).
 */

export interface Kind {
  /** Department, WebShop's `category`. */
  category: string;
  noun: string;
  /** WebShop's `query`: which shelf the product was found on. */
  query: string;
  /** WebShop's `product_category`, parts joined by ` › `. */
  path: string;
  lowPrice: number;
  highPrice: number;
  optionLists: readonly string[];
  traits: readonly string[];
  uses: readonly string[];
}

interface Department {
  root: string;
  /** Traits any product of the department may have. */
  traits: string;
  kinds: string;
}

const DEPARTMENTS: Readonly<Record<string, Department>> = {
  beauty: {
    root: 'Beauty & Personal Care',
    traits: 'cruelty free, travel size, long lasting, easy to use',
    kinds: `
shampoo; shampoos; Hair Care; 6-32; scent, volume; sulfate free, paraben free, color safe, tea tree, argan oil; dry hair, oily scalp, curly hair
conditioner; hair conditioners; Hair Care; 6-30; scent, volume; silicone free, deep repair, coconut oil, keratin rich; damaged hair, fine hair, long hair
face cream; facial moisturizers; Skin Care; 9-60; volume; oil free, fragrance free, hyaluronic acid, vitamin c, anti aging; sensitive skin, dry skin, night care
body lotion; body lotions; Skin Care; 7-35; scent, volume; shea butter, fast absorbing, alcohol free, oat extract; dry skin, daily care, winter care
lip balm; lip balms; Lip Care; 3-15; flavor, pack; beeswax free, sun protection, tinted finish, natural ingredients; chapped lips, outdoor days, daily care
nail polish; nail polishes; Nail Care; 4-18; color, pack; quick drying, chip resistant, gel finish, non toxic; salon nails, festive nails, short nails
hair dryer; hair dryers; Styling Tools; 22-120; color, plug; ionic care, fold away, low noise, ceramic heat; thick hair, travel bags, hotel rooms
makeup brush set; makeup brushes; Makeup Tools; 8-45; color, pieces; synthetic bristles, wooden handle, soft bristles, easy clean; powder, eye shadow, foundation
perfume; perfumes; Fragrance; 18-130; scent, volume; floral notes, woody notes, alcohol free, fresh citrus; evenings, office days, summer days
shaving kit; shaving kits; Shaving; 14-75; color, pieces; stainless steel, non slip, skin friendly, double edge; sensitive skin, beginners, thick beards`,
  },
  electronics: {
    root: 'Electronics',
    traits: 'high speed, plug play, easy install, one year warranty',
    kinds: `
wireless earbuds; earbuds; Headphones; 18-160; color; noise cancelling, water resistant, long battery, touch control, deep bass; running, phone calls, commuting
headphones; over ear headphones; Headphones; 25-240; color; noise cancelling, fold away, memory foam, hands free, deep bass; studio work, gaming, flights
bluetooth speaker; portable speakers; Speakers; 15-190; color; stereo sound, water resistant, usb c, long battery; garden parties, showers, beach days
usb cable; usb cables; Cables; 5-25; color, length; fast charging, braided nylon, gold plated, usb c; tablets, cameras, car chargers
phone case; phone cases; Phone Accessories; 6-35; color, model; shock proof, slim fit, wireless charging, clear back; daily carry, climbers, kids
tablet stand; tablet stands; Tablet Accessories; 9-48; color, screen; aluminum alloy, non slip, height adjustable, fold away; kitchens, video calls, drawing
security camera; security cameras; Video Surveillance; 28-180; color, pieces; night vision, motion detection, weather proof, two way audio; porches, nurseries, garages
wireless mouse; computer mice; Computer Accessories; 9-70; color, hand; silent click, ergonomic design, long battery, high precision; gaming, spreadsheets, small hands
power bank; power banks; Chargers; 15-80; color, capacity; fast charging, slim design, usb c, digital display; camping, flights, festivals
smart watch; smart watches; Wearable Technology; 35-260; color, band; heart rate, water proof, sleep tracking, long battery; swimmers, runners, office workers`,
  },
  fashion: {
    root: 'Clothing & Jewelry',
    traits: 'machine wash, easy care, classic fit, imported fabric',
    kinds: `
t-shirt; men's t-shirts; Shirts; 8-35; color, clothes; cotton blend, short sleeve, crew neck, moisture wicking, quick drying; workouts, layering, weekends
dress; women's dresses; Dresses; 18-95; color, clothes; long sleeve, v neck, elastic waist, floral print, hand wash; weddings, summer days, office days
jeans; women's jeans; Trousers; 22-90; color, waist; high waist, straight leg, stretch denim, button closure; everyday wear, tall people, winter days
hoodie; men's hoodies; Sweaters; 19-80; color, clothes; fleece lining, drawstring closure, loose fit, front pocket; cold mornings, campus, training
rain jacket; rain jackets; Coats; 28-150; color, clothes; water proof, adjustable hood, wind proof, zip closure; hiking, cycling, city rain
socks; ankle socks; Socks; 6-28; color, pack; arch support, odor resistant, cotton blend, cushioned sole; runners, boots, nurses
swimsuit; women's swimsuits; Swimwear; 15-75; color, clothes; tummy control, quick drying, padded cups, wide straps; lap swimming, beach days, water parks
leather belt; belts; Accessories; 10-55; color, belt; genuine leather, reversible buckle, scratch resistant, hand stitched; suits, jeans, gifts
necklace; necklaces; Jewelry; 12-180; metal, chain; rose gold, nickel free, sterling silver, gift boxed; bridesmaids, mothers, birthdays
backpack; casual backpacks; Bags; 18-110; color, capacity bag; water resistant, laptop sleeve, padded straps, usb port; school, business trips, day hikes`,
  },
  shoes: {
    root: 'Shoes & Footwear',
    traits: 'non slip, rubber sole, easy clean, light weight',
    kinds: `
running shoes; running shoes; Athletic Shoes; 30-150; color, shoe; memory foam, arch support, breathable mesh, shock absorbing; road races, treadmills, flat feet
hiking boots; hiking boots; Boots; 45-190; color, shoe; water proof, ankle support, steel shank, insulated lining; rocky trails, snow, wide feet
loafers; loafers & slip-ons; Loafers; 25-110; color, shoe; genuine leather, memory foam, slip resistant, hand stitched; office days, driving, dinners
sandals; sandals; Sandals; 16-85; color, shoe; open toe, adjustable strap, arch support, cork footbed; beach days, wide feet, travel
slippers; slippers; Slippers; 10-45; color, shoe; faux fur, memory foam, indoor outdoor, anti static; cold floors, guests, recovery
high heels; pumps; Pumps; 22-120; color, shoe; pointed toe, block heel, ankle strap, padded insole; parties, weddings, interviews
rain boots; rain boots; Boots; 20-80; color, shoe; water proof, pull on, cotton lining, high shaft; gardening, mud, school runs
sneakers; fashion sneakers; Sneakers; 22-130; color, shoe; canvas upper, high top, lace up, vegan leather; skating, campus, city walks
work shoes; work shoes; Work Shoes; 35-140; color, shoe; steel toe, oil resistant, puncture proof, anti fatigue; kitchens, warehouses, nurses
ballet flats; flats; Flats; 15-70; color, shoe; fold away, round toe, elastic band, soft leather; commuting, dance class, handbags`,
  },
  kitchen: {
    root: 'Home & Kitchen',
    traits: 'dishwasher safe, bpa free, easy clean, space saving',
    kinds: `
water bottle; water bottles; Drinkware; 8-42; color, volume; leak proof, stainless steel, double wall, wide mouth; hiking, gym bags, desks
coffee maker; coffee makers; Small Appliances; 25-190; color, cups; programmable timer, auto shut off, reusable filter, keep warm; small kitchens, offices, espresso lovers
frying pan; frying pans; Cookware; 14-85; color, diameter; non stick, cast iron, induction ready, oven safe; eggs, steaks, pancakes
knife set; kitchen knives; Cutlery; 18-150; color, pieces; high carbon, full tang, rust resistant, wooden block; chefs, bread, fish
lunch box; lunch boxes; Food Storage; 9-40; color, compartments; leak proof, microwave safe, insulated sleeve, stackable design; school, salads, picnics
mixing bowl set; mixing bowls; Bakeware; 12-55; color, pieces; stainless steel, non slip, nesting design, airtight lids; baking, salads, marinating
electric kettle; electric kettles; Small Appliances; 18-95; color, volume; fast boiling, auto shut off, temperature control, cordless base; tea, noodles, dormitories
cutting board; cutting boards; Kitchen Tools; 8-50; material, board; juice groove, knife friendly, reversible design, non slip; meat, cheese, bread
spice rack; spice racks; Storage; 12-60; color, tiers; wall mounted, expandable design, rust resistant, non slip; cabinets, countertops, pantries
blender; blenders; Small Appliances; 24-180; color, volume; high power, ice crushing, low noise, detachable blades; smoothies, soups, baby food`,
  },
  furniture: {
    root: 'Home & Furniture',
    traits: 'easy assemble, heavy duty, space saving, scratch resistant',
    kinds: `
office chair; office chairs; Office Furniture; 60-420; color, height; lumbar support, height adjustable, mesh back, high density; long days, gamers, small desks
coffee table; coffee tables; Living Room Furniture; 45-350; color, table; solid wood, storage shelf, tempered glass, lift top; living room, studios, lounges
bookcase; bookcases; Living Room Furniture; 40-280; color, shelves; solid wood, open shelves, metal frame, wall anchored; living room, children, home offices
sofa; sofas; Living Room Furniture; 190-900; color, seats; wood frame, high density, removable covers, sleeper function; living room, small spaces, guests
bar stool; bar stools; Dining Furniture; 35-220; color, height; swivel seat, foot rest, faux leather, metal legs; kitchen islands, counters, bars
nightstand; nightstands; Bedroom Furniture; 30-190; color, drawers; usb port, solid wood, soft close, metal legs; bedrooms, nurseries, guest rooms
bed frame; bed frames; Bedroom Furniture; 90-600; color, bed; no box spring, wood slats, under storage, upholstered headboard; bedrooms, attics, guests
tv stand; tv stands; Living Room Furniture; 55-380; color, screen tv; cable management, open shelves, led lights, wood grain; living room, corners, game consoles
ottoman; ottomans; Living Room Furniture; 25-180; color, ottoman; hidden storage, faux leather, tufted top, high density; living room, hallways, toys
desk; writing desks; Office Furniture; 55-420; color, table; height adjustable, cable management, keyboard tray, steel frame; students, home offices, corners`,
  },
  bedding: {
    root: 'Home & Bedding',
    traits: 'machine washable, super soft, fade resistant, easy care',
    kinds: `
sheet set; sheet sets; Bedding; 20-120; color, bed; deep pocket, egyptian cotton, wrinkle free, cooling fabric; hot sleepers, guests, dormitories
comforter; comforters; Bedding; 28-190; color, bed; all season, down alternative, box stitched, reversible design; winter nights, guests, allergies
pillow; bed pillows; Bedding; 12-90; firmness, pillow; memory foam, hypo allergenic, cooling gel, removable cover; side sleepers, neck pain, travel
throw blanket; throw blankets; Bedding; 12-80; color, blanket; faux fur, flannel fleece, woven fringe, double sided; living room, picnics, gifts
mattress topper; mattress toppers; Bedding; 40-260; thickness, bed; memory foam, cooling gel, high density, ventilated design; back pain, guests, old mattresses
curtains; curtains; Window Treatments; 15-95; color, panel; light blocking, noise reducing, thermal insulated, rod pocket; bedrooms, living room, nurseries
duvet cover; duvet covers; Bedding; 20-130; color, bed; zip closure, egyptian cotton, corner ties, hotel quality; summer nights, guests, couples
bath towel set; bath towels; Bath; 14-75; color, pieces; quick drying, highly absorbent, turkish cotton, lint free; spas, guests, gyms
shower curtain; shower curtains; Bath; 9-45; color, panel; mildew resistant, water proof, weighted hem, hooks included; bathrooms, rentals, tubs
area rug; area rugs; Rugs; 25-320; color, rug; non shedding, stain resistant, hand woven, anti slip; living room, hallways, pets`,
  },
  garden: {
    root: 'Patio, Lawn & Garden',
    traits: 'weather resistant, heavy duty, easy install, rust proof',
    kinds: `
garden hose; garden hoses; Watering; 16-85; color, length hose; kink free, brass fittings, expandable design, leak proof; lawns, car washing, balconies
plant pot; planters; Planters; 8-70; color, diameter; drainage holes, glazed ceramic, self watering, frost proof; herbs, succulents, doorsteps
pruning shears; pruning tools; Hand Tools; 9-50; hand, pack; carbon steel, safety lock, non slip, spring action; roses, hedges, small hands
solar lights; solar lights; Outdoor Lighting; 14-80; light, pack; water proof, auto on, motion sensor, long lasting; pathways, fences, patios
patio umbrella; patio umbrellas; Patio Furniture; 38-210; color, diameter umbrella; uv protection, tilt function, crank handle, steel ribs; decks, pools, markets
bird feeder; bird feeders; Wildlife; 12-60; color, volume; squirrel proof, wide roof, easy refill, metal mesh; finches, windows, balconies
hammock; hammocks; Patio Furniture; 20-130; color, seats; quick drying, hand woven, tree straps, cotton rope; camping, porches, naps
raised garden bed; raised beds; Planters; 35-190; color, table; cedar wood, open bottom, galvanized steel, tool free; vegetables, strawberries, small yards
lawn chair; lawn chairs; Patio Furniture; 22-140; color, pack; fold away, cup holder, reclining back, quick drying; camping, concerts, pools
fire pit; fire pits; Outdoor Heating; 45-320; color, diameter fire; spark screen, smokeless burn, steel frame, log grate; evenings, camping, patios`,
  },
  grocery: {
    root: 'Grocery & Gourmet Food',
    traits: 'gluten free, non gmo, kosher certified, resealable bag',
    kinds: `
trail mix; trail mixes; Snacks; 6-35; flavor nut, pack; low sodium, protein rich, no sugar, dried fruit; hikes, offices, school
dark chocolate; chocolate bars; Sweets; 5-40; flavor chocolate, pack; fair trade, dairy free, low sugar, soy free; gifts, baking, desserts
green tea; green teas; Beverages; 6-38; flavor tea, bags; caffeine free, certified organic, loose leaf, antioxidant rich; mornings, cold brew, gifts
ground coffee; ground coffees; Beverages; 8-45; roast, weight; fair trade, single origin, low acid, certified organic; french press, drip machines, espresso
granola bars; granola bars; Snacks; 5-32; flavor nut, pack; high fiber, nut free, low calorie, whole grain; lunch boxes, runners, breakfast
olive oil; olive oils; Cooking; 9-60; volume, pack; cold pressed, extra virgin, certified organic, single origin; salads, frying, gifts
beef jerky; jerky; Snacks; 7-42; flavor jerky, pack; low carb, protein rich, no msg, grass fed; road trips, camping, keto diets
pasta sauce; pasta sauces; Cooking; 4-30; flavor sauce, pack; no sugar, low sodium, vegan friendly, slow cooked; quick dinners, pizza, lasagna
honey; honeys; Pantry; 7-48; flower, weight; raw unfiltered, single origin, squeeze bottle, certified organic; tea, baking, gifts
hot sauce; hot sauces; Pantry; 4-28; heat, pack; small batch, no sugar, keto friendly, smoked pepper; tacos, wings, gifts`,
  },
  pets: {
    root: 'Pet Supplies',
    traits: 'non toxic, easy clean, vet approved, heavy duty',
    kinds: `
dog bed; dog beds; Dogs; 18-140; color, pet; memory foam, removable cover, water proof, anti anxiety; old dogs, crates, puppies
cat tree; cat trees; Cats; 30-190; color, height tree; sisal rope, wall anchored, plush cover, hanging toy; kittens, large cats, apartments
dog leash; dog leashes; Dogs; 8-40; color, length leash; reflective thread, padded handle, shock absorbing, tangle free; night walks, hikes, training
cat litter box; litter boxes; Cats; 15-120; color, pet; odor control, high sides, fold away, scoop included; kittens, large cats, small spaces
dog treats; dog treats; Dogs; 5-32; flavor jerky, pack; grain free, single ingredient, dental care, low fat; training, puppies, small breeds
aquarium filter; aquarium filters; Fish; 12-90; tank, plug; low noise, energy saving, three stage, adjustable flow; goldfish, turtles, shrimps
bird cage; bird cages; Birds; 35-220; color, height tree; slide tray, powder coated, wide doors, rolling stand; parakeets, finches, cockatiels
pet carrier; pet carriers; Travel; 20-110; color, pet; airline approved, fold away, mesh windows, shoulder strap; flights, vet visits, hikes
grooming brush; grooming brushes; Grooming; 7-38; color, hand; self cleaning, stainless steel, massage tips, non slip; long hair, shedding, short hair
slow feeder bowl; pet bowls; Feeding; 8-36; color, pet; non slip, bpa free, maze design, dishwasher safe; fast eaters, puppies, wet food`,
  },
  sports: {
    root: 'Sports & Outdoors',
    traits: 'light weight, heavy duty, easy carry, water resistant',
    kinds: `
yoga mat; yoga mats; Exercise; 12-90; color, thickness mat; non slip, eco friendly, carry strap, extra wide; hot yoga, pilates, travel
dumbbell set; dumbbells; Strength Training; 18-260; color, load; neoprene coated, hex shape, anti roll, cast iron; home gyms, beginners, rehab
camping tent; tents; Camping; 45-380; color, people; water proof, quick setup, mesh windows, wind resistant; families, festivals, mountains
sleeping bag; sleeping bags; Camping; 25-180; color, season; compression sack, two way zip, cotton lining, extra wide; winter camping, children, hostels
bike helmet; bike helmets; Cycling; 22-130; color, head; led light, detachable visor, impact foam, ventilated design; commuting, children, mountain trails
resistance bands; resistance bands; Exercise; 9-50; color, strength; latex free, door anchor, anti snap, carry bag; rehab, pilates, travel
jump rope; jump ropes; Exercise; 6-35; color, length leash; ball bearing, tangle free, steel cable, foam handles; boxing, children, double unders
fishing rod; fishing rods; Fishing; 24-190; color, length rod; carbon fiber, telescopic design, saltwater ready, cork handle; trout, beginners, boats
swim goggles; swim goggles; Swimming; 8-45; color, lens; anti fog, uv protection, wide view, silicone seal; triathlons, children, lap swimming
climbing harness; climbing gear; Climbing; 38-140; color, clothes; padded waist, gear loops, quick buckle, breathable mesh; indoor walls, beginners, alpine routes`,
  },
  toys: {
    root: 'Toys & Games',
    traits: 'non toxic, battery free, easy store, gift ready',
    kinds: `
building blocks; building toys; Building Toys; 12-110; theme, pieces toy; magnetic tiles, rounded edges, storage box, wooden blocks; toddlers, classrooms, siblings
jigsaw puzzle; jigsaw puzzles; Puzzles; 8-45; theme, pieces puzzle; dust free, thick board, poster included, matte finish; families, seniors, rainy days
board game; board games; Games; 14-75; language, players; quick rules, cooperative play, travel size, wooden pieces; families, parties, couples
plush toy; plush toys; Stuffed Animals; 9-55; animal, toy; super soft, machine washable, embroidered eyes, hypo allergenic; babies, bedtime, collectors
remote control car; remote control toys; Vehicles; 18-140; color, scale; all terrain, rechargeable battery, high speed, shock absorbing; beginners, backyards, racing
art set; art supplies; Arts & Crafts; 10-70; pieces, case; washable colors, wooden case, acid free, beginner guide; classrooms, travel, gifts
play tent; play tents; Pretend Play; 20-95; color, theme; fold away, breathable mesh, tool free, carry bag; playrooms, garden parties, toddlers
science kit; science kits; Educational; 14-80; theme, age; safety goggles, step guide, reusable parts, stem learning; classrooms, birthdays, curious kids
doll house; doll houses; Dolls; 25-190; color, floors; solid wood, furniture included, led lights, smooth edges; playrooms, siblings, collectors
kite; kites; Outdoor Play; 8-40; color, span; easy launch, rip resistant, carry bag, long tail; beaches, beginners, festivals`,
  },
};

const list = (text: string): string[] => text.split(',').map((item) => item.trim());

let kinds: readonly Kind[] | null = null;

/** All kinds, in a fixed order: department by department. */
export function productKinds(): readonly Kind[] {
  kinds ??= readDepartments();
  return kinds;
}

function readDepartments(): Kind[] {
  return Object.entries(DEPARTMENTS).flatMap(([category, department]) =>
    department.kinds
      .trim()
      .split('\n')
      .map((line) => {
        const [noun, query, shelf, price, options, traits, uses] = line.split(';').map((part) => part.trim());
        const [lowPrice, highPrice] = price.split('-').map(Number);
        return {
          category,
          noun,
          query,
          path: `${department.root} › ${shelf} › ${query.replace(/(^|[ &-])([a-z])/g, (_, gap, c) => gap + c.toUpperCase())}`,
          lowPrice,
          highPrice,
          optionLists: list(options),
          traits: [...list(traits), ...list(department.traits)].filter((trait, i, all) => all.indexOf(trait) === i),
          uses: list(uses),
        };
      }),
  );
}
