/** @file One setting: its name, its control, its sentence, its own way back, and its message when it cannot be used. */
import { useSignal } from '@preact/signals';
import { settingsBase } from '../../dream/presets';
import type { PresetName, RunConfig } from '../../worker/protocol';
import { Icon } from '../panels/icon';
import { choosePreset, resetSetting, setSetting, settings } from '../state/settings';
import { hasEffect } from './disclosure';
import type { ChoiceField, Field, Key, NumberField } from './fields';
import { checkText } from './validate';

export function FieldRow({ field, changed }: { field: Field; changed: boolean }) {
  const problem = useSignal<string | null>(null);
  const id = `setting-${field.key}`;
  const preset = settingsBase(settings.value);
  const before = inWords(field, preset[field.key]);
  const describedBy = problem.value ? `${id}-help ${id}-problem` : `${id}-help`;
  return (
    <div class={changed ? 'field changed' : 'field'}>
      <div class="field-head">
        <label for={id}>{field.label}</label>
        {changed && (
          <button
            type="button"
            class="icon-button small"
            title={`Back to ${before}`}
            onClick={() => {
              problem.value = null;
              resetSetting(field.key);
            }}
          >
            <Icon name="undo" label={`${field.label}: back to ${before}`} />
          </button>
        )}
      </div>
      <Control
        field={field}
        id={id}
        describedBy={describedBy}
        invalid={problem.value !== null}
        report={(text) => {
          problem.value = text;
        }}
      />
      {problem.value && (
        <p class="problem" id={`${id}-problem`} role="alert">
          {problem.value}
        </p>
      )}
      <p class="field-help" id={`${id}-help`}>
        {field.kind === 'choice' && <ChosenOption field={field} />}
        {field.help}
        {field.kind === 'number' && <Range field={field} preset={preset} />}
        {!hasEffect(field.key, settings.value) && (
          <strong> With the other settings as they are it changes nothing.</strong>
        )}
      </p>
      {field.kind === 'choice' && <AllOptions field={field} />}
    </div>
  );
}

function Range({ field, preset }: { field: NumberField; preset: RunConfig }) {
  return (
    <span class="field-range">
      {' '}
      {written(field.min)} to {written(field.max)}; preset {written(preset[field.key] as number)}.
    </span>
  );
}

function inWords(field: Field, value: RunConfig[Key]): string {
  if (field.kind === 'choice') return field.options.find((option) => option.value === value)?.label ?? String(value);
  if (field.kind === 'switch') return value === true ? 'on' : 'off';
  return written(value as number);
}

/** Exact, unlike a measured number. */
const written = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 8 });

/** What the choice made now means, where its label says too little. */
function ChosenOption({ field }: { field: ChoiceField }) {
  const chosen = field.options.find(({ value }) => value === settings.value[field.key]);
  return chosen?.about ? <span class="chosen-about">{chosen.about} </span> : null;
}

function AllOptions({ field }: { field: ChoiceField }) {
  const told = field.options.filter(({ about }) => about);
  if (told.length === 0) return null;
  return (
    <details class="all-options">
      <summary>
        All {told.length} in a sentence each<span class="sr-only">: {field.label}</span>
      </summary>
      <dl>
        {told.map(({ value, label, about }) => (
          <div key={value}>
            <dt>{label}</dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

interface ControlProperties {
  field: Field;
  id: string;
  describedBy: string;
  invalid: boolean;
  report(problem: string | null): void;
}

function Control({ field, id, describedBy, invalid, report }: ControlProperties) {
  const value = settings.value[field.key];
  if (field.kind === 'switch')
    return (
      <input
        id={id}
        type="checkbox"
        class="switch"
        aria-describedby={describedBy}
        checked={value === true}
        onChange={(event) => setSetting(field.key, event.currentTarget.checked)}
      />
    );
  if (field.kind === 'choice')
    return (
      <select
        id={id}
        aria-describedby={describedBy}
        value={String(value)}
        onChange={(event) => {
          const chosen = event.currentTarget.value;
          if (field.key === 'preset') choosePreset(chosen as PresetName);
          else setSetting(field.key, chosen as RunConfig[typeof field.key]);
        }}
      >
        {field.options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    );
  return (
    <input
      id={id}
      type="number"
      inputMode={field.whole ? 'numeric' : 'decimal'}
      min={field.min}
      max={field.max}
      step={field.whole ? 1 : 'any'}
      aria-describedby={describedBy}
      aria-invalid={invalid}
      value={String(value)}
      onChange={(event) => {
        const input = event.currentTarget;
        const checked = checkText(field, input.value);
        report(checked.note ?? null);
        if (checked.ok) setSetting(field.key, checked.value);
        // The form always shows the value in use, also when what was typed is refused.
        input.value = String(settings.peek()[field.key]);
      }}
    />
  );
}
