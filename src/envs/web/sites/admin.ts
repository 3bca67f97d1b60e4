/** @file The shop's back office: orders, products, customers, reviews, a sales report. It shares the shop's state. */
import { type Child, h } from '../nodes';
import { type Answer, href, noticeFor, type Page, type Request, type Site, type SitesState } from '../site';
import { changeByStaff } from './admin-changes';
import { isoDay, shortDay } from './calendar';
import {
  area,
  button,
  checkbox,
  choice,
  type Frame,
  facts,
  field,
  form,
  frame,
  hidden,
  link,
  localPath,
  loginPage,
  mentions,
  notFound,
  pageLinks,
  slice,
  table,
} from './layout';
import { CUSTOMERS, customerById, money, type Product, SEARCH_TERMS, totalOf } from './shop-data';
import { bestSellers, orderById, productById, type ShopState } from './shop-state';

export const ADMIN_HOST = 'admin.shop.example';
const STATUSES = ['pending', 'processing', 'complete', 'canceled'] as const;
const PER_PAGE = 15;

const frameOf = (state: ShopState, request: Request): Frame => ({
  site: 'Quay Market Admin',
  user: state.staff ? 'admin' : null,
  links: [
    ['Orders', '/orders'],
    ['Products', '/products'],
    ['Customers', '/customers'],
    ['Reviews', '/reviews'],
    ['Sales report', '/reports/sales'],
  ],
  notice: noticeFor(state.notice, request),
});

const named = (state: ShopState, id: number): string => (productById(state, id) as Product).name;

function dashboard(state: ShopState, shown: Frame): Page {
  return frame(
    shown,
    'Dashboard',
    h('h2', null, 'Best sellers'),
    table(
      ['Product', 'Units sold'],
      bestSellers(state)
        .slice(0, 5)
        .map(([id, units]) => [link(named(state, id), `/products/${id}`), String(units)]),
      { class: 'bestsellers' },
    ),
    h('h2', null, 'Top search terms'),
    table(
      ['Search term', 'Uses'],
      SEARCH_TERMS.map(([term, uses]) => [term, String(uses)]),
      { class: 'search-terms' },
    ),
  );
}

function orders(state: ShopState, request: Request, shown: Frame): Page {
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
      choice('Status', 'status', [['', 'Any'], ...STATUSES.map((name) => [name, name] as const)], status, true),
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

function orderPage(state: ShopState, id: string, shown: Frame): Page | null {
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
      order.lines.map((line) => [named(state, line.product), String(line.quantity), money(line.price)]),
    ),
    form(
      { action: `/orders/${order.id}`, method: 'post' },
      choice(
        'New status',
        'status',
        STATUSES.map((name) => [name, name] as const),
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

function products(state: ShopState, request: Request, shown: Frame): Page {
  const { q = '' } = request.query;
  const found = state.products.filter((product) => q === '' || mentions(`${product.name} ${product.sku}`, q));
  const part = slice(found, request.query.p, PER_PAGE);
  return frame(
    shown,
    'Products',
    form({ action: '/products', method: 'get' }, field('Search products', 'q', q), button('Search')),
    h('p', { class: 'count' }, `${found.length} products found`),
    table(
      ['Product', 'SKU', 'Price', 'Quantity', 'Status'],
      part.items.map((product) => [
        link(product.name, `/products/${product.id}`),
        product.sku,
        money(product.price),
        String(product.stock),
        product.enabled ? 'enabled' : 'disabled',
      ]),
    ),
    pageLinks(part, '/products', { q }),
  );
}

const productPage = (product: Product, shown: Frame): Page =>
  frame(
    shown,
    `Edit ${product.name}`,
    facts([
      ['SKU', product.sku],
      ['Category', product.category],
    ]),
    form(
      { action: `/products/${product.id}`, method: 'post' },
      field('Name', 'name', product.name, { required: true }),
      field('Price', 'price', (product.price / 100).toFixed(2), { required: true }),
      field('Quantity', 'stock', String(product.stock), { type: 'number', required: true }),
      checkbox('Enabled', 'enabled', product.enabled),
      area('Description', 'description', product.description),
      button('Save product'),
    ),
  );

function customers(state: ShopState, request: Request, shown: Frame): Page {
  const { q = '' } = request.query;
  const count = (id: number): number => state.orders.filter((order) => order.customer === id).length;
  const found = CUSTOMERS.filter((person) => q === '' || mentions(`${person.name} ${person.email} ${person.phone}`, q));
  const part = slice(found, request.query.p, PER_PAGE);
  return frame(
    shown,
    'Customers',
    form({ action: '/customers', method: 'get' }, field('Search customers', 'q', q), button('Search')),
    table(
      ['Name', 'Email', 'Phone', 'Orders'],
      part.items.map((person) => [
        person.name,
        person.email,
        person.phone,
        link(String(count(person.id)), href('/orders', { q: person.name })),
      ]),
    ),
    pageLinks(part, '/customers', { q }),
  );
}

function reviews(state: ShopState, request: Request, shown: Frame): Page {
  const { status = '', q = '' } = request.query;
  const found = state.reviews
    .filter(
      (review) =>
        (status === '' || review.status === status) &&
        (q === '' || mentions(`${named(state, review.product)} ${review.text}`, q)),
    )
    .sort((a, b) => b.id - a.id);
  const part = slice(found, request.query.p, PER_PAGE);
  const action = (id: number, to: string, label: string): Child =>
    form({ action: '/reviews', method: 'post' }, hidden('review', id), hidden('to', to), button(label));
  return frame(
    shown,
    'Reviews',
    form(
      { action: '/reviews', method: 'get' },
      choice(
        'Status',
        'status',
        [
          ['', 'Any'],
          ['approved', 'approved'],
          ['pending', 'pending'],
        ],
        status,
        true,
      ),
      field('Contains', 'q', q),
      button('Filter'),
    ),
    h('p', { class: 'count' }, `${found.length} reviews found`),
    table(
      ['Review', 'Product', 'Stars', 'Author', 'Text', 'Status', 'Action'],
      part.items.map((review) => [
        String(review.id),
        named(state, review.product),
        String(review.stars),
        review.author,
        review.text,
        review.status,
        [
          review.status === 'pending' && action(review.id, 'approved', `Approve review ${review.id}`),
          action(review.id, 'deleted', `Delete review ${review.id}`),
        ],
      ]),
      { class: 'reviews' },
    ),
    pageLinks(part, '/reviews', { status, q }),
  );
}

function salesReport(state: ShopState, request: Request, shown: Frame): Page {
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

function pageAt(state: ShopState, request: Request): Page | { redirect: string } {
  const shown = frameOf(state, request);
  const [head, id] = request.segments;
  if (head === 'login') return loginPage(shown, request.query.failed === '1', localPath(request.query.next));
  if (!state.staff) return { redirect: href('/login', { next: request.path }) };
  const product = productById(state, Number(id));
  if (head === undefined) return dashboard(state, shown);
  if (head === 'orders')
    return (id === undefined ? orders(state, request, shown) : orderPage(state, id, shown)) ?? notFound(shown);
  if (head === 'products') {
    if (id === undefined) return products(state, request, shown);
    return product === undefined ? notFound(shown) : productPage(product, shown);
  }
  if (head === 'customers') return customers(state, request, shown);
  if (head === 'reviews') return reviews(state, request, shown);
  return head === 'reports' && id === 'sales' ? salesReport(state, request, shown) : notFound(shown);
}

export const admin: Site = {
  name: 'admin',
  host: ADMIN_HOST,
  handle(state: SitesState, request: Request): Answer {
    if (request.method === 'POST') {
      const { shop, redirect } = changeByStaff(state.shop, request);
      return { state: shop === state.shop ? state : { ...state, shop }, redirect };
    }
    const answer = pageAt(state.shop, request);
    return 'redirect' in answer ? { state, redirect: answer.redirect } : { state, page: answer };
  },
};
