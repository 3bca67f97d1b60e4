/** @file What the shop's forms do. Every change leads to the page that shows it. */
import { href, type Request } from '../site';
import { TODAY } from './calendar';
import { localPath } from './layout';
import { SHOPPER, SHOPPER_PASSWORD } from './shop-data';
import { orderById, productById, replaceOrder, type ShopState } from './shop-state';

interface Change {
  readonly shop: ShopState;
  readonly redirect: string;
}

/** Whole numbers from 1 to 99; anything else is 1. */
const quantityOf = (text: string | undefined): number => {
  const number = Number.parseInt(text ?? '', 10);
  return number >= 1 && number <= 99 ? number : 1;
};

const changed = (shop: ShopState, redirect: string, text = ''): Change => ({
  shop: { ...shop, notice: text === '' ? null : { path: redirect, text } },
  redirect,
});

export function changeShop(state: ShopState, request: Request): Change {
  const { form, path } = request;
  const refuse = (redirect: string): Change => ({ shop: state, redirect });
  const product = productById(state, Number(form.product));
  if (path === '/login') {
    const next = localPath(form.next);
    if (form.user?.trim() === SHOPPER.user && form.password === SHOPPER_PASSWORD)
      return changed({ ...state, customer: SHOPPER.id }, next);
    return refuse(href('/login', { failed: 1, next }));
  }
  if (path === '/logout') return changed({ ...state, customer: 0 }, '/');
  if (path === '/cart/add') {
    if (product === undefined || product.stock === 0) return refuse('/cart');
    const quantity = quantityOf(form.quantity);
    const held = state.cart.find((line) => line.product === product.id);
    const cart =
      held === undefined
        ? [...state.cart, { product: product.id, quantity }]
        : state.cart.map((line) => (line === held ? { ...line, quantity: line.quantity + quantity } : line));
    return changed({ ...state, cart }, `/product/${product.slug}`, `You added ${product.name} to your cart.`);
  }
  if (path === '/cart/remove')
    return changed({ ...state, cart: state.cart.filter((line) => line.product !== product?.id) }, '/cart');
  // From here on only for somebody who is signed in.
  if (state.customer === 0) return refuse(href('/login', { next: path === '/checkout' ? '/cart' : '/account' }));
  switch (path) {
    case '/checkout': {
      if (state.cart.length === 0) return refuse('/cart');
      const id = Math.max(...state.orders.map((order) => order.id)) + 1;
      const order = {
        id,
        customer: state.customer,
        day: TODAY,
        status: 'pending' as const,
        lines: state.cart.map((line) => ({ ...line, price: productById(state, line.product)?.price ?? 0 })),
        address: state.address,
        comments: [],
      };
      const next = { ...state, cart: [], orders: [...state.orders, order] };
      return changed(next, `/account/orders/${id}`, 'Thank you for your order.');
    }
    case '/wishlist/add': {
      if (product === undefined || state.wishlist.includes(product.id)) return refuse('/account/wishlist');
      const wishlist = [...state.wishlist, product.id];
      return changed({ ...state, wishlist }, '/account/wishlist', `${product.name} is now on your wish list.`);
    }
    case '/review': {
      if (product === undefined) return refuse('/');
      const review = {
        id: Math.max(0, ...state.reviews.map((other) => other.id)) + 1,
        product: product.id,
        author: SHOPPER.name,
        stars: Math.min(5, quantityOf(form.stars)),
        title: form.title ?? '',
        text: form.text ?? '',
        status: 'pending' as const,
        day: TODAY,
      };
      const text = 'Your review waits for approval.';
      return changed({ ...state, reviews: [...state.reviews, review] }, `/product/${product.slug}`, text);
    }
    case '/account/address':
      return changed({ ...state, address: (form.address ?? '').trim() }, '/account', 'The address is saved.');
    case '/account/newsletter':
      return changed({ ...state, newsletter: form.subscribed === 'yes' }, '/account', 'Your subscription is saved.');
    case '/contact': {
      const message = { subject: form.subject ?? '', text: form.text ?? '' };
      return changed({ ...state, messages: [...state.messages, message] }, '/contact', 'Your message has been sent.');
    }
    case '/order/cancel': {
      const order = orderById(state, form.order ?? '');
      if (order === undefined || order.customer !== state.customer || order.status !== 'pending')
        return refuse('/account/orders');
      const next = replaceOrder(state, { ...order, status: 'canceled' });
      return changed(next, `/account/orders/${order.id}`, 'The order is canceled.');
    }
    default:
      return refuse('/');
  }
}
