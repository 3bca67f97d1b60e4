/** @file Task templates of the shop's back office. */
import { Random } from '../../household/random';
import { href } from '../site';
import { ADMIN_HOST } from '../sites/admin';
import { isoDay, TODAY } from '../sites/calendar';
import { CUSTOMERS, money, ORDERS, PRODUCTS, totalOf } from '../sites/shop-data';
import { bestSellers, initialShop } from '../sites/shop-state';
import { asked, at, changed, submit, type Template, target } from './template';

const url = (path: string): string => `http://${ADMIN_HOST}${path}`;
const random = new Random('web/tasks/admin');
const SHOP = initialShop(true);
const RANKS = ['first', 'second', 'third', 'fourth', 'fifth'];
const edit = (id: number): string[] => [
  url('/'),
  url('/products'),
  url(href('/products', { q: PRODUCTS[id - 1].name })),
  url(`/products/${id}`),
];

export const ADMIN_TEMPLATES: readonly Template[] = [
  {
    id: 'admin_best_seller',
    site: 'shopping_admin',
    intent: 'Which product is the {{rank}} in the list of best sellers?',
    instances: bestSellers(SHOP)
      .slice(0, 5)
      .map(([id], index) => {
        const { name } = PRODUCTS[id - 1];
        return asked({ rank: RANKS[index] }, { must_include: [name] }, name, [url('/')]);
      }),
  },
  {
    id: 'admin_phone',
    site: 'shopping_admin',
    intent: 'Find the name and the email address of the customer with the phone number {{phone}}',
    instances: random
      .sample(CUSTOMERS, 5)
      .map((person) =>
        asked(
          { phone: person.phone },
          { must_include: [person.name, person.email] },
          `${person.name}, ${person.email}`,
          [url('/'), url('/customers'), url(href('/customers', { q: person.phone }))],
        ),
      ),
  },
  {
    id: 'admin_status_count',
    site: 'shopping_admin',
    intent: 'How many orders have the status {{status}}? Answer with a number only.',
    instances: (['pending', 'processing', 'complete', 'canceled'] as const).map((status) => {
      const count = String(ORDERS.filter((order) => order.status === status).length);
      return asked({ status }, { exact_match: count }, count, [
        url('/'),
        url('/orders'),
        url(href('/orders', { status })),
      ]);
    }),
  },
  {
    id: 'admin_sales',
    site: 'shopping_admin',
    intent: 'What is the sales total from {{from}} to {{to}}?',
    instances: [300, 240, 180, 120, 60].map((ago) => {
      const [from, to] = [isoDay(TODAY - ago), isoDay(TODAY - ago + 45)];
      const inside = ORDERS.filter(
        (order) => order.status !== 'canceled' && isoDay(order.day) >= from && isoDay(order.day) <= to,
      );
      const total = inside.reduce((sum, order) => sum + totalOf(order), 0);
      return asked({ from, to }, { must_include: [(total / 100).toFixed(2)] }, money(total), [
        url('/'),
        url('/reports/sales'),
        url(href('/reports/sales', { from, to })),
      ]);
    }),
  },
  {
    id: 'admin_price',
    site: 'shopping_admin',
    intent: 'Change the price of the {{product}} to {{price}} dollars',
    instances: random.sample(PRODUCTS, 5).map((product, index) => {
      const price = `${19 + index * 7}.50`;
      return changed(
        { product: product.name, price },
        [
          target(url(`/products/${product.id}`), 'document.querySelector(\'[name="price"]\').value', {
            exact_match: price,
          }),
        ],
        [
          ...edit(product.id).map(at),
          submit(
            `/products/${product.id}`,
            { price },
            (state) => state.shop.products[product.id - 1].price === Number(price) * 100,
          ),
        ],
      );
    }),
  },
  {
    id: 'admin_stock',
    site: 'shopping_admin',
    intent: 'We received more of the {{product}}: set its quantity to {{stock}}',
    instances: random.sample(PRODUCTS, 5).map((product, index) => {
      const stock = String(120 + index * 15);
      return changed(
        { product: product.name, stock },
        [target(url(`/products/${product.id}`), '[name="stock"]', { exact_match: stock })],
        [
          ...edit(product.id).map(at),
          submit(
            `/products/${product.id}`,
            { stock },
            (state) => state.shop.products[product.id - 1].stock === Number(stock),
          ),
        ],
      );
    }),
  },
  {
    id: 'admin_notify',
    site: 'shopping_admin',
    intent: 'Set order #{{order}} to complete and tell the customer "{{message}}"',
    instances: random
      .sample(
        ORDERS.filter((order) => order.status === 'processing'),
        4,
      )
      .map((order, index) => {
        const message = [
          'Your parcel is on its way',
          'It was delivered to your neighbour',
          'Please pick it up today',
          'It arrives tomorrow',
        ][index];
        const path = `/orders/${order.id}`;
        return changed(
          { order: String(order.id), message },
          [
            target(url(path), '#order_status', { exact_match: 'complete' }),
            target(url(path), '.comments', { must_include: [message] }),
          ],
          [
            at(url('/')),
            at(url('/orders')),
            at(url(href('/orders', { status: 'processing' }))),
            at(url(path)),
            submit(path, { status: 'complete', comment: message }, (state) =>
              state.shop.orders.some((other) => other.id === order.id && other.comments.includes(message)),
            ),
          ],
        );
      }),
  },
];
