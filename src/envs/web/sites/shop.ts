/** @file The shop: catalogue, search, cart and checkout, account, orders, reviews, contact. */
import { h } from '../nodes';
import { href, noticeFor, type Page, type Request, type Site } from '../site';
import { shortDay } from './calendar';
import {
  area,
  button,
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
  post,
  slice,
  slugOf,
  table,
} from './layout';
import { partSite } from './part-site';
import { accountPage, productLink } from './shop-account';
import { changeShop } from './shop-changes';
import { CATEGORIES, customerById, money, type Product } from './shop-data';
import { bestSellers, cartTotal, productById, productBySlug, ratingOf, reviewsOf, type ShopState } from './shop-state';

export const SHOP_HOST = 'shop.example';
const PER_PAGE = 10;

function frameOf(state: ShopState, request: Request): Frame {
  const count = state.cart.reduce((sum, line) => sum + line.quantity, 0);
  return {
    site: 'Quay Market',
    user: state.customer === 0 ? null : customerById(state.customer).name,
    links: [
      [`Cart (${count})`, '/cart'],
      ['My account', '/account'],
      ['Contact us', '/contact'],
    ],
    search: { action: '/search', label: 'Search products', value: request.path === '/search' ? request.query.q : '' },
    notice: noticeFor(state.notice, request),
  };
}

const ratingText = (state: ShopState, product: Product): string => {
  const rating = ratingOf(state, product.id);
  return rating === null ? 'no reviews' : `${rating.toFixed(1)} of 5 (${reviewsOf(state, product.id).length} reviews)`;
};

/** Products of a listing in the order asked for; the shop's own order is by id. */
export function sortProducts(
  state: ShopState,
  products: readonly Product[],
  order: string,
  direction: string,
): Product[] {
  const sorted = [...products];
  const by = (key: (product: Product) => number | string): void => {
    sorted.sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      return x < y ? -1 : x > y ? 1 : a.id - b.id;
    });
  };
  if (order === 'price') by((product) => product.price);
  else if (order === 'name') by((product) => product.name);
  else if (order === 'rating') by((product) => ratingOf(state, product.id) ?? 0);
  if (direction === 'desc') sorted.reverse();
  return sorted;
}

function listing(state: ShopState, request: Request, title: string, found: readonly Product[]): Page {
  const { query, path } = request;
  const minimum = query.min ? Number(query.min) * 100 : 0;
  const maximum = query.max ? Number(query.max) * 100 : Number.POSITIVE_INFINITY;
  const within = found.filter((product) => product.price >= minimum && product.price <= maximum);
  const sorted = sortProducts(state, within, query.order ?? '', query.dir ?? '');
  const part = slice(sorted, query.p, PER_PAGE);
  const kept = { ...query, p: '' };
  return frame(
    frameOf(state, request),
    title,
    h('p', null, `${within.length} products`),
    form(
      { action: path, method: 'get' },
      query.q !== undefined && hidden('q', query.q),
      choice(
        'Sort by',
        'order',
        [
          ['', 'Position'],
          ['price', 'Price'],
          ['name', 'Name'],
          ['rating', 'Rating'],
        ],
        query.order ?? '',
        true,
      ),
      choice(
        'Direction',
        'dir',
        [
          ['', 'Ascending'],
          ['desc', 'Descending'],
        ],
        query.dir ?? '',
        true,
      ),
      field('Lowest price', 'min', query.min ?? '', { type: 'number' }),
      field('Highest price', 'max', query.max ?? '', { type: 'number' }),
      button('Apply'),
    ),
    table(
      ['Product', 'Price', 'Rating'],
      part.items.map((product) => [productLink(product), money(product.price), ratingText(state, product)]),
      { class: 'products' },
    ),
    pageLinks(part, path, kept),
  );
}

function productPage(state: ShopState, request: Request, product: Product): Page {
  return frame(
    frameOf(state, request),
    product.name,
    facts(
      [
        ['Price', h('span', { class: 'price' }, money(product.price))],
        [
          'Availability',
          h('span', { class: 'stock' }, product.stock > 0 ? `In stock (${product.stock})` : 'Out of stock'),
        ],
        ['Rating', ratingText(state, product)],
        ['SKU', product.sku],
        ['Brand', product.brand],
        ['Colour', product.colour],
        ['Category', link(product.category, `/category/${slugOf(product.category)}`)],
      ],
      { class: 'product' },
    ),
    h('p', { class: 'description' }, product.description),
    product.stock > 0 &&
      form(
        { action: '/cart/add', method: 'post' },
        hidden('product', product.id),
        field('Quantity', 'quantity', '1', { type: 'number' }),
        button('Add to cart'),
      ),
    post('/wishlist/add', 'Add to wish list', { product: product.id }),
    h('h2', null, 'Reviews'),
    h(
      'ul',
      { class: 'reviews' },
      reviewsOf(state, product.id).map((review) =>
        h(
          'li',
          null,
          h('strong', null, `${review.stars} of 5: ${review.title}`),
          h('p', null, review.text),
          h('p', null, `${review.author}, ${shortDay(review.day)}`),
        ),
      ),
    ),
    state.customer !== 0 &&
      form(
        { action: '/review', method: 'post', 'aria-label': 'Write a review' },
        hidden('product', product.id),
        choice(
          'Stars',
          'stars',
          ['5', '4', '3', '2', '1'].map((stars) => [stars, stars] as const),
          '5',
        ),
        field('Title', 'title', '', { required: true }),
        area('Review', 'text', '', { required: true }),
        button('Submit review'),
      ),
  );
}

function cartPage(state: ShopState, request: Request): Page {
  const rows = state.cart.map((line) => {
    const product = productById(state, line.product) as Product;
    return [
      productLink(product),
      String(line.quantity),
      money(line.quantity * product.price),
      post('/cart/remove', `Remove ${product.name}`, { product: product.id }),
    ];
  });
  return frame(
    frameOf(state, request),
    'Shopping cart',
    rows.length === 0
      ? h('p', null, 'Your cart is empty.')
      : [
          table(['Product', 'Quantity', 'Subtotal', 'Action'], rows, { class: 'cart' }),
          h('p', { class: 'total' }, `Total: ${money(cartTotal(state))}`),
          h('p', null, `Ships to: ${state.address}`),
          post('/checkout', 'Place order'),
        ],
  );
}

function pageAt(state: ShopState, request: Request): Page | { redirect: string } {
  const shown = frameOf(state, request);
  const [head, name] = request.segments;
  switch (head) {
    case undefined:
      return frame(
        shown,
        'Welcome',
        h('h2', null, 'Categories'),
        h(
          'ul',
          null,
          CATEGORIES.map((category) => h('li', null, link(category, `/category/${slugOf(category)}`))),
        ),
        h('h2', null, 'Best sellers'),
        h(
          'ul',
          null,
          bestSellers(state)
            .slice(0, 5)
            .map(([id]) => h('li', null, productLink(productById(state, id) as Product))),
        ),
      );
    case 'category': {
      const category = CATEGORIES.find((candidate) => slugOf(candidate) === name);
      if (category === undefined) break;
      return listing(
        state,
        request,
        category,
        state.products.filter((product) => product.category === category && product.enabled),
      );
    }
    case 'search': {
      const query = request.query.q ?? '';
      const found = state.products.filter(
        (product) => product.enabled && mentions(`${product.name} ${product.description} ${product.category}`, query),
      );
      return listing(state, request, `Search results for "${query}"`, found);
    }
    case 'product': {
      const product = productBySlug(state, name ?? '');
      if (product === undefined || !product.enabled) break;
      return productPage(state, request, product);
    }
    case 'cart':
      return cartPage(state, request);
    case 'contact':
      return frame(
        shown,
        'Contact us',
        form(
          { action: '/contact', method: 'post' },
          field('Subject', 'subject', '', { required: true }),
          area('Message', 'text', '', { required: true }),
          button('Send message'),
        ),
        h('h2', null, 'Messages sent'),
        h(
          'ul',
          { class: 'messages' },
          state.messages.map((message) =>
            h('li', null, h('strong', null, message.subject), h('p', null, message.text)),
          ),
        ),
      );
    case 'login':
      return loginPage(shown, request.query.failed === '1', localPath(request.query.next));
    case 'account': {
      if (state.customer === 0) return { redirect: href('/login', { next: request.path }) };
      const page = accountPage(state, request, shown);
      if (page === null) break;
      return page;
    }
  }
  return notFound(shown);
}

export const shop: Site = partSite({ name: 'shop', host: SHOP_HOST, part: 'shop', change: changeShop, pageAt });
