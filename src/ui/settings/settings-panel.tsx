/** @file The form: settings in folded groups, of each what a first run needs, and the rest one fold further down. */
import { useState } from 'preact/hooks';
import { Icon } from '../panels/icon';
import { restart } from '../state/actions';
import { resetAllSettings, settings, settingsDiffer } from '../state/settings';
import { active } from '../state/trainer';
import { plural } from '../text/format';
import { disclose } from './disclosure';
import { FieldRow } from './field-row';
import { type Field, type GroupId, groups, type Key } from './fields';
import { changedKeys } from './link';

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
        <Group key={id} id={id} title={title} about={about} changed={changed} />
      ))}
    </form>
  );
}

interface GroupProperties {
  id: GroupId;
  title: string;
  about: string;
  changed: ReadonlySet<Key>;
}

function Group({ id, title, about, changed }: GroupProperties) {
  const { first, onRequest, hidden } = disclose(id, settings.value, changed);
  const isChanged = ({ key }: Field) => changed.has(key);
  const changedInside = onRequest.some(isChanged);
  // What a link changed is seen at once; afterwards the fold is the reader's.
  const [unfolded] = useState(changedInside);
  return (
    <details class="settings-group" open={openAtFirst.has(id)}>
      <summary>
        <h3>{title}</h3>
        <span class="group-about">{about}</span>
        {(changedInside || first.some(isChanged)) && <span class="tag">changed</span>}
      </summary>
      <Fields fields={first} changed={changed} />
      {onRequest.length > 0 ? (
        <details class="settings-more" open={unfolded}>
          <summary>
            <span>Finer settings ({onRequest.length})</span>
            {changedInside && <span class="tag">changed</span>}
          </summary>
          <Fields fields={onRequest} changed={changed} />
          <Hidden count={hidden} />
        </details>
      ) : (
        <Hidden count={hidden} />
      )}
    </details>
  );
}

function Hidden({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <p class="field-help settings-hidden">
      {plural(count, 'setting is', 'settings are')} not shown, because with these choices{' '}
      {count === 1 ? 'it would' : 'they would'} change nothing.
    </p>
  );
}

function Fields({ fields, changed }: { fields: readonly Field[]; changed: ReadonlySet<Key> }) {
  return (
    <div class="fields">
      {fields.map((field) => (
        <FieldRow key={field.key} field={field} changed={changed.has(field.key)} />
      ))}
    </div>
  );
}
