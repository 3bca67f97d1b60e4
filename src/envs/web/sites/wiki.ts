/** @file The wiki: articles with links and facts, search, editing. */
import { type Child, h } from '../nodes';
import { type Answer, type Notice, noticeFor, type Page, type Request, type Site, type SitesState } from '../site';
import {
  area,
  button,
  type Frame,
  facts,
  form,
  frame,
  hidden,
  link,
  mentions,
  notFound,
  pageLinks,
  slice,
} from './layout';
import { ARTICLES, type Article, COUNTRY } from './wiki-data';

export const WIKI_HOST = 'wiki.example';

export interface WikiState {
  /** Title -> text, where it was edited. */
  readonly edits: Readonly<Record<string, string>>;
  readonly notice: Notice | null;
}

export const initialWiki = (): WikiState => ({ edits: {}, notice: null });

export const wikiPath = (title: string): string => `/wiki/${encodeURIComponent(title.replaceAll(' ', '_'))}`;

const articleAt = (title: string): Article | undefined => {
  const wanted = title.replaceAll('_', ' ').toLowerCase();
  return ARTICLES.find((article) => article.title.toLowerCase() === wanted);
};

const frameOf = (state: WikiState, request: Request): Frame => ({
  site: `Wiki of ${COUNTRY}`,
  links: [
    ['All articles', '/all'],
    [COUNTRY, wikiPath(COUNTRY)],
  ],
  search: { action: '/search', label: 'Search articles', value: request.path === '/search' ? request.query.q : '' },
  notice: noticeFor(state.notice, request),
});

const textOfArticle = (state: WikiState, article: Article): string =>
  Object.hasOwn(state.edits, article.title) ? state.edits[article.title] : article.text;

/** `[[Title]]` becomes a link, everything else stays text. */
const linked = (text: string): Child[] =>
  text.split(/(\[\[[^[\]]+\]\])/).map((part) => {
    const title = /^\[\[(.+)\]\]$/.exec(part)?.[1];
    return title === undefined ? part : link(title, wikiPath(title));
  });

function pageAt(state: WikiState, request: Request): Page {
  const shown = frameOf(state, request);
  const [head, name] = request.segments;
  const article = articleAt(name ?? '');
  switch (head) {
    case undefined:
      return frame(
        shown,
        'Main page',
        h('p', null, 'Welcome. Begin with ', link(COUNTRY, wikiPath(COUNTRY)), ' or search for a title.'),
      );
    case 'wiki':
      if (article === undefined) break;
      return frame(
        shown,
        article.title,
        facts(article.facts, { class: 'infobox' }),
        h('p', { class: 'article' }, linked(textOfArticle(state, article))),
        link(`Edit ${article.title}`, `/edit/${encodeURIComponent(article.title.replaceAll(' ', '_'))}`),
      );
    case 'edit':
      if (article === undefined) break;
      return frame(
        shown,
        `Edit ${article.title}`,
        form(
          { action: '/edit', method: 'post' },
          hidden('title', article.title),
          area('Text', 'text', textOfArticle(state, article), { required: true }),
          button('Save article'),
        ),
      );
    case 'all':
    case 'search': {
      const query = head === 'all' ? '' : (request.query.q ?? '');
      const found = ARTICLES.filter((each) =>
        mentions(`${each.title} ${textOfArticle(state, each)} ${each.facts.flat().join(' ')}`, query),
      )
        // A title that is meant comes before a text that mentions it.
        .sort((a, b) => Number(mentions(b.title, query)) - Number(mentions(a.title, query)));
      const part = slice(found, request.query.p, 10);
      return frame(
        shown,
        head === 'all' ? 'All articles' : `Articles about "${query}"`,
        h('p', null, `${found.length} articles found`),
        h(
          'ul',
          null,
          part.items.map((each) => h('li', null, link(each.title, wikiPath(each.title)))),
        ),
        pageLinks(part, request.path, request.query),
      );
    }
  }
  return notFound(shown);
}

export const wiki: Site = {
  name: 'wiki',
  host: WIKI_HOST,
  handle(state: SitesState, request: Request): Answer {
    if (request.method !== 'POST') return { state, page: pageAt(state.wiki, request) };
    const article = articleAt(request.form.title ?? '');
    const text = (request.form.text ?? '').trim();
    if (request.path !== '/edit' || article === undefined || text === '') return { state, redirect: '/' };
    const redirect = wikiPath(article.title);
    const notice = { path: `/wiki/${article.title.replaceAll(' ', '_')}`, text: 'The article is saved.' };
    return { state: { ...state, wiki: { edits: { ...state.wiki.edits, [article.title]: text }, notice } }, redirect };
  },
};
