/** @file A form in words: for a person at a terminal, and for a policy that has to fill it in. */
import { type ActionForm, type FormField, mainField } from './action-form';

/** One line on how to write an action, then a line for each field. */
export function formWords(form: ActionForm): string[] {
  const main = mainField(form);
  const how =
    form.fields.length === 0
      ? 'An action has no fields: any text will do.'
      : main
        ? `Write the ${main.name} as it is${form.fields.length > 1 ? ', or a JSON object with several fields' : ''}.`
        : 'Write a JSON object with these fields.';
  return [how, ...form.fields.map((field) => `  ${fieldWords(field)}`)];
}

const shownChoices = 20;

function fieldWords(field: FormField): string {
  const facts = [kindWords(field)];
  if (field.required) facts.push('required');
  if ('default' in field) facts.push(`default ${(JSON.stringify(field.default) ?? 'none').slice(0, 60)}`);
  const about = field.description.replace(/\s+/g, ' ').trim().slice(0, 300);
  return `${field.name}: ${facts.join(', ')}${about === '' ? '' : `. ${about}`}`;
}

function kindWords({ kind, choices = [], min, max, maxLength }: FormField): string {
  switch (kind) {
    case 'choice': {
      const more = choices.length > shownChoices ? ', …' : '';
      return `one of ${choices.slice(0, shownChoices).join(', ')}${more}`;
    }
    case 'integer':
    case 'number': {
      const name = kind === 'integer' ? 'a whole number' : 'a number';
      if (min !== undefined && max !== undefined) return `${name} from ${min} to ${max}`;
      if (min !== undefined) return `${name} of at least ${min}`;
      return max === undefined ? name : `${name} of at most ${max}`;
    }
    case 'boolean':
      return 'true or false';
    case 'text':
      return maxLength === undefined ? 'text' : `text of at most ${maxLength} letters`;
    case 'json':
      return 'any JSON';
  }
}

/** An action of this form: what a policy is shown as an example. */
export function exampleAction(form: ActionForm): string {
  const main = mainField(form);
  if (main) return String(exampleValue(main));
  const needed = form.fields.filter((field) => field.required);
  const fields = needed.length > 0 ? needed : form.fields.slice(0, 2);
  return JSON.stringify(Object.fromEntries(fields.map((field) => [field.name, exampleValue(field)])));
}

function exampleValue(field: FormField): unknown {
  if (field.default !== undefined && field.default !== null && field.kind !== 'json') return field.default;
  switch (field.kind) {
    case 'choice':
      return field.choices?.[0] ?? '';
    case 'integer':
    case 'number':
      return field.min ?? Math.min(0, field.max ?? 0);
    case 'boolean':
      return true;
    default:
      return 'hello';
  }
}
