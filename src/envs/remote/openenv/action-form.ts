/**
 * @file A form out of a JSON Schema: which fields an action has, for a person to fill in and for a policy's text to become.
 *
 * Understood is what pydantic writes (types, enum, const, $ref into $defs, Optional as anyOf with null); anything else is a
 * field of JSON. The schema is a stranger's: depth and number of fields are bounded, references cannot run in circles.
 */
import { isJsonObject, type JsonObject } from '../../../data/json-object';
import * as errors from '../errors';
import { parseJson, plainText } from '../plain-values';

export type FieldKind = 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'json';

export interface FormField {
  name: string;
  kind: FieldKind;
  title: string;
  description: string;
  required: boolean;
  /** Present when the schema has one. */
  default?: unknown;
  /** Of numbers, inclusive. */
  min?: number;
  max?: number;
  /** Of text, in letters. */
  maxLength?: number;
  /** Of a choice. */
  choices?: readonly (string | number | boolean)[];
  /** Optional[...]: null is a value too. */
  nullable: boolean;
}

export interface ActionForm {
  title: string;
  description: string;
  fields: readonly FormField[];
}

const maxFields = 64;
const maxChoices = 1000;
const maxReferences = 8;

const shortText = (value: unknown, limit: number) =>
  typeof value === 'string' ? plainText(value).slice(0, limit) : '';
const finite = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** `schema` is the `action` of an OpenEnv server's /schema. Throws `remote-action-form` for what describes no object. */
export function formFromSchema(schema: unknown): ActionForm {
  if (!isJsonObject(schema)) throw errors.badForm('the schema is no object');
  const root = resolved(schema, schema).schema;
  if (!isJsonObject(root.properties)) throw errors.badForm('the schema has no properties');
  const entries = Object.entries(root.properties);
  if (entries.length > maxFields) throw errors.badForm(`the schema has more than ${maxFields} fields`);
  const required = new Set(Array.isArray(root.required) ? root.required : []);
  const fields = entries
    .map(([name, property]) => fieldOf(name, property, required.has(name), schema))
    // Every OpenEnv action inherits a bag for remarks, which is nothing to ask a person or a policy for.
    .filter((field) => field.name !== 'metadata' || field.required);
  return { title: shortText(root.title, 200), description: shortText(root.description, 2000), fields };
}

function fieldOf(name: string, property: unknown, required: boolean, root: JsonObject): FormField {
  const { schema, nullable } = resolved(isJsonObject(property) ? property : {}, root);
  const own = isJsonObject(property) ? property : {};
  const field: FormField = {
    name: name.slice(0, 200),
    kind: 'json',
    title: shortText(own.title ?? schema.title, 200) || name.slice(0, 200),
    description: shortText(own.description ?? schema.description, 2000),
    required,
    nullable,
  };
  if ('default' in own) field.default = own.default;
  const choices = 'const' in schema ? [schema.const] : schema.enum;
  if (Array.isArray(choices) && choices.length > 0 && choices.length <= maxChoices && choices.every(isChoice))
    return { ...field, kind: 'choice', choices };
  switch (schema.type) {
    case 'string':
      return { ...field, kind: 'text', ...optional('maxLength', finite(schema.maxLength)) };
    case 'boolean':
      return { ...field, kind: 'boolean' };
    case 'integer':
    case 'number':
      return { ...field, kind: schema.type, ...limitsOf(schema) };
    default:
      return field;
  }
}

const isChoice = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'boolean' || finite(value) !== undefined;

const optional = <K extends string>(key: K, value: number | undefined): Partial<Record<K, number>> =>
  value === undefined ? {} : ({ [key]: value } as Record<K, number>);

/** Exclusive limits become inclusive for whole numbers; for others the server has the last word. */
function limitsOf(schema: JsonObject): { min?: number; max?: number } {
  const step = schema.type === 'integer' ? 1 : 0;
  const above = finite(schema.exclusiveMinimum);
  const below = finite(schema.exclusiveMaximum);
  return {
    ...optional('min', finite(schema.minimum) ?? (above === undefined ? undefined : above + step)),
    ...optional('max', finite(schema.maximum) ?? (below === undefined ? undefined : below - step)),
  };
}

/** Follows $ref, Optional and single-part unions; what stays a real union is answered as it is (a JSON field). */
function resolved(start: JsonObject, root: JsonObject): { schema: JsonObject; nullable: boolean } {
  let schema = start;
  let nullable = false;
  for (let hops = 0; hops < maxReferences; hops++) {
    const { $ref: reference } = schema;
    const parts = schema.anyOf ?? schema.oneOf ?? schema.allOf;
    if (typeof reference === 'string') {
      const [, container, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
      const definitions = container ? root[container] : undefined;
      const target = isJsonObject(definitions) && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
      if (!isJsonObject(target)) return { schema: {}, nullable };
      schema = target;
    } else if (Array.isArray(parts)) {
      const real = parts.filter((part) => !(isJsonObject(part) && part.type === 'null'));
      nullable ||= real.length < parts.length;
      if (real.length !== 1 || !isJsonObject(real[0])) return { schema: {}, nullable };
      schema = real[0];
    } else return { schema, nullable };
  }
  return { schema: {}, nullable };
}

/** The values of a filled-in form as an action. Absent optional fields are left out. Throws `remote-action-form`. */
export function actionFromValues(form: ActionForm, values: JsonObject): JsonObject {
  const action: Record<string, unknown> = {};
  const known = new Map(form.fields.map((field) => [field.name, field]));
  for (const name of Object.keys(values))
    if (!known.has(name) && name !== 'metadata') throw errors.badForm(`it has no field "${name.slice(0, 100)}"`);
  for (const field of form.fields) {
    const value = Object.hasOwn(values, field.name) ? values[field.name] : undefined;
    if (value === undefined || (value === '' && !field.required && field.kind !== 'text')) {
      if (field.required) throw errors.badForm(`"${field.name}" is missing`);
      continue;
    }
    action[field.name] = fieldValue(field, value);
  }
  return action;
}

function fieldValue(field: FormField, value: unknown): unknown {
  const wrong = (what: string) => errors.badForm(`"${field.name}" must be ${what}`);
  if (value === null) {
    if (field.nullable) return null;
    throw wrong('given');
  }
  switch (field.kind) {
    case 'text': {
      if (typeof value !== 'string') throw wrong('text');
      if (field.maxLength !== undefined && value.length > field.maxLength)
        throw wrong(`at most ${field.maxLength} letters long`);
      return value;
    }
    case 'boolean': {
      if (value === true || value === 'true') return true;
      if (value === false || value === 'false') return false;
      throw wrong('true or false');
    }
    case 'number':
    case 'integer': {
      const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
      const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = field;
      const kind = field.kind === 'integer' ? 'a whole number' : 'a number';
      if (typeof number !== 'number' || !Number.isFinite(number)) throw wrong(kind);
      if (field.kind === 'integer' && !Number.isSafeInteger(number)) throw wrong(kind);
      if (number < min || number > max) throw wrong(`${kind} from ${min} to ${max}`);
      return number;
    }
    case 'choice': {
      const chosen = field.choices?.find((choice) => choice === value || String(choice) === String(value));
      if (chosen === undefined) throw wrong(`one of ${(field.choices ?? []).slice(0, 20).join(', ')}`);
      return chosen;
    }
    case 'json': {
      if (typeof value !== 'string') return value;
      try {
        return parseJson(value);
      } catch {
        // Any value is allowed here, and text is one.
        return value;
      }
    }
  }
}

/** The field that a policy's words go into: the only required one, else the only text, else the only field. */
export function mainField({ fields }: ActionForm): FormField | null {
  const required = fields.filter((field) => field.required);
  const texts = (required.length > 0 ? required : fields).filter((field) => field.kind === 'text');
  if (required.length === 1) return required[0];
  if (texts.length === 1 && required.length <= 1) return texts[0];
  return fields.length === 1 ? fields[0] : null;
}

/**
 * A policy's words as an action: a JSON object that fits the form, else the value of its main field. Without a form the
 * main field is `message`. Throws `remote-action-form`.
 */
export function actionFromText(form: ActionForm | undefined, text: string): JsonObject {
  const words = text.trim();
  const object = words.startsWith('{') ? parsedObject(words) : null;
  if (!form) return object ?? { message: words };
  if (form.fields.length === 0) return {};
  const main = mainField(form);
  // An object that is not this form's may still be the words of a text field (code, for instance).
  if (
    object &&
    !(main?.kind === 'text' && Object.keys(object).every((key) => form.fields.every((f) => f.name !== key)))
  )
    return actionFromValues(form, object);
  if (!main)
    throw errors.badForm(
      `it needs ${form.fields.map((field) => field.name).join(', ')}: write a JSON object`.slice(0, 500),
    );
  return actionFromValues(form, { [main.name]: main.kind === 'text' ? text : words });
}

function parsedObject(text: string): JsonObject | null {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
