/** @file What changes in the shop: accounts, carts, orders, reviews, and what the staff edits. */
import type { Notice } from '../site';
import {
  ORDERS,
  type Order,
  PRODUCTS,
  type Product,
  REVIEWS,
  type Review,
  SHOPPER,
  SHOPPER_ADDRESS,
} from './shop-data';

export interface CartLine {
  readonly product: number;
  readonly quantity: number;
}

export interface ShopState {
  /** Id of the signed-in customer, 0 for nobody. */
  readonly customer: number;
  readonly staff: boolean;
  readonly cart: readonly CartLine[];
  readonly wishlist: readonly number[];
  readonly address: string;
  readonly newsletter: boolean;
  readonly orders: readonly Order[];
  readonly products: readonly Product[];
  readonly reviews: readonly Review[];
  readonly messages: readonly { readonly subject: string; readonly text: string }[];
  readonly notice: Notice | null;
}

export const initialShop = (signedIn: boolean): ShopState => ({
  customer: signedIn ? SHOPPER.id : 0,
  staff: signedIn,
  cart: [],
  wishlist: [],
  address: SHOPPER_ADDRESS,
  newsletter: false,
  orders: ORDERS,
  products: PRODUCTS,
  reviews: REVIEWS,
  messages: [],
  notice: null,
});

export const productById = (state: ShopState, id: number): Product | undefined => state.products[id - 1];
/** Of a product that is known to be there. */
export const productName = (state: ShopState, id: number): string => (productById(state, id) as Product).name;
export const productBySlug = (state: ShopState, slug: string): Product | undefined =>
  state.products.find((product) => product.slug === slug);

/** Approved reviews of a product, newest first. */
export const reviewsOf = (state: ShopState, product: number): Review[] =>
  state.reviews
    .filter((review) => review.product === product && review.status === 'approved')
    .sort((a, b) => b.day - a.day);

/** Mean stars with one decimal, null without reviews. */
export function ratingOf(state: ShopState, product: number): number | null {
  const reviews = reviewsOf(state, product);
  if (reviews.length === 0) return null;
  return Math.round((reviews.reduce((sum, review) => sum + review.stars, 0) / reviews.length) * 10) / 10;
}

/** Orders of a customer, newest first. */
export const ordersOf = (state: ShopState, customer: number): Order[] =>
  state.orders.filter((order) => order.customer === customer).sort((a, b) => b.id - a.id);

export const orderById = (state: ShopState, id: string): Order | undefined =>
  state.orders.find((order) => String(order.id) === id);

export const replaceOrder = (state: ShopState, order: Order): ShopState => ({
  ...state,
  orders: state.orders.map((other) => (other.id === order.id ? order : other)),
});

/** Product ids by units sold in orders that were not cancelled, most first; ties by id. */
export function bestSellers(state: ShopState, from = 0, to = Number.POSITIVE_INFINITY): [number, number][] {
  const sold = new Map<number, number>();
  for (const order of state.orders) {
    if (order.status === 'canceled' || order.day < from || order.day > to) continue;
    for (const line of order.lines) sold.set(line.product, (sold.get(line.product) ?? 0) + line.quantity);
  }
  return [...sold].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
}

export const cartTotal = (state: ShopState): number =>
  state.cart.reduce((sum, line) => sum + line.quantity * (productById(state, line.product)?.price ?? 0), 0);
