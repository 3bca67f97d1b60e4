/** @file Task templates of the shop. */
import { Random } from '../../household/random';
import { href } from '../site';
import { slugOf } from '../sites/layout';
import { SHOP_HOST, sortProducts } from '../sites/shop';
import { CATEGORIES, money, type Order, PRODUCTS, type Product, SHOPPER, totalOf } from '../sites/shop-data';
import { initialShop, ordersOf, reviewsOf } from '../sites/shop-state';
import { asked, at, changed, submit, type Template, target } from './template';

const ROOT = `http://${SHOP_HOST}`;
const url = (path: string): string => ROOT + path;
const random = new Random('web/tasks/shop');
const SHOP = initialShop(true);
const pick = (count: number, test: (product: Product) => boolean = () => true): Product[] =>
  random.sample(PRODUCTS.filter(test), count);

/** From the front page through the search to a product. */
const toProduct = (product: Product): string[] => [
  url('/'),
  url(href('/search', { q: product.name })),
  url(`/product/${product.slug}`),
];
const places = (list: readonly string[]) => list.map(at);

const orders = ordersOf(SHOP, SHOPPER.id);
const ordersPage = (order: Order): string[] => {
  const page = Math.floor(orders.indexOf(order) / 10) + 1;
  return [
    url('/account'),
    ...Array.from({ length: page }, (_, index) => url(href('/account/orders', { p: index === 0 ? '' : index + 1 }))),
  ];
};
const toOrder = (order: Order): string[] => [url('/'), ...ordersPage(order), url(`/account/orders/${order.id}`)];
const dollars = (cents: number): string => (cents / 100).toFixed(2);

const STREETS = [
  '4 Tower Hill, Port Lyra, 41015',
  '77 Canal Walk, Port Lyra, 41021',
  '9 Castle Road, Port Lyra, 41012',
  '31 Orchard Way, Port Lyra, 41028',
];

export const SHOP_TEMPLATES: readonly Template[] = [
  {
    id: 'shop_price',
    site: 'shopping',
    intent: 'What is the price of the {{product}}?',
    instances: pick(6).map((product) =>
      asked(
        { product: product.name },
        { must_include: [dollars(product.price)] },
        money(product.price),
        toProduct(product),
      ),
    ),
  },
  {
    id: 'shop_cheapest',
    site: 'shopping',
    intent: 'What is the name of the cheapest product in the {{category}} category?',
    instances: CATEGORIES.flatMap((category) => {
      const listed = sortProducts(
        SHOP,
        PRODUCTS.filter((product) => product.category === category),
        'price',
        '',
      );
      if (listed[0].price === listed[1].price) return [];
      const path = `/category/${slugOf(category)}`;
      const way = [url('/'), url(path), url(href(path, { order: 'price' }))];
      return [asked({ category }, { must_include: [listed[0].name] }, listed[0].name, way)];
    }),
  },
  {
    id: 'shop_reviews',
    site: 'shopping',
    intent: 'How many reviews does the {{product}} have? Answer with a number only.',
    instances: pick(6, (product) => reviewsOf(SHOP, product.id).length > 0).map((product) => {
      const count = String(reviewsOf(SHOP, product.id).length);
      return asked({ product: product.name }, { exact_match: count }, count, toProduct(product));
    }),
  },
  {
    id: 'shop_order_status',
    site: 'shopping',
    intent: 'What is the status of my order #{{order}}?',
    instances: random
      .shuffle([...orders])
      .slice(0, 6)
      .map((order) =>
        asked({ order: String(order.id) }, { must_include: [order.status] }, order.status, toOrder(order)),
      ),
  },
  {
    id: 'shop_latest_total',
    site: 'shopping',
    intent: 'What is the grand total of my most recent {{status}} order?',
    instances: (['complete', 'canceled', 'pending', 'processing'] as const).flatMap((status) => {
      const latest = orders.find((order) => order.status === status);
      if (latest === undefined) return [];
      return [asked({ status }, { must_include: [dollars(totalOf(latest))] }, money(totalOf(latest)), toOrder(latest))];
    }),
  },
  {
    id: 'shop_sorted',
    site: 'shopping',
    intent: 'Show me the {{category}} category with the most expensive products first',
    instances: CATEGORIES.slice(0, 6).map((category) => {
      const path = `/category/${slugOf(category)}`;
      const sorted = url(href(path, { order: 'price', dir: 'desc' }));
      return {
        values: { category },
        success: { url: sorted },
        way: [url('/'), url(path), url(href(path, { order: 'price' })), sorted].map(at),
        answer: '',
      };
    }),
  },
  {
    id: 'shop_wishlist',
    site: 'shopping',
    intent: 'Add the {{product}} to my wish list',
    instances: pick(5).map((product) =>
      changed(
        { product: product.name },
        [target(url('/account/wishlist'), '.wishlist', { must_include: [product.name] })],
        [
          ...places(toProduct(product)),
          submit('/wishlist/add', { product: String(product.id) }, (state) => state.shop.wishlist.includes(product.id)),
        ],
      ),
    ),
  },
  {
    id: 'shop_buy',
    site: 'shopping',
    intent: 'Order {{quantity}} pieces of the {{product}} to my address',
    instances: pick(5, (product) => product.stock > 5).map((product, index) => {
      const quantity = String(2 + (index % 3));
      return changed(
        { product: product.name, quantity },
        [
          target('func:shopping_get_latest_order_url()', '.order-items', {
            must_include: [product.name, `\t${quantity}\t${money(product.price)}`],
          }),
          target('func:shopping_get_latest_order_url()', '.status', { exact_match: 'pending' }),
        ],
        [
          ...places(toProduct(product)),
          submit('/cart/add', { product: String(product.id), quantity }, (state) =>
            state.shop.cart.some((line) => line.product === product.id),
          ),
          at(url('/cart')),
          submit('/checkout', {}, (state) => state.shop.orders.length > SHOP.orders.length),
        ],
      );
    }),
  },
  {
    id: 'shop_address',
    site: 'shopping',
    intent: 'Change my address to "{{address}}"',
    instances: STREETS.map((address) =>
      changed(
        { address },
        [target(url('/account'), 'span.address', { exact_match: address })],
        [
          ...places([url('/'), url('/account'), url('/account/address')]),
          submit('/account/address', { address }, (state) => state.shop.address === address),
        ],
      ),
    ),
  },
  {
    id: 'shop_review',
    site: 'shopping',
    intent: 'Rate the {{product}} with {{stars}} stars, with the title "{{title}}" and the text "{{text}}"',
    instances: pick(5).map((product, index) => {
      const stars = String((index % 5) + 1);
      const [title, text] = [`My opinion no. ${index + 1}`, `I have used it for ${index + 2} weeks.`];
      return changed(
        { product: product.name, stars, title, text },
        [
          target('__SHOPPING_ADMIN__/reviews?status=pending', 'table.reviews', {
            must_include: [`\t${product.name}\t${stars}\t${SHOPPER.name}\t${text}`],
          }),
        ],
        [
          ...places(toProduct(product)),
          submit('/review', { product: String(product.id), stars, title, text }, (state) =>
            state.shop.reviews.some((review) => review.title === title),
          ),
        ],
      );
    }),
  },
  {
    id: 'shop_cancel',
    site: 'shopping',
    intent: 'Cancel my order #{{order}}',
    instances: orders
      .filter((order) => order.status === 'pending')
      .slice(0, 4)
      .map((order) =>
        changed(
          { order: String(order.id) },
          [target(url(`/account/orders/${order.id}`), '.status', { exact_match: 'canceled' })],
          [
            ...places(toOrder(order)),
            submit('/order/cancel', { order: String(order.id) }, (state) =>
              state.shop.orders.some((other) => other.id === order.id && other.status === 'canceled'),
            ),
          ],
        ),
      ),
  },
  {
    id: 'shop_impossible',
    site: 'shopping',
    intent: 'What is the warranty period of the {{product}}? Answer N/A if the shop does not say it.',
    instances: pick(3).map((product) =>
      asked({ product: product.name }, { exact_match: 'N/A' }, 'N/A', toProduct(product)),
    ),
  },
];
