/** @file The shop's back office: orders, products, customers, reviews, a sales report. It shares the shop's state. */
import { h } from '../nodes';
import { href, noticeFor, type Page, type Request, type Site } from '../site';
import { productPage, productsPage, reviewsPage } from './admin-catalogue';
import { changeByStaff } from './admin-changes';
import { orderPage, ordersPage, salesReport } from './admin-orders';
import {
  button,
  type Frame,
  field,
  form,
  frame,
  link,
  localPath,
  loginPage,
  mentions,
  notFound,
  pageLinks,
  slice,
  table,
} from './layout';
import { partSite } from './part-site';
import { CUSTOMERS, SEARCH_TERMS } from './shop-data';
import { bestSellers, productById, productName, type ShopState } from './shop-state';

export const ADMIN_HOST = 'admin.shop.example';
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

function dashboard(state: ShopState, shown: Frame): Page {
  return frame(
    shown,
    'Dashboard',
    h('h2', null, 'Best sellers'),
    table(
      ['Product', 'Units sold'],
      bestSellers(state)
        .slice(0, 5)
        .map(([id, units]) => [link(productName(state, id), `/products/${id}`), String(units)]),
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

function customersPage(state: ShopState, request: Request, shown: Frame): Page {
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

function pageAt(state: ShopState, request: Request): Page | { redirect: string } {
  const shown = frameOf(state, request);
  const [head, id] = request.segments;
  if (head === 'login') return loginPage(shown, request.query.failed === '1', localPath(request.query.next));
  if (!state.staff) return { redirect: href('/login', { next: request.path }) };
  const product = productById(state, Number(id));
  if (head === undefined) return dashboard(state, shown);
  if (head === 'orders')
    return (id === undefined ? ordersPage(state, request, shown) : orderPage(state, id, shown)) ?? notFound(shown);
  if (head === 'products') {
    if (id === undefined) return productsPage(state, request, shown);
    return product === undefined ? notFound(shown) : productPage(product, shown);
  }
  if (head === 'customers') return customersPage(state, request, shown);
  if (head === 'reviews') return reviewsPage(state, request, shown);
  return head === 'reports' && id === 'sales' ? salesReport(state, request, shown) : notFound(shown);
}

export const admin: Site = partSite({ name: 'admin', host: ADMIN_HOST, part: 'shop', change: changeByStaff, pageAt });
