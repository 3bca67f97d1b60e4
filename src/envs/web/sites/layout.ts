/** @file What the pages of all sites share: the frame around them, forms, tables, page links. */
import { type Child, h, type VElement } from '../nodes';
import { href, type Page } from '../site';

export interface Frame {
  readonly site: string;
  /** Links of the head: label -> address. */
  readonly links: readonly (readonly [string, string])[];
  /** Signed-in user, null when nobody is. */
  readonly user?: string | null;
  readonly search?: { readonly action: string; readonly label: string; readonly value?: string };
  /** Shown above the page: what the last request did. */
  readonly notice?: string;
}

export function frame(frameOf: Frame, title: string, ...content: Child[]): Page {
  const { site, links, user, search, notice } = frameOf;
  const body = h(
    'body',
    { class: 'page' },
    h(
      'header',
      null,
      h('a', { href: '/', class: 'brand' }, site),
      search &&
        form(
          { action: search.action, method: 'get', role: 'search' },
          h('input', { type: 'search', name: 'q', 'aria-label': search.label, value: search.value ?? '' }),
          button('Search'),
        ),
      h(
        'nav',
        null,
        links.map(([label, to]) => link(label, to)),
        user === null && link('Sign in', '/login'),
        typeof user === 'string' && [h('span', { class: 'who' }, `Signed in as ${user}`), post('/logout', 'Sign out')],
      ),
    ),
    h(
      'main',
      null,
      notice !== undefined && notice !== '' && h('p', { class: 'notice', role: 'alert' }, notice),
      h('h1', null, title),
      content,
    ),
  );
  // One line, whatever a user put into the title of a post.
  return { title: `${title.replace(/\s+/g, ' ')} - ${site}`, body };
}

export const link = (label: string, to: string, attributes: Record<string, string> = {}): VElement =>
  h('a', { href: to, ...attributes }, label);

export const button = (label: string, attributes: Record<string, string> = {}): VElement =>
  h('button', { type: 'submit', ...attributes }, label);

export const form = (attributes: Record<string, string>, ...content: Child[]): VElement =>
  h('form', attributes, content);

/** A button that posts, with hidden fields. */
export const post = (action: string, label: string, fields: Record<string, string | number> = {}): VElement =>
  form(
    { action, method: 'post' },
    Object.entries(fields).map(([name, value]) => hidden(name, value)),
    button(label),
  );

export const hidden = (name: string, value: string | number): VElement => h('input', { type: 'hidden', name, value });

export function field(
  label: string,
  name: string,
  value = '',
  attributes: Record<string, string | boolean> = {},
): VElement {
  return h(
    'p',
    null,
    h('label', { for: name }, label),
    h('input', { type: 'text', id: name, name, value, ...attributes }),
  );
}

export const area = (
  label: string,
  name: string,
  value = '',
  attributes: Record<string, string | boolean> = {},
): VElement => h('p', null, h('label', { for: name }, label), h('textarea', { id: name, name, ...attributes }, value));

export function choice(
  label: string,
  name: string,
  options: readonly (readonly [string, string])[],
  chosen: string,
  submits = false,
): VElement {
  return h(
    'p',
    null,
    h('label', { for: name }, label),
    h(
      'select',
      { id: name, name, 'data-submit': submits },
      options.map(([value, text]) => h('option', { value, selected: value === chosen }, text)),
    ),
  );
}

export const checkbox = (label: string, name: string, checked: boolean): VElement =>
  h(
    'p',
    null,
    h('input', { type: 'checkbox', id: name, name, value: 'yes', checked }),
    h('label', { for: name }, label),
  );

export function table(
  heads: readonly string[],
  rows: readonly (readonly Child[])[],
  attributes: Record<string, string> = {},
): VElement {
  return h(
    'table',
    attributes,
    h(
      'tr',
      null,
      heads.map((head) => h('th', null, head)),
    ),
    rows.map((row) =>
      h(
        'tr',
        null,
        row.map((cell) => h('td', null, cell)),
      ),
    ),
  );
}

/** Facts as a list of terms. */
export const facts = (
  entries: readonly (readonly [string, Child])[],
  attributes: Record<string, string> = {},
): VElement =>
  h(
    'dl',
    attributes,
    entries.map(([term, value]) => [h('dt', null, term), h('dd', null, value)]),
  );

export interface Slice<T> {
  readonly items: readonly T[];
  readonly page: number;
  readonly pages: number;
}

/** Page `asked` (a text from an address) of a list; out of range or unreadable means the nearest page. */
export function slice<T>(items: readonly T[], asked: string | undefined, size: number): Slice<T> {
  const pages = Math.max(1, Math.ceil(items.length / size));
  const page = Math.min(pages, Math.max(1, Number.parseInt(asked ?? '1', 10) || 1));
  return { items: items.slice((page - 1) * size, page * size), page, pages };
}

export function pageLinks<T>(part: Slice<T>, path: string, query: Readonly<Record<string, string>>): Child {
  if (part.pages === 1) return null;
  const to = (page: number): string => href(path, { ...query, p: page === 1 ? '' : page });
  return h(
    'nav',
    { 'aria-label': 'Pages' },
    part.page > 1 && link('Previous page', to(part.page - 1)),
    h('span', null, `Page ${part.page} of ${part.pages}`),
    part.page < part.pages && link('Next page', to(part.page + 1)),
  );
}

export const notFound = (frameOf: Frame): Page =>
  frame(
    frameOf,
    'Page not found',
    h('p', null, 'There is nothing at this address.'),
    link('Go to the front page', '/'),
  );

export function loginPage(frameOf: Frame, failed: boolean, next: string): Page {
  return frame(
    frameOf,
    'Sign in',
    failed && h('p', { role: 'alert' }, 'The user name or the password is wrong.'),
    form(
      { action: '/login', method: 'post' },
      hidden('next', next),
      field('User name', 'user', '', { required: true }),
      field('Password', 'password', '', { type: 'password', required: true }),
      button('Sign in'),
    ),
  );
}

/** Only addresses of this very site may follow a sign-in. */
export const localPath = (path: string | undefined): string =>
  path !== undefined && /^\/(?!\/)/.test(path) ? path : '/';

/** Every word of `query` occurs in `text`. */
export function mentions(text: string, query: string): boolean {
  const low = text.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => low.includes(word));
}

export const slugOf = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
