/**
 * @file WebShop's session logs, one visited page a line. What the shopper did is not in them: it follows from two
 * consecutive pages (same results, an item: a click on it; an option more: a click on its value).
 */
import { shopPageState } from '../../abstract-states/shop';
import { isJsonObject, type JsonObject } from '../../json-object';
import type { Dropped, Finding, FormatReader, FoundTurn, Piece } from '../pieces';
import { field, jsonIn, textOf } from './json-piece';

export interface Visit {
  page: string;
  session: string;
  asin: string;
  keywords: readonly string[];
  /** Number of the results page. */
  number: number;
  options: Readonly<Record<string, string>>;
  subPage: string;
  results: readonly string[];
  price: number | null;
}

interface Session {
  where: string;
  id: string;
  instruction?: string;
  last: Visit;
  first: { raw: string; state: string };
  turns: FoundTurn[];
  outcome: number | null;
}

export class WebshopLogReader implements FormatReader {
  private session: Session | null = null;

  *read(piece: Piece): Generator<Finding> {
    const { where } = piece;
    const entry = yield* jsonIn(piece);
    if (entry === undefined) return;
    const visit = isJsonObject(entry) ? readVisit(entry) : null;
    if (!isJsonObject(entry) || visit === null) {
      yield { where, why: 'not a visited page of WebShop' };
      return;
    }
    const raw = JSON.stringify({ page: entry.page, content: entry.content ?? {} });
    const goal = isJsonObject(entry.goal) ? entry.goal : {};
    if (this.session && (this.session.id !== visit.session || this.session.last.page === 'done')) yield* this.end();
    if (!this.session) {
      this.session = {
        where,
        id: visit.session,
        instruction: textOf(field(goal, 'instruction_text')),
        last: visit,
        first: { raw, state: shopPageState(visit) },
        turns: [],
        outcome: null,
      };
      return;
    }
    yield* this.visit(visit, raw, entry, where);
  }

  *end(): Generator<Finding> {
    const { session } = this;
    this.session = null;
    if (!session) return;
    const { where, id, instruction, turns, first, outcome } = session;
    if (turns.length === 0) yield { where, why: 'a single page: nothing was done' };
    else
      yield {
        episode: { where, id, world: 'shop', instruction, first: first.raw, firstState: first.state, turns, outcome },
      };
  }

  private *visit(visit: Visit, raw: string, entry: JsonObject, where: string): Generator<Dropped> {
    const session = this.session!;
    const action = actionBetween(session.last, visit);
    if (action === null) {
      yield { where, why: 'the same page again: nothing was done' };
      return;
    }
    const reward = visit.page === 'done' && typeof entry.reward === 'number' ? entry.reward : 0;
    if (visit.page === 'done') session.outcome = typeof entry.reward === 'number' ? entry.reward : null;
    session.turns.push({ thought: '', action, observation: raw, state: shopPageState(visit), reward });
    session.last = visit;
  }
}

function readVisit(entry: JsonObject): Visit | null {
  const page = textOf(field(entry, 'page'));
  const url = textOf(field(entry, 'url'));
  if (page === undefined || url === undefined || !/^(index|search_results|item_page|item_sub_page|done)$/.test(page))
    return null;
  const content = isJsonObject(entry.content) ? entry.content : {};
  const parts = url
    .replace(/^\w+:\/\/[^/]*/, '')
    .split('/')
    .filter(Boolean);
  return {
    page,
    session: (page === 'index' ? parts[0] : parts[1]) ?? '',
    asin: textOf(field(content, 'asin')) ?? '',
    keywords: words(field(content, 'keywords')),
    number: Number(field(content, 'page')) || 1,
    options: isJsonObject(content.options)
      ? Object.fromEntries(Object.entries(content.options).map(([name, value]) => [name, String(value)]))
      : {},
    subPage: page === 'item_sub_page' ? (parts[5] ?? 'Description') : '',
    results: Array.isArray(content.search_result_asins) ? content.search_result_asins.map(String) : [],
    price: typeof content.price === 'number' ? content.price : null,
  };
}

/** A list, or a Python list in a string. */
function words(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  if (typeof value !== 'string') return [];
  return [...value.matchAll(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/g)].map(([, single, double]) => single ?? double);
}

/** null: nothing changed. */
export function actionBetween(before: Visit, after: Visit): string | null {
  const sameSearch = before.keywords.join(' ') === after.keywords.join(' ');
  switch (after.page) {
    case 'index':
      return before.page === 'index' ? null : 'click[Back to Search]';
    case 'search_results':
      if (before.page === 'search_results' && sameSearch) {
        if (after.number === before.number) return null;
        return after.number > before.number ? 'click[Next >]' : 'click[< Prev]';
      }
      return sameSearch && before.page !== 'index' ? 'click[< Prev]' : `search[${after.keywords.join(' ')}]`;
    case 'item_page': {
      if (before.page === 'item_sub_page') return 'click[< Prev]';
      if (before.page !== 'item_page' || before.asin !== after.asin) return `click[${after.asin}]`;
      const changed = Object.entries(after.options).find(([name, value]) => before.options[name] !== value);
      return changed ? `click[${changed[1]}]` : null;
    }
    case 'item_sub_page':
      return before.page === 'item_sub_page' && before.subPage === after.subPage ? null : `click[${after.subPage}]`;
    default:
      return before.page === 'done' ? null : 'click[Buy Now]';
  }
}
