import { href, type Request } from '../site';
import { localPath } from './layout';
import { ADMIN_PASSWORD, ORDER_STATUSES } from './shop-data';
import { orderById, productById, replaceOrder, type ShopState } from './shop-state';

/** Cents of a price as typed; null when it is none. */
function cents(text: string): number | null {
  const match = /^\$?(\d{1,6})(?:\.(\d{1,2}))?$/.exec(text.trim());
  return match === null ? null : Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'));
}

export function changeByStaff(state: ShopState, request: Request): { shop: ShopState; redirect: string } {
  const { form: sent, segments, path } = request;
  const [head, id] = segments;
  const done = (shop: ShopState, redirect: string, text: string) => ({
    shop: { ...shop, notice: { path: redirect, text } },
    redirect,
  });
  if (head === 'login') {
    const next = localPath(sent.next);
    if (sent.user?.trim() !== 'admin' || sent.password !== ADMIN_PASSWORD)
      return { shop: state, redirect: href('/login', { failed: 1, next }) };
    return { shop: { ...state, staff: true }, redirect: next };
  }
  if (!state.staff) return { shop: state, redirect: '/login' };
  if (head === 'logout') return { shop: { ...state, staff: false }, redirect: '/login' };
  if (head === 'orders') {
    const order = orderById(state, id ?? '');
    const status = ORDER_STATUSES.find((name) => name === sent.status);
    if (order === undefined || status === undefined) return { shop: state, redirect: '/orders' };
    const comment = (sent.comment ?? '').trim();
    const comments = comment === '' ? order.comments : [...order.comments, comment];
    return done(replaceOrder(state, { ...order, status, comments }), path, 'The order is updated.');
  }
  if (head === 'products') {
    const product = productById(state, Number(id));
    const price = cents(sent.price ?? '');
    const stock = Number.parseInt(sent.stock ?? '', 10);
    if (product === undefined) return { shop: state, redirect: '/products' };
    if (price === null || !(stock >= 0)) return done(state, path, 'Price and quantity must be numbers.');
    const edited = {
      ...product,
      name: (sent.name ?? '').trim(),
      price,
      stock,
      enabled: sent.enabled === 'yes',
      description: sent.description ?? '',
    };
    const list = state.products.map((other) => (other.id === product.id ? edited : other));
    return done({ ...state, products: list }, path, 'The product is saved.');
  }
  if (head === 'reviews') {
    const wanted = Number(sent.review);
    const list =
      sent.to === 'deleted'
        ? state.reviews.filter((review) => review.id !== wanted)
        : state.reviews.map((review) => (review.id === wanted ? { ...review, status: 'approved' as const } : review));
    return done(
      { ...state, reviews: list },
      '/reviews',
      sent.to === 'deleted' ? 'The review is deleted.' : 'The review is approved.',
    );
  }
  return { shop: state, redirect: '/' };
}
