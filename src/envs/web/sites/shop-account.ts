/** @file The customer's pages of the shop: orders, wish list, address, newsletter. */
import { type Child, h } from '../nodes';
import type { Page, Request } from '../site';
import { shortDay } from './calendar';
import { button, checkbox, type Frame, facts, field, form, frame, link, pageLinks, post, slice, table } from './layout';
import { customerById, money, type Order, type Product, totalOf } from './shop-data';
import { orderById, ordersOf, productById, type ShopState } from './shop-state';

const PER_PAGE = 10;

export const productLink = (product: Product): Child => link(product.name, `/product/${product.slug}`);

const orderTable = (state: ShopState, order: Order): Child =>
  table(
    ['Product', 'Quantity', 'Price', 'Subtotal'],
    order.lines.map((line) => {
      const product = productById(state, line.product) as Product;
      return [productLink(product), String(line.quantity), money(line.price), money(line.price * line.quantity)];
    }),
    { class: 'order-items' },
  );

/** null where there is no such page. */
export function accountPage(state: ShopState, request: Request, shown: Frame): Page | null {
  const [, section, id] = request.segments;
  const customer = customerById(state.customer);
  if (section === undefined) {
    return frame(
      shown,
      'My account',
      facts([
        ['Name', customer.name],
        ['Email', customer.email],
        ['Address', h('span', { class: 'address' }, state.address)],
        ['Newsletter', h('span', { class: 'newsletter' }, state.newsletter ? 'subscribed' : 'not subscribed')],
      ]),
      h(
        'ul',
        null,
        h('li', null, link('My orders', '/account/orders')),
        h('li', null, link('My wish list', '/account/wishlist')),
        h('li', null, link('Edit address', '/account/address')),
        h('li', null, link('Newsletter', '/account/newsletter')),
      ),
    );
  }
  if (section === 'orders' && id === undefined) {
    const part = slice(ordersOf(state, customer.id), request.query.p, PER_PAGE);
    return frame(
      shown,
      'My orders',
      table(
        ['Order', 'Date', 'Total', 'Status'],
        part.items.map((order) => [
          link(`#${order.id}`, `/account/orders/${order.id}`),
          shortDay(order.day),
          money(totalOf(order)),
          order.status,
        ]),
      ),
      pageLinks(part, '/account/orders', {}),
    );
  }
  if (section === 'orders') {
    const order = orderById(state, id ?? '');
    if (order === undefined || order.customer !== customer.id) return null;
    return frame(
      shown,
      `Order #${order.id}`,
      facts([
        ['Date', shortDay(order.day)],
        ['Status', h('span', { class: 'status' }, order.status)],
        ['Ships to', h('span', { class: 'address' }, order.address)],
        ['Grand total', money(totalOf(order))],
      ]),
      orderTable(state, order),
      order.status === 'pending' && post('/order/cancel', 'Cancel order', { order: order.id }),
    );
  }
  if (section === 'wishlist') {
    return frame(
      shown,
      'My wish list',
      h(
        'ul',
        { class: 'wishlist' },
        state.wishlist.map((product) => h('li', null, productLink(productById(state, product) as Product))),
      ),
      state.wishlist.length === 0 && h('p', null, 'Your wish list is empty.'),
    );
  }
  if (section === 'address') {
    return frame(
      shown,
      'Edit address',
      form(
        { action: '/account/address', method: 'post' },
        field('Address', 'address', state.address, { required: true }),
        button('Save address'),
      ),
    );
  }
  if (section === 'newsletter') {
    return frame(
      shown,
      'Newsletter',
      form(
        { action: '/account/newsletter', method: 'post' },
        checkbox('General subscription', 'subscribed', state.newsletter),
        button('Save'),
      ),
    );
  }
  return null;
}
