/** @file Checks settings from the form, a link, a script or a file: out of range is clamped and said, nonsense is refused and said. */
import * as v from 'valibot';
import { runConfigSchema } from '../../dream/presets';
import type { RunConfig, TypedError } from '../../worker/protocol';
import { visibleLine } from '../text/visible';
import { type Field, fieldOf, type Key, type NumberField } from './fields';

export type Checked = { ok: true; value: RunConfig[Key]; note?: string } | { ok: false; note: string };

const schemas = runConfigSchema.entries as Record<Key, v.GenericSchema>;

function clamp(field: NumberField, value: number): number {
  const inside = Math.min(Math.max(value, field.min), field.max);
  return field.whole ? Math.round(inside) : inside;
}

/** One value, already typed (number, string, boolean). Numbers out of range come back clamped, with a note. */
export function checkValue(field: Field, value: unknown): Checked {
  const result = v.safeParse(schemas[field.key], value);
  if (result.success) return { ok: true, value: result.output as RunConfig[Key] };
  const why = result.issues[0].message;
  if (field.kind === 'number' && typeof value === 'number' && Number.isFinite(value)) {
    const used = clamp(field, value);
    return { ok: true, value: used, note: `${field.label}: ${value} ${why}; ${used} is used.` };
  }
  return { ok: false, note: `${field.label}: “${visibleLine(String(value), 40)}” ${why}.` };
}

const numeral = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** One value as written by a person or a link. */
export function checkText(field: Field, text: string): Checked {
  const trimmed = text.trim();
  if (field.kind === 'choice') return checkValue(field, trimmed);
  if (field.kind === 'switch') {
    if (/^(1|true|on|yes)$/i.test(trimmed)) return { ok: true, value: true };
    if (/^(0|false|off|no)$/i.test(trimmed)) return { ok: true, value: false };
    return checkValue(field, trimmed);
  }
  if (!numeral.test(trimmed))
    return { ok: false, note: `${field.label}: “${visibleLine(trimmed, 40)}” is not a number.` };
  return checkValue(field, Number(trimmed));
}

/** A partial configuration from a script or a file: known and valid entries are kept, the rest is said. */
export function checkConfig(input: unknown): { config: Partial<RunConfig>; notes: string[] } {
  const notes: string[] = [];
  const config: Record<string, RunConfig[Key]> = {};
  if (typeof input !== 'object' || input === null) return { config: {}, notes: ['The settings are not an object.'] };
  for (const [key, value] of Object.entries(input)) {
    if (value === undefined) continue;
    const field = fieldOf(key);
    if (!field) {
      notes.push(`There is no setting “${visibleLine(key, 40)}”; it is ignored.`);
      continue;
    }
    const checked = checkValue(field, value);
    if (checked.ok) config[field.key] = checked.value;
    if (checked.note) notes.push(checked.note);
  }
  return { config: config as Partial<RunConfig>, notes };
}

/** The notes as one message for the page. */
export function settingsNotice(code: string, where: string, notes: readonly string[]): TypedError {
  return {
    code,
    message: `${where}: ${notes.join(' ')}`,
    advice: 'Everything else was taken over. Open Settings to see and change the values in use.',
  };
}
