/**
 * @file A page as a whole HTML document for a sandboxed frame: `<iframe sandbox srcdoc>`, or, where the page around it
 * forbids inline styles (a srcdoc inherits that), written into public/sandbox-frame.html.
 *
 * Nothing in it can act: no script, no address that a browser would follow (links and forms carry theirs in data-href and
 * data-action), a policy that forbids every load, and a frame that is sandboxed anyway. `data-id` is the id the agent sees.
 */
import { type FieldValues, fieldValue, isChecked, numberNodes } from './accessibility';
import { escapeHtml, type VElement } from './nodes';
import { PAGE_STYLE } from './page-style';
import type { Page } from './site';

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'";

/** Elements a page may consist of; anything else is shown as a span. */
const TAGS = new Set(
  (
    'a article aside blockquote body br button code dd div dl dt em fieldset footer form h1 h2 h3 h4 h5 h6 header hr img input label ' +
    'legend li main nav ol option p pre section select span strong table td textarea th time tr ul'
  ).split(' '),
);
const VOID = new Set(['br', 'hr', 'img', 'input']);
/** Attributes that only describe. Addresses are renamed, everything else is left out. */
const PLAIN = new Set('alt aria-label class disabled for id name placeholder required role title type'.split(' '));

export interface DocumentOptions {
  readonly fields?: FieldValues;
  /** Id of an element to outline: the one the agent acted on. */
  readonly marked?: number;
}

export function renderDocument(page: Page, options: DocumentOptions = {}): string {
  const fields = options.fields ?? new Map<number, string>();
  const ids = new Map<VElement, number>();
  // Equal ids to the agent's, because both number the same tree the same way.
  for (const { id, node } of numberNodes(page.body)) if (typeof node !== 'string') ids.set(node, id);
  let html = '';
  const visit = (element: VElement, chosen?: string): void => {
    const id = ids.get(element) ?? 0;
    const tag = TAGS.has(element.tag) ? element.tag : 'span';
    html += `<${tag} data-id="${id}"${attributesOf(element, id, fields)}`;
    if (id === options.marked) html += ' data-marked';
    if (chosen !== undefined && (element.attributes.value ?? '') === chosen) html += ' selected';
    html += '>';
    if (VOID.has(tag)) return;
    const value = tag === 'select' ? fieldValue(element, id, fields) : undefined;
    if (tag === 'textarea') html += escapeHtml(fieldValue(element, id, fields));
    else {
      for (const child of element.children) {
        if (typeof child === 'string') html += escapeHtml(child);
        else visit(child, value);
      }
    }
    html += `</${tag}>`;
  };
  visit(page.body);
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}">` +
    `<title>${escapeHtml(page.title)}</title><style>${PAGE_STYLE}</style></head>${html}</html>`
  );
}

function attributesOf(element: VElement, id: number, fields: FieldValues): string {
  let text = '';
  for (const [name, value] of Object.entries(element.attributes)) {
    if (PLAIN.has(name)) text += ` ${name}="${escapeHtml(value)}"`;
    else if (name === 'href' || name === 'action') text += ` data-${name}="${escapeHtml(value)}"`;
  }
  if (element.tag === 'a' && element.attributes.href !== undefined) text += ' tabindex="0" role="link"';
  if (element.tag === 'input') {
    const { type } = element.attributes;
    if (type === 'checkbox' || type === 'radio') text += isChecked(element, id, fields) ? ' checked' : '';
    else if (type !== 'hidden') text += ` value="${escapeHtml(fieldValue(element, id, fields))}"`;
  }
  return text;
}
