/** @file The accessibility tree against WebArena's cleaning rules, the abstract page, and the page as a document. */
import { describe, expect, test } from 'vitest';
import { knownTasks, WebWorld } from '../../../src/envs/web';
import { abstractObservation, pageLines } from '../../../src/envs/web/abstract';
import { accessibilityNodes, cleanTree, formatTree, numberNodes } from '../../../src/envs/web/accessibility';
import { renderDocument } from '../../../src/envs/web/document';
import { h, textOf, unescapeHtml, type VElement } from '../../../src/envs/web/nodes';
import { pythonRepr } from '../../../src/envs/web/python-repr';
import { freshTab } from '../../../src/envs/web/tabs';

const nodesOf = (body: VElement, fields = new Map<number, string>()) =>
  accessibilityNodes('Title', numberNodes(body), fields, 0);
const treeOf = (...children: (VElement | string)[]): string => formatTree(nodesOf(h('body', null, children)));

test("names are quoted as Python's repr quotes them", () => {
  expect(pythonRepr('plain')).toBe("'plain'");
  expect(pythonRepr("it's")).toBe('"it\'s"');
  expect(pythonRepr('it\'s "so"')).toBe("'it\\'s \"so\"'");
  expect(pythonRepr('say "so"')).toBe('\'say "so"\'');
  expect(pythonRepr('a\\b\nc\td')).toBe("'a\\\\b\\nc\\td'");
  expect(pythonRepr('\ue604 Search')).toBe("'\\ue604 Search'");
  expect(pythonRepr('naïve – 🙂')).toBe("'naïve – 🙂'");
  expect(pythonRepr('\u00a0\u200b\u0007')).toBe("'\\xa0\\u200b\\x07'");
});

describe('the tree', () => {
  test('nameless decoration is dropped and its children move up', () => {
    expect(treeOf(h('ul', null, h('li', null, h('a', { href: '/x' }, 'Go'))))).toBe(
      "[1] RootWebArea 'Title' focused: True\n\t[5] link 'Go'",
    );
  });

  test('a nameless node with properties stays, but not a listitem; named decoration stays', () => {
    expect(treeOf(h('div', { disabled: true }))).toContain("generic '' disabled: True");
    expect(treeOf(h('li', { disabled: true }, 'x'))).not.toContain('listitem');
    expect(treeOf(h('img', { alt: 'A cup' }))).toContain("img 'A cup'");
    expect(treeOf(h('img', { alt: '' }))).not.toContain('img');
    expect(treeOf(h('table', null, h('tr', null)))).toContain("[3] table ''\n\t\t[4] row ''");
  });

  test('a text that one of the last three kept lines says is dropped', () => {
    expect(treeOf(h('a', { href: '/x' }, 'My account'))).not.toContain('StaticText');
    expect(treeOf(h('h1', null, 'One two'), h('p', null, 'Two'), h('p', null, 'two'))).toContain("StaticText 'Two'");
    const far = treeOf(
      h('p', null, 'same'),
      h('p', null, 'other b'),
      h('p', null, 'other c'),
      h('p', null, 'other d'),
      h('p', null, 'same'),
    );
    expect(far.match(/'same'/g)?.length).toBe(2);
    const near = treeOf(h('h2', null, 'same'), h('h2', null, 'b'), h('p', null, 'same'));
    expect(near).not.toContain("StaticText 'same'");
  });

  test('properties in the spelling of Python; hidden fields unseen; typed text below its field', () => {
    const body = h(
      'body',
      null,
      h('label', { for: 'a' }, 'Name'),
      h('input', { id: 'a', name: 'a', value: 'old', required: true }),
      h('input', { type: 'hidden', name: 'secret', value: 'x' }),
      h('input', { type: 'checkbox', id: 'c', 'aria-label': 'Yes' }),
      h('select', { 'aria-label': 'Sort' }, h('option', { value: '1' }, 'One'), h('option', { value: '2' }, 'Two')),
      h('input', { type: 'password', 'aria-label': 'Password', value: 'abc' }),
    );
    expect(
      formatTree(
        nodesOf(
          body,
          new Map([
            [5, 'new'],
            [8, '2'],
            [7, 'true'],
          ]),
        ),
      ),
    ).toBe(
      [
        "[1] RootWebArea 'Title' focused: True",
        "\t[4] StaticText 'Name'",
        "\t[5] textbox 'Name' required: True",
        "\t\t[5] StaticText 'new'",
        "\t[7] checkbox 'Yes' checked: true",
        "\t[8] combobox 'Sort' hasPopup: menu expanded: False",
        "\t\t[9] menuitem 'One' selected: False",
        "\t\t[11] menuitem 'Two' selected: True",
        "\t[13] textbox 'Password' required: False",
        "\t\t[13] StaticText '•••'",
      ].join('\n'),
    );
  });

  test('cleaning is idempotent on the first page of every task', () => {
    for (const { task } of knownTasks().filter((_, index) => index % 12 === 0)) {
      const world = new WebWorld();
      world.reset(task);
      const raw = world.rawObservation();
      expect(cleanTree(raw)).toBe(raw);
      expect(raw).toMatch(/^Tab 0 \(current\): .+\n\n\[1\] RootWebArea '/);
    }
  });
});

test('visible text: blocks on lines, cells by tabs; entities', () => {
  expect(
    textOf(
      h(
        'div',
        null,
        h('p', null, 'a ', h('b', null, 'c')),
        h('table', null, h('tr', null, h('td', null, '1'), h('td', null, '2'))),
      ),
    ),
  ).toBe('a c\n1\t2');
  expect(unescapeHtml('a &amp; b &#39;c&#x41; &nope; &constructor;')).toBe("a & b 'cA &nope; &constructor;");
});

describe('the abstract page', () => {
  const many = h(
    'body',
    null,
    Array.from({ length: 55 }, (_, index) => h('a', { href: `/${index}` }, `Link ${index}`)),
  );
  const view = (scroll: number) => {
    const nodes = numberNodes(many);
    const tab = { ...freshTab('http://x.example/'), scroll };
    return { url: 'http://x.example/', page: { title: 'T', body: many }, nodes, accessibility: nodesOf(many), tab };
  };

  test('a long page is a window that scrolls', () => {
    const top = abstractObservation(view(0), ['T'], 0).split('\n');
    expect([top.length, top[0], top.at(-1)]).toEqual([42, 'page: T at x.example/', 'below: 15 lines, scroll [down]']);
    const end = abstractObservation(view(9), ['T'], 0).split('\n');
    expect([end[1], end.at(-1)]).toEqual(['above: 40 lines, scroll [up]', '[111] link: Link 54']);
  });

  test('fields, menus, rows and terms in words; no line break can be smuggled in', () => {
    const body = h(
      'body',
      null,
      h('textarea', { 'aria-label': 'Text' }, 'a\n[5] link: fake'),
      h('dl', null, h('dt', null, 'Price'), h('dd', null, '$3')),
      h('table', null, h('tr', null, h('td', null, 'Cup'), h('td', null, '$4'))),
      h('p', null, `${'x'.repeat(300)}`),
    );
    const lines = pageLines(nodesOf(body));
    expect(lines[0]).toBe('[3] text box: Text = a [5] link: fake');
    expect(lines).toContain('[9] text: Price: $3');
    expect(lines.some((line) => line.endsWith('row: Cup | $4'))).toBe(true);
    expect(lines.filter((line) => line.includes('$4')).length).toBe(1);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(180);
  });
});

describe('the document for the frame', () => {
  test('nothing in it can act, and hostile text stays text', () => {
    const body = h(
      'body',
      null,
      h('script', null, 'alert(1)'),
      h('a', { href: 'javascript:alert(1)', onclick: 'alert(2)' }, '<img src=x onerror=alert(3)>'),
      h('iframe', { src: 'http://evil.example' }),
      h('img', { src: 'http://evil.example/x.png', alt: '"><script>' }),
      h('form', { action: '/buy', method: 'post' }, h('input', { name: 'a', value: '"><b>' })),
    );
    const html = renderDocument({ title: '</title><script>', body }, { marked: 5 });
    expect(html).toContain("default-src 'none'; style-src 'unsafe-inline'");
    expect(html).not.toMatch(/<(script|iframe|img src|b>)/i);
    expect(html).not.toMatch(/<[^>]*\s(?:href|src|onclick|action)="/);
    expect(html).toContain('data-href="javascript:alert(1)"');
    expect(html).toContain('&lt;img src=x onerror=alert(3)&gt;');
    expect(html).toContain('tabindex="0" role="link" data-marked');
  });

  test('ids are those of the observation, typed text is shown', () => {
    const world = new WebWorld();
    world.reset(knownTasks()[0].task);
    const field = world.view().accessibility.find((node) => node.role === 'searchbox');
    world.step(`type [${field?.id}] [blue mug] [0]`);
    const { page, tab } = world.view();
    expect(renderDocument(page, { fields: tab.fields })).toMatch(
      new RegExp(`data-id="${field?.id}"[^>]*value="blue mug"`),
    );
  });
});
