/** @file All sites of the web world, where they live, and the state they start in. */
import { h } from '../nodes';
import type { Answer, Request, Site, SitesState } from '../site';
import { ADMIN_HOST, admin } from './admin';
import { CODE_HOST, code } from './code';
import { initialCode } from './code-state';
import { FORUM_HOST, forum } from './forum';
import { initialForum } from './forum-state';
import { frame, link } from './layout';
import { initialMap, MAP_HOST, map } from './map';
import { SHOP_HOST, shop } from './shop';
import { initialShop } from './shop-state';
import { initialWiki, WIKI_HOST, wiki } from './wiki';

export const HOME_HOST = 'home.example';

const home: Site = {
  name: 'home',
  host: HOME_HOST,
  handle(state: SitesState, request: Request): Answer {
    if (request.path !== '/') return { state, redirect: '/' };
    const list = [shop, admin, forum, code, map, wiki];
    const page = frame(
      { site: 'Home', links: [] },
      'Sites',
      h(
        'ul',
        null,
        list.map((site) => h('li', null, link(site.name, `http://${site.host}/`))),
      ),
    );
    return { state, page };
  },
};

export const SITES: ReadonlyMap<string, Site> = new Map(
  [home, shop, admin, forum, code, map, wiki].map((site) => [site.host, site]),
);

/** WebArena's placeholders in task files, for the sites that play the same part here. */
export const PLACEHOLDERS: Readonly<Record<string, string>> = {
  __HOMEPAGE__: `http://${HOME_HOST}`,
  __SHOPPING_ADMIN__: `http://${ADMIN_HOST}`,
  __SHOPPING__: `http://${SHOP_HOST}`,
  __REDDIT__: `http://${FORUM_HOST}`,
  __GITLAB__: `http://${CODE_HOST}`,
  __MAP__: `http://${MAP_HOST}`,
  __WIKIPEDIA__: `http://${WIKI_HOST}`,
};

export function fillPlaceholders(text: string): string {
  return text.replace(/__[A-Z_]+?__/g, (name) => (Object.hasOwn(PLACEHOLDERS, name) ? PLACEHOLDERS[name] : name));
}

/** Built once per kind: states share all they do not change. */
const INITIAL = [false, true].map(
  (signedIn): SitesState => ({
    shop: initialShop(signedIn),
    forum: initialForum(signedIn),
    code: initialCode(signedIn),
    map: initialMap(),
    wiki: initialWiki(),
  }),
);

export const initialSites = (signedIn: boolean): SitesState => INITIAL[signedIn ? 1 : 0];
