/** @file One field of a server's form, typed as its schema says. Everything it is called is the server's, so plain text. */
import type { FormField } from '../../envs/remote';
import { visible, visibleLine } from '../text/visible';

interface Properties {
  id: string;
  field: FormField;
  value: string;
  onValue(value: string): void;
}

export function Field({ id, field, value, onValue }: Properties) {
  const about = field.description === '' ? null : `${id}-about`;
  return (
    <div class="field">
      <label for={id}>
        {visibleLine(field.title, 80)}
        {!field.required && ' (optional)'}
      </label>
      <Control id={id} field={field} value={value} onValue={onValue} about={about} />
      {about && (
        <p id={about} class="field-help">
          {visible(field.description, 500)}
        </p>
      )}
    </div>
  );
}

function Control({ id, field, value, onValue, about }: Properties & { about: string | null }) {
  const { kind, required, choices = [], min, max, maxLength } = field;
  const described = about ? { 'aria-describedby': about } : {};
  const take = (event: { currentTarget: { value: string } }) => onValue(event.currentTarget.value);
  switch (kind) {
    case 'choice':
    case 'boolean': {
      const offered = kind === 'boolean' ? ['true', 'false'] : choices.map(String);
      return (
        <select id={id} value={value} required={required} onChange={take} {...described}>
          <option value="">—</option>
          {offered.map((choice) => (
            <option key={choice} value={choice}>
              {visibleLine(choice, 100)}
            </option>
          ))}
        </select>
      );
    }
    case 'integer':
    case 'number':
      return (
        <input
          id={id}
          type="number"
          step={kind === 'integer' ? 1 : 'any'}
          value={value}
          required={required}
          onInput={take}
          {...(min === undefined ? {} : { min })}
          {...(max === undefined ? {} : { max })}
          {...described}
        />
      );
    case 'json':
      return (
        <textarea
          id={id}
          rows={3}
          value={value}
          placeholder="JSON, or text"
          spellcheck={false}
          onInput={take}
          {...described}
        />
      );
    case 'text':
      return (
        <input
          id={id}
          type="text"
          value={value}
          autocomplete="off"
          spellcheck={false}
          onInput={take}
          {...(maxLength === undefined ? {} : { maxLength })}
          {...described}
        />
      );
  }
}

/** A field may be called like something that every object has. */
export const shownValue = (values: Readonly<Record<string, string>>, name: string): string =>
  Object.hasOwn(values, name) ? values[name] : '';

/** What is sent: empty optional fields are left out. */
export function givenValues(fields: readonly FormField[], values: Readonly<Record<string, string>>) {
  const given = new Map<string, string>();
  for (const field of fields) {
    const value = shownValue(values, field.name);
    if (value !== '' || (field.required && field.kind === 'text')) given.set(field.name, value);
  }
  // A name such as __proto__ is an ordinary key here.
  return Object.fromEntries(given);
}

/** A default as the field would show it. */
export function startValues(fields: readonly FormField[]): Record<string, string> {
  const shown = fields
    .filter((field) => field.default !== undefined && field.default !== null)
    .map((field): [string, string] => [
      field.name,
      typeof field.default === 'object' ? JSON.stringify(field.default) : String(field.default),
    ]);
  return Object.fromEntries(shown);
}
