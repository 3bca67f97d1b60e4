/**
 * @file What a site is: a pure function from (state, request) to (state, page or redirect).
 *
 * State is immutable plain data that shares structure between versions, so a snapshot of a whole episode is a reference.
 * Every POST answers with a redirect; therefore going back is a GET of an address and never repeats a change.
 */
import type { VElement } from './nodes';
import type { CodeState } from './sites/code-state';
import type { ForumState } from './sites/forum-state';
import type { MapState } from './sites/map';
import type { ShopState } from './sites/shop-state';
import type { WikiState } from './sites/wiki';

/** Everything that differs from the built-in data, for all sites. Shop and admin share one part. */
export interface SitesState {
  readonly shop: ShopState;
  readonly forum: ForumState;
  readonly code: CodeState;
  readonly map: MapState;
  readonly wiki: WikiState;
}

export interface Address {
  readonly host: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

export interface Request {
  readonly method: 'GET' | 'POST';
  /** Starts with `/`, no trailing slash (except the root), decoded segments in `segments`. */
  readonly path: string;
  readonly segments: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  /** Fields of a POST. */
  readonly form: Readonly<Record<string, string>>;
}

/** What the last change did, shown on the page it led to. */
export interface Notice {
  readonly path: string;
  readonly text: string;
}

export const noticeFor = (notice: Notice | null, request: Request): string =>
  notice !== null && notice.path === request.path ? notice.text : '';

export interface Page {
  readonly title: string;
  readonly body: VElement;
}

export interface Answer {
  readonly state: SitesState;
  /** Exactly one of `page` and `redirect` (an absolute path on this site or an absolute address). */
  readonly page?: Page;
  readonly redirect?: string;
}

export interface Site {
  readonly name: 'home' | 'shop' | 'admin' | 'forum' | 'code' | 'map' | 'wiki';
  /** Reserved names (RFC 2606): never a real server. */
  readonly host: string;
  handle(state: SitesState, request: Request): Answer;
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

export function parseQuery(text: string): Record<string, string> {
  const query: Record<string, string> = Object.create(null) as Record<string, string>;
  if (text === '') return query;
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const cut = pair.indexOf('=');
    const name = cut < 0 ? pair : pair.slice(0, cut);
    const value = cut < 0 ? '' : pair.slice(cut + 1);
    query[decode(name.replaceAll('+', ' '))] = decode(value.replaceAll('+', ' '));
  }
  return query;
}

/** Parts of `http://host/path?query#fragment`; null when it is no http address. */
export function parseAddress(url: string): Address | null {
  const match = /^https?:\/\/([^/?#]+)([^?#]*)(?:\?([^#]*))?/i.exec(url.trim());
  if (match === null) return null;
  return { host: match[1].toLowerCase(), path: match[2] === '' ? '/' : match[2], query: parseQuery(match[3] ?? '') };
}

/** `path` with the query's non-empty values, in the order given. */
export function href(path: string, query: Record<string, string | number | null | undefined> = {}): string {
  let text = '';
  for (const name in query) {
    const value = query[name];
    if (value === null || value === undefined || value === '') continue;
    text += `${text === '' ? '?' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(value).replaceAll('%20', '+')}`;
  }
  return path + text;
}

/** A link of the page at `base`, made absolute. */
export function resolve(base: string, link: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return link;
  const address = parseAddress(base);
  const origin = address === null ? '' : `http://${address.host}`;
  if (link.startsWith('/')) return origin + link;
  const path = address?.path ?? '/';
  if (link.startsWith('?')) return origin + path + link;
  return origin + path.slice(0, path.lastIndexOf('/') + 1) + link;
}

export function requestOf(address: Address, method: 'GET' | 'POST', form: Readonly<Record<string, string>>): Request {
  const path = address.path.length > 1 ? address.path.replace(/\/+$/, '') || '/' : address.path;
  const segments = path.split('/').filter((part) => part !== '');
  return { method, path, segments: segments.map(decode), query: address.query, form };
}
