/** @file The shop's fixed data, from word lists of our own: products with reviews, customers, a year of orders. */
import { Random } from '../../household/random';
import { TODAY } from './calendar';
import { slugOf } from './layout';
import { type Person, people } from './people';

export interface Review {
  readonly id: number;
  readonly product: number;
  readonly author: string;
  readonly stars: number;
  readonly title: string;
  readonly text: string;
  readonly status: 'approved' | 'pending';
  readonly day: number;
}

export interface Product {
  readonly id: number;
  readonly name: string;
  readonly slug: string;
  readonly sku: string;
  readonly category: string;
  readonly brand: string;
  readonly colour: string;
  /** Cents. */
  readonly price: number;
  readonly stock: number;
  readonly enabled: boolean;
  readonly description: string;
}

export const ORDER_STATUSES = ['pending', 'processing', 'complete', 'canceled'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

export interface OrderLine {
  readonly product: number;
  readonly quantity: number;
  /** Cents each, when it was ordered. */
  readonly price: number;
}

export interface Order {
  readonly id: number;
  readonly customer: number;
  readonly day: number;
  readonly status: OrderStatus;
  readonly lines: readonly OrderLine[];
  readonly address: string;
  readonly comments: readonly string[];
}

export const CATEGORIES = ['Kitchen', 'Garden', 'Office', 'Lighting', 'Bags', 'Outdoor', 'Audio', 'Toys'] as const;

const KINDS: Record<(typeof CATEGORIES)[number], readonly string[]> = {
  Kitchen: ['Kettle', 'Mug', 'Chopping Board', 'Storage Jar', 'Whisk'],
  Garden: ['Watering Can', 'Hand Trowel', 'Plant Pot', 'Seed Tray', 'Garden Hose'],
  Office: ['Notebook', 'Desk Organizer', 'Fountain Pen', 'Stapler', 'Paper Tray'],
  Lighting: ['Desk Lamp', 'Floor Lamp', 'Lantern', 'String Lights', 'Night Light'],
  Bags: ['Backpack', 'Tote Bag', 'Messenger Bag', 'Duffle Bag', 'Lunch Bag'],
  Outdoor: ['Sleeping Bag', 'Camp Stove', 'Water Bottle', 'Folding Chair', 'Rain Poncho'],
  Audio: ['Headphones', 'Speaker', 'Microphone', 'Record Brush', 'Cable Set'],
  Toys: ['Puzzle', 'Wooden Train', 'Kite', 'Marble Run', 'Yo-Yo'],
};
const BRANDS = ['Alder & Co', 'Brightwell', 'Cobalt Works', 'Dunmore', 'Everline', 'Fennick'];
const COLOURS = ['Black', 'Blue', 'Green', 'Red', 'White', 'Yellow'];
const QUALITIES = ['durable', 'lightweight', 'easy to clean', 'made of recycled material', 'compact', 'hand finished'];
const PRAISE = ['works exactly as described', 'feels sturdy', 'is a pleasure to use', 'was a good gift'];
const COMPLAINTS = ['broke after a week', 'is smaller than expected', 'arrived with scratches', 'has a strong smell'];

const random = new Random('web/shop');

export const CUSTOMERS: readonly Person[] = people(24, 'web/shop/customers');
/** The person the agent acts for in the shop. */
export const SHOPPER = CUSTOMERS[0];
export const SHOPPER_PASSWORD = 'lantern-42';
export const ADMIN_PASSWORD = 'harbour-7';
export const SHOPPER_ADDRESS = '12 Quay Street, Port Lyra, 41007';

export const PRODUCTS: readonly Product[] = CATEGORIES.flatMap((category) =>
  KINDS[category].flatMap((kind) => {
    const brands = random.shuffle([...BRANDS]).slice(0, 3);
    return brands.map((brand) => ({ category, kind, brand }));
  }),
).map(({ category, kind, brand }, index) => {
  const colour = random.pick(COLOURS);
  const name = `${brand} ${colour} ${kind}`;
  const [first, second] = random.shuffle([...QUALITIES]);
  return {
    id: index + 1,
    name,
    slug: slugOf(name),
    sku: `${category.slice(0, 2).toUpperCase()}-${String(1000 + index * 7)}`,
    category,
    brand,
    colour,
    price: random.between(3, 120) * 100 + random.pick([0, 50, 95, 99]),
    stock: random.chance(0.12) ? 0 : random.between(1, 90),
    enabled: true,
    description: `A ${colour.toLowerCase()} ${kind.toLowerCase()} by ${brand}: ${first} and ${second}.`,
  };
});

export const REVIEWS: readonly Review[] = PRODUCTS.flatMap((product) =>
  Array.from({ length: random.int(5) }, () => ({ product })),
).map(({ product }, index) => {
  const stars = random.between(1, 5);
  const opinion = stars >= 3 ? random.pick(PRAISE) : random.pick(COMPLAINTS);
  return {
    id: index + 1,
    product: product.id,
    author: random.pick(CUSTOMERS).name,
    stars,
    title: stars >= 4 ? 'Very happy' : stars === 3 ? 'It is all right' : 'Disappointed',
    text: `The ${product.name} ${opinion}.`,
    status: random.chance(0.15) ? 'pending' : 'approved',
    day: TODAY - random.between(1, 360),
  };
});

/** Order numbers rise with the date, as in a real shop. */
export const ORDERS: readonly Order[] = Array.from({ length: 90 }, () => TODAY - random.between(1, 365))
  .sort((a, b) => a - b)
  .map((day, index) => {
    // Every fourth order is the shopper's, so that there is a history to ask about.
    const customer = index % 4 === 1 ? SHOPPER : random.pick(CUSTOMERS.slice(1));
    const lines = random.shuffle([...PRODUCTS]).slice(0, random.between(1, 3));
    const age = TODAY - day;
    const status: OrderStatus = random.chance(0.2)
      ? 'canceled'
      : age > 60
        ? 'complete'
        : random.pick(['pending', 'processing', 'complete'] as const);
    return {
      id: 100 + index,
      customer: customer.id,
      day,
      status,
      lines: lines.map((product) => ({ product: product.id, quantity: random.between(1, 3), price: product.price })),
      address:
        customer === SHOPPER
          ? SHOPPER_ADDRESS
          : `${random.between(1, 99)} Mill Lane, Port Lyra, 410${random.between(10, 30)}`,
      comments: [],
    };
  });

/** Searches people made this month, most frequent first. */
export const SEARCH_TERMS: readonly (readonly [string, number])[] = ['lamp', 'backpack', 'kettle', 'notebook', 'kite']
  .map((term, index) => [term, 61 - index * 9 - random.int(6)] as const)
  .sort((a, b) => b[1] - a[1]);

export const customerById = (id: number): Person => CUSTOMERS[id - 1];
export const totalOf = (order: Order): number => order.lines.reduce((sum, line) => sum + line.quantity * line.price, 0);
export const money = (cents: number): string => `$${(cents / 100).toFixed(2)}`;
