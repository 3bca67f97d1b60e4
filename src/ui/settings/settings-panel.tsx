/** @file The form: every setting with its sentence, its own way back, and its message when it cannot be used. */
import { useSignal } from '@preact/signals';
import { settingsBase } from '../../dream/presets';
import type { PresetName, RunConfig } from '../../worker/protocol';
import { Icon } from '../panels/icon';
import { restart } from '../state/actions';
import { choosePreset, resetAllSettings, resetSetting, setSetting, settings, settingsDiffer } from '../state/settings';
import { active } from '../state/trainer';
import { type Field, fields, type GroupId, groups, type Key, type NumberField } from './fields';
import { changedKeys } from './link';
import { checkText } from './validate';

/** What a first visitor may want to change; the rest is one click away. */
const openAtFirst: ReadonlySet<GroupId> = new Set(['run']);

export function SettingsPanel() {
  const changed = new Set<Key>(changedKeys(settings.value));
  return (
    <form class="settings" onSubmit={(event) => event.preventDefault()}>
      <div class="settings-bar">
        <p>
          {settingsDiffer.value
            ? 'These settings differ from the run that is going; they apply to the next one.'
            : active.value
              ? 'These are the settings of the run that is going.'
              : changed.size === 0
                ? 'All settings are the preset’s. Changes are kept in the page’s link.'
                : 'Changed settings are marked and kept in the page’s link.'}
        </p>
        {settingsDiffer.value && (
          <button type="button" class="primary small" onClick={restart}>
            Stop and start with these
          </button>
        )}
        <button type="button" class="quiet" disabled={changed.size === 0} onClick={resetAllSettings}>
          <Icon name="undo" />
          All back to the preset
        </button>
      </div>
      {groups.map(({ id, title, about }) => (
        <details key={id} class="settings-group" open={openAtFirst.has(id)}>
          <summary>
            <h3>{title}</h3>
            <span class="group-about">{about}</span>
            {fields.some((field) => field.group === id && changed.has(field.key)) && <span class="tag">changed</span>}
          </summary>
          <div class="fields">
            {fields
              .filter((field) => field.group === id)
              .map((field) => (
                <FieldRow key={field.key} field={field} changed={changed.has(field.key)} />
              ))}
          </div>
        </details>
      ))}
    </form>
  );
}

function FieldRow({ field, changed }: { field: Field; changed: boolean }) {
  const problem = useSignal<string | null>(null);
  const id = `setting-${field.key}`;
  const preset = settingsBase(settings.value);
  const describedBy = problem.value ? `${id}-help ${id}-problem` : `${id}-help`;
  return (
    <div class={changed ? 'field changed' : 'field'}>
      <div class="field-head">
        <label for={id}>{field.label}</label>
        {changed && (
          <button
            type="button"
            class="icon-button small"
            title={`Back to ${String(preset[field.key])}`}
            onClick={() => {
              problem.value = null;
              resetSetting(field.key);
            }}
          >
            <Icon name="undo" label={`${field.label}: back to ${String(preset[field.key])}`} />
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
        {field.help}
        {field.kind === 'number' && <Range field={field} preset={preset} />}
      </p>
    </div>
  );
}

function Range({ field, preset }: { field: NumberField; preset: RunConfig }) {
  return (
    <span class="field-range">
      {' '}
      {field.min} to {field.max}; preset {String(preset[field.key])}.
    </span>
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
