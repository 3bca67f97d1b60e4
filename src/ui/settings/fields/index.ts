/**
 * @file Every setting of a run: its name, its bounds and one sentence that says what it does.
 *
 * The form, the link, the validation and the help all read this one table; the bounds are the trainer's own.
 */
import { dreamFields } from './dream';
import type { Field } from './field';
import { learningFields } from './learning';
import { methodFields } from './method';
import { checkingFields, practiceFields, runFields } from './run';

export { type ChoiceField, type Field, type GroupId, groups, type Key, type NumberField } from './field';

export const fields: readonly Field[] = [
  ...runFields,
  ...practiceFields,
  ...dreamFields,
  ...learningFields,
  ...methodFields,
  ...checkingFields,
];

const byKey = new Map<string, Field>(fields.map((field) => [field.key, field]));

/** The field of a key from a link or a file, or undefined. */
export function fieldOf(key: string): Field | undefined {
  return byKey.get(key);
}
