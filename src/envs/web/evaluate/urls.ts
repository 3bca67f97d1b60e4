/**
 * @file url_match: did the agent end on the right page?
 *
 * `GOLD in PRED`: some reference's host and path occur in those of the page, and for every query key of the references
 * one of its values is in the page's query. `EXACT`: the address, but for a slash at the end, is one of the references.
 */
import type { Component } from './answers';

const clean = (url: string): string => {
  const text = url.replace('http://localhost', 'http://127.0.0.1');
  return text.endsWith('/') ? text.slice(0, -1) : text;
};

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** Host + path, and query key -> values, as urllib's urlparse and parse_qs (which drops empty values). */
export function splitUrl(url: string): { base: string; query: Map<string, string[]> } {
  const match = /^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?/.exec(url);
  const query = new Map<string, string[]>();
  for (const pair of (match?.[3] ?? '').split('&')) {
    const cut = pair.indexOf('=');
    if (cut < 0 || cut === pair.length - 1) continue;
    const name = decoded(pair.slice(0, cut));
    query.set(name, [...(query.get(name) ?? []), decoded(pair.slice(cut + 1))]);
  }
  return { base: (match?.[1] ?? '') + (match?.[2] ?? ''), query };
}

export function checkUrl(
  referenceUrl: string,
  rule: string,
  url: string,
  evaluator: 'url_match' | 'url_exact',
): Component[] {
  const references = referenceUrl.split(' |OR| ').map(clean);
  const page = clean(url);
  const component = (name: string, expected: string, found: string, passed: boolean, note?: string): Component => ({
    evaluator,
    rule: name,
    expected,
    found,
    verdict: passed ? 'pass' : 'fail',
    ...(note === undefined ? {} : { note }),
  });
  if (rule === 'EXACT') return [component('EXACT', references.join(' or '), page, references.includes(page))];
  if (rule !== 'GOLD in PRED') return [component(rule, referenceUrl, page, false, `unknown matching rule "${rule}"`)];
  const gold = references.map(splitUrl);
  const seen = splitUrl(page);
  const components = [
    component(
      'host and path',
      gold.map(({ base }) => base).join(' or '),
      seen.base,
      gold.some(({ base }) => seen.base.includes(base)),
    ),
  ];
  const keys = new Map<string, string[]>();
  for (const { query } of gold) for (const [key, values] of query) keys.set(key, [...(keys.get(key) ?? []), ...values]);
  for (const [key, values] of keys) {
    const found = seen.query.get(key) ?? [];
    components.push(
      component(
        `query ${key}`,
        values.join(' or '),
        found.join(', '),
        values.some((value) => found.includes(value)),
      ),
    );
  }
  return components;
}
