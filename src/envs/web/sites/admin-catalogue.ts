/** @file What the staff sees of the catalogue: products, the form of one, its customers' reviews. */
import { type Child, h } from '../nodes';
import type { Page, Request } from '../site';
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
  mentions,
  pageLinks,
  slice,
  table,
} from './layout';
import { money, type Product } from './shop-data';
import { productName, type ShopState } from './shop-state';

const PER_PAGE = 15;

export function productsPage(state: ShopState, request: Request, shown: Frame): Page {
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

export const productPage = (product: Product, shown: Frame): Page =>
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

export function reviewsPage(state: ShopState, request: Request, shown: Frame): Page {
  const { status = '', q = '' } = request.query;
  const found = state.reviews
    .filter(
      (review) =>
        (status === '' || review.status === status) &&
        (q === '' || mentions(`${productName(state, review.product)} ${review.text}`, q)),
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
        productName(state, review.product),
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
