/** @file A set of products that can be searched: the built-in one, or a user's own files (loader.ts). */
import { Random } from '../household/random';
import { indexText, type Product } from './product';
import { MAX_HITS, SearchIndex } from './search';

const MAX_ANSWERS = 4096;

export class Catalogue {
  /** Tells catalogues apart in task ids, e.g. `built-in`. */
  readonly name: string;
  readonly products: readonly Product[];
  private readonly byAsin: ReadonlyMap<string, Product>;
  private readonly answers = new Map<string, readonly Product[]>();
  private index: SearchIndex | null = null;

  /** Products with an ASIN seen before are dropped: a shop has one page per ASIN. */
  constructor(name: string, products: readonly Product[]) {
    this.name = name;
    this.byAsin = new Map(products.toReversed().map((product) => [product.asin, product]));
    this.products = products.filter((product) => this.byAsin.get(product.asin) === product);
  }

  get(asin: string): Product | undefined {
    return this.byAsin.get(asin);
  }

  /**
   * The products a query finds, best first, at most fifty. A first word of `<r>` asks for any, `<a>`, `<c>` and `<q>` for
   * those of an attribute, a category or a shelf. `seed` decides the draw of `<r>`, so that a task repeats exactly.
   * Answers are kept: agents of a group ask the same questions.
   */
  search(keywords: string, seed: string): readonly Product[] {
    const key = keywords.startsWith('<r>') ? `${seed}\n${keywords}` : keywords;
    let hits = this.answers.get(key);
    if (hits === undefined) {
      hits = this.find(keywords, seed);
      if (this.answers.size >= MAX_ANSWERS) this.answers.delete(this.answers.keys().next().value ?? '');
      this.answers.set(key, hits);
    }
    return hits;
  }

  private find(keywords: string, seed: string): readonly Product[] {
    const [magic, ...rest] = keywords.split(' ');
    const wanted = rest.join(' ').trim();
    const first = (fits: (product: Product) => boolean) => this.products.filter(fits).slice(0, MAX_HITS);
    switch (magic) {
      case '<r>':
        return new Random(seed).shuffle([...this.products]).slice(0, MAX_HITS);
      case '<a>':
        return first(({ attributes }) => attributes.includes(wanted));
      case '<c>':
        return first(({ category }) => category === wanted);
      case '<q>':
        return first(({ query }) => query === wanted);
      default:
        this.index ??= new SearchIndex(this.products.map(indexText));
        return this.index.search(keywords).map((i) => this.products[i]);
    }
  }
}
