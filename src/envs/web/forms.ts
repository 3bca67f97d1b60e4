/** @file What a form sends, by the rules of HTML: successful controls, checked boxes, required fields. */
import { type FieldValues, fieldValue, isChecked, type Numbered } from './accessibility';
import type { VElement } from './nodes';

export interface Field {
  readonly id: number;
  readonly element: VElement;
}

/** The form around an element, or null. */
function formOf(nodes: readonly Numbered[], id: number): { id: number; element: VElement } | null {
  for (let at: Numbered | undefined = nodes[id - 2]; at !== undefined; at = nodes[at.parent - 2])
    if (typeof at.node !== 'string' && at.node.tag === 'form') return { id: at.id, element: at.node };
  return null;
}

/** Named controls of the form around an element, in document order. */
export function fieldsOfForm(nodes: readonly Numbered[], id: number): Field[] {
  const form = formOf(nodes, id);
  const found: Field[] = [];
  if (form === null) return found;
  const inside = new Set([form.id]);
  // Nodes come in document order, so a form's own stand together behind it.
  for (let at = form.id - 1; at < nodes.length; at++) {
    const { node, parent, id: own } = nodes[at];
    if (!inside.has(parent)) break;
    inside.add(own);
    if (typeof node !== 'string' && node.tag !== 'a' && node.attributes.name !== undefined)
      found.push({ id: own, element: node });
  }
  return found;
}

export type SentForm =
  | { readonly form: VElement; readonly values: Readonly<Record<string, string>> }
  /** Id of the first required field that is empty. */
  | { readonly lacking: number };

/** What a click on (or Enter in) `id` sends; null when no form is around it. */
export function sentForm(
  view: { nodes: readonly Numbered[]; tab: { fields: FieldValues } },
  id: number,
): SentForm | null {
  const form = formOf(view.nodes, id);
  if (form === null) return null;
  const { fields } = view.tab;
  const values: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const { id: own, element } of fieldsOfForm(view.nodes, id)) {
    const { name, type } = element.attributes;
    if (type === 'checkbox' || type === 'radio') {
      if (isChecked(element, own, fields)) values[name] = element.attributes.value ?? 'on';
    } else if (element.tag === 'button' || type === 'submit') {
      if (own === id) values[name] = element.attributes.value ?? '';
    } else {
      const value = fieldValue(element, own, fields);
      if (element.attributes.required !== undefined && value.trim() === '') return { lacking: own };
      values[name] = value;
    }
  }
  return { form: form.element, values };
}
