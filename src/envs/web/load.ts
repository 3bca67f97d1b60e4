/** @file From an address to a page: redirects followed, nothing outside the sites. */
import { h } from './nodes';
import { type Page, parseAddress, requestOf, resolve, type Site, type SitesState } from './site';

/** Ten redirects are a loop (browsers allow twenty). */
const MAX_REDIRECTS = 10;

/** The page at an address, redirects followed; null when it leads outside the sites or round in circles. */
export function load(
  sites: ReadonlyMap<string, Site>,
  state: SitesState,
  url: string,
): { readonly url: string; readonly page: Page } | null {
  if (url === 'about:blank') return { url, page: BLANK };
  let current = url;
  for (let hop = 0; hop < MAX_REDIRECTS; hop++) {
    const address = parseAddress(current);
    const site = address === null ? undefined : sites.get(address.host);
    if (address === null || site === undefined) return null;
    const { page, redirect } = site.handle(state, requestOf(address, 'GET', {}));
    if (page !== undefined) return { url: current, page };
    current = resolve(current, redirect ?? '/');
  }
  return null;
}

const BLANK: Page = { title: '', body: h('body', null) };
const MISSING: Page = { title: 'Page not found', body: h('body', null, h('h1', null, 'Page not found')) };

/** As `load`, with a plain notice where there is no page. */
export const fetchPage = (sites: ReadonlyMap<string, Site>, state: SitesState, url: string): Page =>
  load(sites, state, url)?.page ?? MISSING;
