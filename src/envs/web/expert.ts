/**
 * @file A competent player for the tasks of our own: it knows where a task leads and finds the clicks on the page.
 *
 * It has no memory: the furthest waypoint that the page or the state shows as reached is where it goes on from, so it can
 * take over from any player at any time.
 */
import { fieldValue, isChecked, type Numbered, optionValue } from './accessibility';
import { type Action, actionText } from './actions';
import type { View } from './browser';
import { inlineText, type VElement } from './nodes';
import { parseAddress, resolve } from './site';
import { wayOf } from './tasks';
import type { Waypoint } from './tasks/template';
import type { WebWorld } from './world';

/** Same host, path and non-empty query values. */
function sameAddress(a: string, b: string): boolean {
  const [x, y] = [parseAddress(a), parseAddress(b)];
  if (x === null || y === null || x.host !== y.host || x.path !== y.path) return a === b;
  const keys = new Set([...Object.keys(x.query), ...Object.keys(y.query)]);
  return [...keys].every((key) => (x.query[key] ?? '') === (y.query[key] ?? ''));
}

/** The next action, or null for a task that is not ours. */
export function expertAction(world: WebWorld): string | null {
  const plan = wayOf(world.task);
  if (plan === null || world.evaluation !== null) return null;
  const view = world.view();
  const { sites } = world.state;
  const reached = plan.way.findLastIndex((waypoint) =>
    'at' in waypoint ? sameAddress(waypoint.at, view.url) : waypoint.done(sites),
  );
  const next = plan.way[reached + 1];
  if (next === undefined) return actionText({ kind: 'stop', answer: plan.answer });
  const action = 'at' in next ? towards(view, next.at) : (send(view, next) ?? back(view, plan.way, reached));
  return inSight(world, view, action);
}

/** Away from the form: return to the place before it. */
function back(view: View, way: readonly Waypoint[], reached: number): Action {
  const place = way.slice(0, reached + 1).findLast((waypoint) => 'at' in waypoint);
  return place !== undefined && 'at' in place ? towards(view, place.at) : { kind: 'go_back' };
}

/** One step towards an address: a link, a form that leads there, or the address bar. */
function towards(view: View, url: string): Action {
  const link = view.nodes.find(
    ({ node }) =>
      typeof node !== 'string' &&
      node.tag === 'a' &&
      node.attributes.href !== undefined &&
      sameAddress(resolve(view.url, node.attributes.href), url),
  );
  if (link !== undefined) return { kind: 'click', id: link.id };
  const wanted = parseAddress(url);
  for (const form of forms(view)) {
    const { attributes } = form.element;
    const action = parseAddress(resolve(view.url, attributes.action ?? ''));
    if (attributes.method === 'post' || wanted === null || action === null) continue;
    if (action.host !== wanted.host || action.path !== wanted.path) continue;
    const fields = form.fields.filter(
      ({ element }) => element.attributes.name !== undefined && element.tag !== 'button',
    );
    const names = new Set(fields.map(({ element }) => element.attributes.name));
    if (!Object.keys(wanted.query).every((name) => names.has(name))) continue;
    const hidden = fields.filter(({ element }) => element.attributes.type === 'hidden');
    if (hidden.some(({ element }) => element.attributes.value !== (wanted.query[element.attributes.name] ?? '')))
      continue;
    const step = fillIn(view, form, wanted.query, true);
    if (step !== null) return step;
  }
  return { kind: 'goto', url };
}

interface Form {
  readonly element: VElement;
  readonly fields: readonly { readonly id: number; readonly element: VElement }[];
}

function forms(view: View): Form[] {
  const found: Form[] = [];
  let open: { form: Form & { fields: { id: number; element: VElement }[] }; inside: Set<number> } | null = null;
  for (const { id, node, parent } of view.nodes) {
    if (open !== null && !open.inside.has(parent)) open = null;
    if (open !== null) open.inside.add(id);
    if (typeof node === 'string') continue;
    if (node.tag === 'form') {
      const form = { element: node, fields: [] };
      found.push(form);
      open = { form, inside: new Set([id]) };
    } else if (open !== null && /^(input|select|textarea|button)$/.test(node.tag))
      open.form.fields.push({ id, element: node });
  }
  return found;
}

/** The first field that differs from what is wanted, else the button. null when the form has no button. */
function fillIn(view: View, form: Form, wanted: Readonly<Record<string, string>>, all: boolean): Action | null {
  const { fields } = view.tab;
  const open = form.fields.filter(({ id, element }) => {
    const { name, type } = element.attributes;
    if (name === undefined || type === 'hidden' || element.tag === 'button') return false;
    if (!all && !(name in wanted)) return false;
    if (type === 'checkbox') return isChecked(element, id, fields) !== (wanted[name] === 'yes');
    return fieldValue(element, id, fields) !== (wanted[name] ?? '');
  });
  const [first] = open;
  if (first === undefined) {
    const button = form.fields.find(({ element }) => element.tag === 'button');
    return button === undefined ? null : { kind: 'click', id: button.id };
  }
  const { id, element } = first;
  const value = wanted[element.attributes.name] ?? '';
  if (element.attributes.type === 'checkbox') return { kind: 'click', id };
  if (element.tag === 'select') {
    const option = element.children.find(
      (child): child is VElement => typeof child !== 'string' && optionValue(child) === value,
    );
    return option === undefined ? null : { kind: 'select', id, option: inlineText(option) };
  }
  return { kind: 'type', id, text: value, enter: open.length === 1 && element.tag === 'input' };
}

/** Fills in and sends a form that changes something; null when it is not on this page. */
function send(view: View, waypoint: Extract<Waypoint, { submit: string }>): Action | null {
  for (const form of forms(view)) {
    if (form.element.attributes.method !== 'post' || form.element.attributes.action !== waypoint.submit) continue;
    const hidden = form.fields.filter(({ element }) => element.attributes.type === 'hidden');
    const fits = hidden.every(({ element }) => {
      const wanted = waypoint.fields[element.attributes.name];
      return wanted === undefined || wanted === element.attributes.value;
    });
    if (fits) return fillIn(view, form, waypoint.fields, false);
  }
  return null;
}

/** An element outside the window must be scrolled to first, as for any player of the abstract text. */
function inSight(world: WebWorld, view: View, action: Action): string {
  if (!('id' in action)) return actionText(action);
  const mark = `\n[${action.id}] `;
  if (world.observation().includes(mark)) return actionText(action);
  const order = (id: number): number => view.nodes.findIndex((each: Numbered) => each.id === id);
  const shown = [...world.observation().matchAll(/\n\[(\d+)\] /g)].map((match) => Number(match[1]));
  const above = shown.length > 0 && order(action.id) < order(Math.min(...shown));
  return actionText({ kind: 'scroll', direction: above ? 'up' : 'down' });
}
