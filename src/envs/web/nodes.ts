/**
 * @file A page as a tree of plain nodes. HTML text (for a sandboxed frame), the accessibility tree (for the agent) and
 * the evaluators' selectors all read this one tree, so that no DOM is needed to play and a step is the same everywhere.
 */

export interface VElement {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly VNode[];
}
export type VNode = VElement | string;

type AttributeValue = string | number | boolean | null | undefined;
export type Child = VNode | number | null | false | undefined | readonly Child[];

/** One element. `true` attributes are written empty; false, null and undefined ones are left out. */
export function h(tag: string, attributes: Record<string, AttributeValue> | null, ...children: Child[]): VElement {
  const kept: Record<string, string> = {};
  if (attributes !== null) {
    for (const name in attributes) {
      const value = attributes[name];
      if (value === false || value === null || value === undefined) continue;
      kept[name] = value === true ? '' : String(value);
    }
  }
  const flat: VNode[] = [];
  flatten(children, flat);
  return { tag, attributes: kept, children: flat };
}

function flatten(children: readonly Child[], into: VNode[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (typeof child === 'number') into.push(String(child));
    else if (typeof child === 'string') {
      if (child !== '') into.push(child);
    } else if (Array.isArray(child)) flatten(child as readonly Child[], into);
    else into.push(child as VElement);
  }
}

/** Elements that start a new line in `textOf`, as block boxes do in a browser's innerText. */
const BLOCK = new Set(
  'address article aside blockquote div dd dl dt fieldset footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol option p pre section table tr ul'.split(
    ' ',
  ),
);

/** Visible text: inline text joined as it stands, blocks on lines of their own, table cells separated by tabs. */
export function textOf(node: VNode): string {
  const parts: string[] = [];
  collectText(node, parts);
  return parts
    .join('')
    .replace(/[ \f\r]+/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n')
    .trim();
}

function collectText(node: VNode, parts: string[]): void {
  if (typeof node === 'string') {
    parts.push(node);
    return;
  }
  const block = BLOCK.has(node.tag);
  if (block) parts.push('\n');
  if (node.tag === 'br') parts.push('\n');
  for (const child of node.children) collectText(child, parts);
  if (node.tag === 'td' || node.tag === 'th') parts.push('\t');
  if (block) parts.push('\n');
}

/** Text on one line, as an accessible name is. */
export function inlineText(node: VNode): string {
  if (typeof node === 'string') return node.replace(/\s+/g, ' ').trim();
  let text = '';
  const visit = (current: VNode): void => {
    if (typeof current === 'string') text += current;
    else {
      if (current.tag === 'img') text += ` ${current.attributes.alt ?? ''} `;
      const apart = BLOCK.has(current.tag) || current.tag === 'td' || current.tag === 'th';
      if (apart) text += ' ';
      for (const child of current.children) visit(child);
      if (apart) text += ' ';
    }
  };
  visit(node);
  return text.replace(/\s+/g, ' ').trim();
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]);
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** The character references that pages really use. */
export function unescapeHtml(text: string): string {
  return text.replace(/&(?:#(\d+)|#[xX]([0-9a-fA-F]+)|(\w+));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : whole;
    const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
