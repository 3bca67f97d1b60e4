/**
 * @file The accessibility tree of a page as WebArena prints it: `[id] role 'name' prop: value`, one tab per level.
 *
 * Rules of web-arena-x/webarena browser_env/processors.py: nameless decoration is dropped and its children move up; a
 * StaticText that one of the last three kept lines already says is dropped. An id is the node's place in the page, in
 * document order, so equal pages have equal ids (real browsers renumber at every load).
 */
import { inlineText, type VElement, type VNode } from './nodes';
import { pythonRepr } from './python-repr';

/** What the agent typed or chose on this page and did not send yet: element id -> text, or 'true' / 'false'. */
export type FieldValues = ReadonlyMap<number, string>;

/** An element or text of a page, numbered in document order from 1 (the document itself). */
export interface Numbered {
  readonly id: number;
  readonly node: VNode;
  /** Id of the parent; 0 for the body, whose parent is the document. */
  readonly parent: number;
}

export interface AxNode {
  readonly id: number;
  readonly role: string;
  readonly name: string;
  /** `name: value`, ready to print. */
  readonly properties: readonly string[];
  readonly depth: number;
  readonly element: VElement | null;
}

/** Every node of a page: index = id - 2, because the document itself is 1. */
export function numberNodes(body: VElement): Numbered[] {
  const all: Numbered[] = [];
  const visit = (node: VNode, parent: number): void => {
    const id = all.length + 2;
    all.push({ id, node, parent });
    if (typeof node !== 'string') for (const child of node.children) visit(child, id);
  };
  visit(body, 0);
  return all;
}

const ROLES: Record<string, string> = {
  button: 'button',
  p: 'paragraph',
  ul: 'list',
  ol: 'list',
  li: 'listitem',
  table: 'table',
  tr: 'row',
  th: 'columnheader',
  td: 'gridcell',
  img: 'img',
  nav: 'navigation',
  header: 'banner',
  footer: 'contentinfo',
  main: 'main',
  article: 'article',
  strong: 'strong',
  em: 'emphasis',
  label: 'LabelText',
  fieldset: 'group',
  legend: 'Legend',
  select: 'combobox',
  option: 'menuitem',
  textarea: 'textbox',
  dl: 'DescriptionList',
  dt: 'term',
  dd: 'definition',
  time: 'time',
  code: 'code',
  pre: 'Pre',
  blockquote: 'blockquote',
  hr: 'separator',
  body: 'generic',
};

const INPUT_ROLES: Record<string, string> = {
  checkbox: 'checkbox',
  radio: 'radio',
  search: 'searchbox',
  submit: 'button',
  button: 'button',
  number: 'spinbutton',
};

export function roleOf(element: VElement): string {
  const explicit = element.attributes.role;
  if (explicit !== undefined) return explicit;
  const { tag } = element;
  if (tag === 'a') return element.attributes.href === undefined ? 'generic' : 'link';
  if (tag === 'input') return INPUT_ROLES[element.attributes.type ?? 'text'] ?? 'textbox';
  if (tag === 'section') return element.attributes['aria-label'] === undefined ? 'Section' : 'region';
  if (tag.length === 2 && tag[0] === 'h' && tag[1] >= '1' && tag[1] <= '6') return 'heading';
  return ROLES[tag] ?? 'generic';
}

const NAMED_BY_CONTENT = new Set(['link', 'button', 'heading', 'row', 'gridcell', 'columnheader', 'menuitem', 'tab']);
const FIELD_TAGS = new Set(['input', 'select', 'textarea']);

/** Labels of a page by the id attribute of the field they are for. */
export function labelsOf(nodes: readonly Numbered[]): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  for (const { node } of nodes) {
    if (typeof node !== 'string' && node.tag === 'label' && node.attributes.for !== undefined)
      labels.set(node.attributes.for, inlineText(node));
  }
  return labels;
}

export function nameOf(element: VElement, role: string, labels: ReadonlyMap<string, string>): string {
  const { attributes } = element;
  if (attributes['aria-label'] !== undefined) return attributes['aria-label'];
  if (element.tag === 'img') return attributes.alt ?? '';
  if (FIELD_TAGS.has(element.tag)) {
    if (role === 'button') return attributes.value ?? 'Submit';
    return labels.get(attributes.id ?? '') ?? attributes.placeholder ?? attributes.title ?? '';
  }
  if (NAMED_BY_CONTENT.has(role)) return inlineText(element);
  return attributes.title ?? '';
}

/** Default or typed text of a text field; the chosen value of a select. */
export function fieldValue(element: VElement, id: number, fields: FieldValues): string {
  const typed = fields.get(id);
  if (typed !== undefined) return typed;
  if (element.tag === 'textarea') return inlineTextArea(element);
  if (element.tag === 'select') {
    const options = element.children.filter((child): child is VElement => typeof child !== 'string');
    const chosen = options.find((option) => option.attributes.selected !== undefined) ?? options[0];
    return chosen === undefined ? '' : optionValue(chosen);
  }
  return element.attributes.value ?? '';
}

const inlineTextArea = (element: VElement): string =>
  element.children.map((child) => (typeof child === 'string' ? child : '')).join('');

export const optionValue = (option: VElement): string => option.attributes.value ?? inlineText(option);

export function isChecked(element: VElement, id: number, fields: FieldValues): boolean {
  const chosen = fields.get(id);
  return chosen === undefined ? element.attributes.checked !== undefined : chosen === 'true';
}

/** Properties that Chromium reports and WebArena keeps, in Python's spelling. */
function propertiesOf(element: VElement, role: string, id: number, fields: FieldValues, focus: number): string[] {
  const properties: string[] = [];
  if (id === focus) properties.push('focused: True');
  if (element.attributes.disabled !== undefined) properties.push('disabled: True');
  if (role === 'combobox') properties.push('hasPopup: menu', 'expanded: False');
  if (role === 'textbox' || role === 'searchbox' || role === 'spinbutton')
    properties.push(`required: ${element.attributes.required === undefined ? 'False' : 'True'}`);
  if (role === 'checkbox' || role === 'radio') properties.push(`checked: ${isChecked(element, id, fields)}`);
  if (element.attributes['aria-selected'] === 'true') properties.push('selected: True');
  return properties;
}

const DROPPED_WHEN_EMPTY = new Set([
  'generic',
  'img',
  'list',
  'strong',
  'paragraph',
  'banner',
  'navigation',
  'Section',
  'LabelText',
  'Legend',
  'listitem',
]);

/** Whether WebArena prints the node at all. */
export function isKept(role: string, name: string, properties: readonly string[]): boolean {
  if (name.trim() !== '') return true;
  return properties.length === 0 ? !DROPPED_WHEN_EMPTY.has(role) : role !== 'listitem';
}

/** The tree after the first rule (drop nameless decoration), in document order, with the document as first node. */
export function accessibilityNodes(
  title: string,
  nodes: readonly Numbered[],
  fields: FieldValues,
  focus: number,
): AxNode[] {
  const labels = labelsOf(nodes);
  const kept: AxNode[] = [
    {
      id: 1,
      role: 'RootWebArea',
      name: title,
      properties: focus === 0 ? ['focused: True'] : [],
      depth: 0,
      element: null,
    },
  ];
  // Depth of a node's children, by id; nodes come parents first.
  const inner = new Int16Array(nodes.length + 2);
  inner[0] = 1;
  for (const { id, node, parent } of nodes) {
    const depth = inner[parent];
    if (depth < 0) {
      inner[id] = -1;
      continue;
    }
    if (typeof node === 'string') {
      const text = node.replace(/\s+/g, ' ').trim();
      if (text !== '') kept.push({ id, role: 'StaticText', name: text, properties: [], depth, element: null });
      continue;
    }
    if (node.attributes.type === 'hidden' || node.tag === 'style') {
      inner[id] = -1;
      continue;
    }
    const role = roleOf(node);
    const name = nameOf(node, role, labels);
    const properties = propertiesOf(node, role, id, fields, focus);
    if (role === 'menuitem') {
      const select = nodes[parent - 2];
      const chosen = typeof select.node !== 'string' && fieldValue(select.node, parent, fields) === optionValue(node);
      properties.push(`selected: ${chosen ? 'True' : 'False'}`);
    }
    const keep = isKept(role, name, properties);
    if (keep) kept.push({ id, role, name, properties, depth, element: node });
    inner[id] = keep ? depth + 1 : depth;
    if (node.tag === 'input' || node.tag === 'textarea') {
      // A browser shows the content of a field as a text below it.
      const value =
        role === 'textbox' || role === 'searchbox' || role === 'spinbutton' ? fieldValue(node, id, fields) : '';
      const shown = node.attributes.type === 'password' ? '•'.repeat(value.length) : value.replace(/\s+/g, ' ').trim();
      if (shown !== '')
        kept.push({ id, role: 'StaticText', name: shown, properties: [], depth: depth + 1, element: null });
      inner[id] = -1;
    }
  }
  return kept;
}

export function formatNode(node: AxNode): string {
  const properties = node.properties.length === 0 ? '' : ` ${node.properties.join(' ')}`;
  return `[${node.id}] ${node.role} ${pythonRepr(node.name)}${properties}`;
}

/** The second rule, on text: drops a StaticText that one of the three lines kept before it contains. Idempotent. */
export function cleanTree(text: string): string {
  const kept: string[] = [];
  for (const line of text.split('\n')) {
    const match = /\[\d+\] StaticText (.+)/.exec(line);
    if (match === null) {
      // Upstream loses a line that says StaticText but does not parse; so do we.
      if (!line.toLowerCase().includes('statictext')) kept.push(line);
      continue;
    }
    const said = match[1].slice(1, -1);
    if (said !== '' && kept.slice(-3).every((previous) => !previous.includes(said))) kept.push(line);
  }
  return kept.join('\n');
}

export function formatTree(nodes: readonly AxNode[]): string {
  return cleanTree(nodes.map((node) => '\t'.repeat(node.depth) + formatNode(node)).join('\n'));
}
