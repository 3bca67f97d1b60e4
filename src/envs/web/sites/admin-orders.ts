/** @file What the staff sees of orders: the list, one order, the sales report. */
import { h } from '../nodes';
import type { Page, Request } from '../site';
import { isoDay, shortDay } from './calendar';
import {
  area,
  button,
  choice,
  type Frame,
  facts,
  field,
  form,
  frame,
  link,
  mentions,
  pageLinks,
  slice,
  table,
} from './layout';
import { customerById, money, ORDER_STATUSES, totalOf } from './shop-data';
import { orderById, productName, type ShopState } from './shop-state';

const PER_PAGE = 15;

export function ordersPage(state: ShopState, request: Request, shown: Frame): Page {
  const { status = '', q = '' } = request.query;
  const found = state.orders
    .filter(
      (order) =>
        (status === '' || order.status === status) && (q === '' || mentions(customerById(order.customer).name, q)),
    )
    .sort((a, b) => b.id - a.id);
  const part = slice(found, request.query.p, PER_PAGE);
  return frame(
    shown,
    'Orders',
    form(
      { action: '/orders', method: 'get' },
      choice('Status', 'status', [['', 'Any'], ...ORDER_STATUSES.map((name) => [name, name] as const)], status, true),
      field('Customer', 'q', q),
      button('Filter'),
    ),
    h('p', { class: 'count' }, `${found.length} orders found`),
    table(
      ['Order', 'Date', 'Customer', 'Total', 'Status'],
      part.items.map((order) => [
        link(`#${order.id}`, `/orders/${order.id}`),
        shortDay(order.day),
        customerById(order.customer).name,
        money(totalOf(order)),
        order.status,
      ]),
    ),
    pageLinks(part, '/orders', { status, q }),
  );
}

export function orderPage(state: ShopState, id: string, shown: Frame): Page | null {
  const order = orderById(state, id);
  if (order === undefined) return null;
  const customer = customerById(order.customer);
  return frame(
    shown,
    `Order #${order.id}`,
    facts([
      ['Customer', customer.name],
      ['Email', customer.email],
      ['Date', shortDay(order.day)],
      ['Status', h('span', { id: 'order_status' }, order.status)],
      ['Ships to', order.address],
      ['Grand total', money(totalOf(order))],
    ]),
    table(
      ['Product', 'Quantity', 'Price'],
      order.lines.map((line) => [productName(state, line.product), String(line.quantity), money(line.price)]),
    ),
    form(
      { action: `/orders/${order.id}`, method: 'post' },
      choice(
        'New status',
        'status',
        ORDER_STATUSES.map((name) => [name, name] as const),
        order.status,
      ),
      area('Message to the customer', 'comment'),
      button('Update order'),
    ),
    h('h2', null, 'Messages'),
    h(
      'ul',
      { class: 'comments' },
      order.comments.map((comment) => h('li', null, comment)),
    ),
  );
}

export function salesReport(state: ShopState, request: Request, shown: Frame): Page {
  const { from = '', to = '' } = request.query;
  const inside = state.orders.filter((order) => {
    const day = isoDay(order.day);
    return order.status !== 'canceled' && (from === '' || day >= from) && (to === '' || day <= to);
  });
  return frame(
    shown,
    'Sales report',
    form(
      { action: '/reports/sales', method: 'get' },
      field('From (YYYY-MM-DD)', 'from', from),
      field('To (YYYY-MM-DD)', 'to', to),
      button('Show report'),
    ),
    facts([
      ['Orders', h('span', { class: 'report-orders' }, inside.length)],
      [
        'Items',
        h(
          'span',
          { class: 'report-items' },
          inside.reduce((sum, order) => sum + order.lines.reduce((units, line) => units + line.quantity, 0), 0),
        ),
      ],
      [
        'Sales total',
        h('span', { class: 'report-total' }, money(inside.reduce((sum, order) => sum + totalOf(order), 0))),
      ],
    ]),
  );
}
