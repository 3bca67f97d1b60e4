/** @file The named helpers of WebArena's task files (`func:...`), for the built-in sites. Nothing is executed. */
import { parseAddress, requestOf, type SitesState } from '../site';
import { projectAt } from '../sites/code-state';
import { FORUM_HOST } from '../sites/forum';
import { SHOP_HOST } from '../sites/shop';
import { SHOPPER } from '../sites/shop-data';
import { ordersOf } from '../sites/shop-state';

/** The value of a helper call on the page at `url`; null for a helper that is not known here. */
export function runHelper(call: string, url: string, state: SitesState): string | null {
  const match = /^(\w+)\((.*)\)$/.exec(call.trim());
  if (match === null) return null;
  const words = [...match[2].matchAll(/'([^']*)'|"([^"]*)"/g)].map((part) => part[1] ?? part[2]);
  switch (match[1]) {
    case 'shopping_get_latest_order_url': {
      const [latest] = ordersOf(state.shop, SHOPPER.id);
      return latest === undefined ? null : `http://${SHOP_HOST}/account/orders/${latest.id}`;
    }
    case 'reddit_get_post_url': {
      // The post itself, whatever page below it the agent ended on; another address stays as it is.
      const post = /^(https?:\/\/[^/]+\/f\/[^/]+\/\d+\/[^/?#]+)/.exec(words[0] ?? '');
      return post === null ? (words[0] ?? `http://${FORUM_HOST}/`) : post[1];
    }
    case 'gitlab_get_project_memeber_role': {
      // (sic) the upstream name. The project is the one whose members the page shows.
      const address = parseAddress(url);
      const [owner, name] = address === null ? [] : requestOf(address, 'GET', {}).segments;
      return projectAt(state.code, owner ?? '', name ?? '')?.members[words.at(-1) ?? ''] ?? '';
    }
    default:
      return null;
  }
}
