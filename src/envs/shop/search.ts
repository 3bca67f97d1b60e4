/**
 * @file Product search: BM25 as Lucene ranks it (k1 = 0.9, b = 0.4, the pyserini defaults WebShop runs on), by minisearch.
 *
 * minisearch multiplies a score by the number of query words that matched; Lucene does not, so the factor is taken out.
 * Equal scores keep the catalogue's order: the same query always gives the same list.
 */
import MiniSearch from 'minisearch';

/** WebShop's SEARCH_RETURN_N. */
export const MAX_HITS = 50;
/** Words of a query that count: a model may utter thousands. */
const MAX_QUERY_WORDS = 64;

/** Lucene's English stop words. */
const STOP_WORDS = new Set(
  'a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with'.split(
    ' ',
  ),
);

/** Plural and possessive endings; enough for product names, where Lucene runs a full Porter stemmer. */
export function stem(word: string): string {
  if (word.length <= 3) return word;
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (/(ss|sh|ch|x|z)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith('s') && !/(ss|us|is)$/.test(word) ? word.slice(0, -1) : word;
}

const words = (text: string): string[] => text.match(/[\p{L}\p{N}]+(?:\.\p{N}+)?/gu) ?? [];
const term = (word: string): string | null => (STOP_WORDS.has(word) ? null : stem(word));

export class SearchIndex {
  private readonly index: MiniSearch;

  /** `texts[i]` is what document i is found by, lower case. */
  constructor(texts: readonly string[]) {
    this.index = new MiniSearch({ fields: ['text'], tokenize: words, processTerm: term });
    this.index.addAll(texts.map((text, id) => ({ id, text })));
  }

  /** Document numbers, best first, at most `MAX_HITS`. */
  search(query: string): number[] {
    const bounded = words(query.toLowerCase()).slice(0, MAX_QUERY_WORDS).join(' ');
    return this.index
      .search(bounded, { combineWith: 'OR', prefix: false, fuzzy: false, bm25: { k: 0.9, b: 0.4, d: 0 } })
      .map(({ id, score, queryTerms }) => ({ id: id as number, score: score / Math.max(1, queryTerms.length) }))
      .sort((a, b) => b.score - a.score || a.id - b.id)
      .slice(0, MAX_HITS)
      .map(({ id }) => id);
  }
}
