/**
 * @file The published human sessions, whole, through the page engine: every logged page must follow from the click that
 * led to it, and the purchase must be paid as logged. The product files of those sessions are not public in small, so
 * the shop is stocked with what the logs say of each product. Runs where the samples lie beside the checkout.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Catalogue, type Product, type ShopGoal, ShopWorld, taskOf } from '../../../src/envs/shop';
import { readLoggedGoal } from '../../../src/envs/shop/files/records';
import { titleNouns } from '../../../src/envs/shop/nouns';
import sessions from './human-sessions.json';

interface Visit {
  page: string;
  url: string;
  goal: unknown;
  content?: {
    keywords?: string[] | string;
    search_result_asins?: string[];
    page?: number | string;
    asin?: string;
    options?: Record<string, string>;
    price?: number;
  };
  reward?: number;
  reward_info?: (typeof sessions)[number]['rewardInfo'];
}

/** Answers queries with the logged results. */
class LoggedCatalogue extends Catalogue {
  private readonly results: ReadonlyMap<string, readonly string[]>;

  constructor(products: readonly Product[], results: ReadonlyMap<string, readonly string[]>) {
    super('logged', products);
    this.results = results;
  }

  override search(keywords: string): readonly Product[] {
    return (this.results.get(keywords) ?? []).map((asin) => this.get(asin)!);
  }
}

const keywordsOf = (visit: Visit): string => [visit.content?.keywords ?? []].flat().join(' ').toLowerCase();

/** What the logs say of the products: which were found, the options clicked, and the facts behind the bought one's score. */
function stock(visits: readonly Visit[], goal: ShopGoal): LoggedCatalogue {
  const results = new Map<string, readonly string[]>();
  const asins = new Set<string>();
  const options = new Map<string, Map<string, Set<string>>>();
  for (const visit of visits) {
    const { asin, search_result_asins: found, options: chosen } = visit.content ?? {};
    if (found !== undefined) results.set(keywordsOf(visit), found);
    for (const each of [...(found ?? []), ...(asin === undefined ? [] : [asin])]) asins.add(each);
    if (asin === undefined) continue;
    for (const [name, value] of Object.entries(chosen ?? {})) {
      const own = options.get(asin) ?? new Map<string, Set<string>>();
      options.set(asin, own.set(name, (own.get(name) ?? new Set()).add(value)));
    }
  }
  const last = visits.at(-1)!;
  const info = last.reward_info!;
  // The title shares as many nouns as logged, but must not tell a quality that the product was found to lack.
  const qualities = goal.attributes.join(' ');
  const nouns = [...new Set(titleNouns(goal.name))].filter((noun) => !qualities.includes(noun));
  const shared = Math.round(info.title_score * titleNouns(goal.name).length);
  const products = [...asins].map((asin): Product => {
    const bought = asin === last.content?.asin;
    return {
      asin,
      name: bought ? nouns.slice(0, shared).join(' ').toUpperCase() : 'Something Else',
      description: '',
      bullets: [],
      attributes: bought ? goal.attributes.slice(0, Math.round(info.r_att * goal.attributes.length)) : [],
      options: [...(options.get(asin) ?? [])].map(([name, values]) => ({ name, values: [...values] })),
      category: goal.category,
      query: bought && info.query_match ? goal.query : 'another shelf',
      productCategory: bought && info.category_match ? goal.productCategory : 'Elsewhere',
      prices: bought ? [last.content?.price ?? 0] : [1],
    };
  });
  return new LoggedCatalogue(products, results);
}

/** The click or search between two logged pages. */
function actionBetween(before: Visit, after: Visit): string | null {
  switch (after.page) {
    case 'index':
      return before.page === 'index' ? null : 'click[Back to Search]';
    case 'search_results':
      return before.page === 'item_page' ? 'click[< Prev]' : `search[${keywordsOf(after)}]`;
    case 'item_page': {
      if (before.page === 'search_results') return `click[${after.content?.asin}]`;
      const old = before.content?.options ?? {};
      const fresh = Object.entries(after.content?.options ?? {}).find(([name, value]) => old[name] !== value);
      return fresh === undefined ? null : `click[${fresh[1]}]`;
    }
    default:
      return 'click[Buy Now]';
  }
}

const PAGES: Readonly<Record<string, string>> = {
  index: 'index',
  search_results: 'results',
  item_page: 'item',
  done: 'done',
};

const folder = new URL('../../../../shared/samples/', import.meta.url);
const files = existsSync(folder) ? readdirSync(folder).filter((name) => /^webshop_human_\d.*\.jsonl$/.test(name)) : [];

describe.skipIf(files.length === 0)('human sessions, page by page', () => {
  it.each(files)('%s', (file) => {
    const visits = readFileSync(new URL(file, folder), 'utf8')
      .trim()
      .split('\n')
      .map((line): Visit => JSON.parse(line));
    const goal = readLoggedGoal(visits[0].goal)!;
    const world = new ShopWorld({ catalogue: stock(visits, goal), rewardMode: 'score' });
    world.reset(taskOf(goal, 'logged', 'human'));
    let paid = 0;
    for (const [i, visit] of visits.slice(1).entries()) {
      const action = actionBetween(visits[i], visit);
      if (action === null) continue;
      const { valid, reward, done } = world.step(action);
      expect(valid, action).toBe(true);
      expect(world.state.page).toBe(PAGES[visit.page]);
      const { content } = visit;
      if (visit.page === 'search_results') {
        expect(world.shown.map(({ asin }) => asin)).toEqual(content?.search_result_asins);
      }
      if (visit.page === 'item_page' || visit.page === 'done') {
        expect(world.state.asin).toBe(content?.asin);
        expect(Object.fromEntries(world.state.options)).toEqual(content?.options);
      }
      expect(done).toBe(visit.page === 'done');
      paid += reward;
    }
    const last = visits.at(-1)!;
    expect(paid).toBe(last.reward);
    expect(world.lastScore).toMatchObject({
      rType: last.reward_info?.r_type,
      rAtt: last.reward_info?.r_att,
      rOption: last.reward_info?.r_option ?? null,
      rPrice: last.reward_info?.r_price,
      queryMatch: last.reward_info?.query_match,
      categoryMatch: last.reward_info?.category_match,
    });
  });

  it('are those of the committed excerpt', () => {
    for (const { session, reward } of sessions) {
      const file = files.find((name) => name.includes(`${session}.`));
      if (file === undefined) continue;
      const lines = readFileSync(new URL(file, folder), 'utf8').trim().split('\n');
      expect(JSON.parse(lines.at(-1)!).reward).toBe(reward);
    }
  });
});
