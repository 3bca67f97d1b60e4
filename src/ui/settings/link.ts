/**
 * @file A run in a link: `#v=1&preset=household-tiny&seed=7&learningRate=0.0003&hide=settings`.
 *
 * The part after `#` never leaves the browser. Only what differs from the preset is written; unknown keys are ignored
 * and said, so that an old page opens a newer link as well as it can.
 */
import { presets, settingsBase, withAlgorithm } from '../../dream/presets';
import { type PresetName, presetNames, type RunConfig, type TypedError } from '../../worker/protocol';
import { visibleLine } from '../text/visible';
import { fieldOf, fields, type Key } from './fields';
import { checkText, settingsNotice } from './validate';

export const linkVersion = 1;

/** What a lesson link may hide, so that a class sees only what the lesson is about. */
export const hideable = [
  'step',
  'reset',
  'speed',
  'settings',
  'share',
  'export',
  'import',
  'charts',
  'rollouts',
  'tasks',
  'memory',
  'storage',
  'how',
  'glossary',
  'models',
  'experiments',
  'worlds',
] as const;
export type Hideable = (typeof hideable)[number];

export type Speed = 'watch' | 'fast';

export interface Link {
  /** Complete: the preset's values with the link's changes. */
  config: RunConfig;
  autostart: boolean;
  hide: ReadonlySet<Hideable>;
  speed: Speed;
  /** Present when something in the link could not be used as written. */
  notice: TypedError | null;
}

/** Reads a hash (with or without `#`). Never throws: a broken link opens the page with a message. */
export function parseLink(hash: string): Link {
  const notes: string[] = [];
  // A link of a megabyte is not a link.
  const text = hash.replace(/^#/, '').slice(0, 8192);
  const parameters = new URLSearchParams(text);
  const preset = readPreset(parameters.get('preset'), notes);
  let config: RunConfig = { ...presets[preset] };
  const hide = new Set<Hideable>();
  let autostart = false;
  let speed: Speed = 'watch';

  for (const [key, value] of parameters) {
    if (key === 'preset') continue;
    const field = fieldOf(key);
    if (field) {
      const checked = checkText(field, value);
      // Wherever it stands in the link, an algorithm brings only what the link does not say itself.
      if (checked.ok && field.key === 'algorithm')
        config = withAlgorithm(config, checked.value as RunConfig['algorithm']);
      else if (checked.ok) Object.assign(config, { [field.key]: checked.value });
      if (checked.note) notes.push(checked.ok ? checked.note : `${checked.note} The preset’s value is used.`);
    } else if (key === 'v') {
      if (!/^\d{1,6}$/.test(value) || Number(value) > linkVersion)
        notes.push('It was made by a newer version of this page; what it does not know is ignored.');
    } else if (key === 'autostart') {
      autostart = value === '' || /^(1|true|on|yes)$/i.test(value);
    } else if (key === 'speed') {
      if (value === 'watch' || value === 'fast') speed = value;
      else notes.push(`Speed: “${visibleLine(value, 40)}” is neither watch nor fast.`);
    } else if (key === 'hide') {
      for (const name of value.split(',').filter(Boolean)) {
        if ((hideable as readonly string[]).includes(name)) hide.add(name as Hideable);
        else notes.push(`“${visibleLine(name, 40)}” is nothing that can be hidden.`);
      }
    } else {
      notes.push(`There is no setting “${visibleLine(key, 40)}”; it is ignored.`);
    }
  }
  const notice = notes.length === 0 ? null : settingsNotice('bad-link', 'This link was not clear', notes);
  return { config, autostart, hide, speed, notice };
}

function readPreset(value: string | null, notes: string[]): PresetName {
  if (value === null) return presetNames[0];
  if ((presetNames as readonly string[]).includes(value)) return value as PresetName;
  notes.push(`There is no preset “${visibleLine(value, 40)}”; ${presetNames[0]} is used.`);
  return presetNames[0];
}

/** The settings that differ from their preset. */
export function changedKeys(config: RunConfig): Key[] {
  const base = settingsBase(config);
  return fields.map((field) => field.key).filter((key) => key !== 'preset' && config[key] !== base[key]);
}

/** The hash of a state, without `#`; the preset and the seed always stand in it, so that a copied link says what it is. */
export function formatLink({ config, hide, speed }: Pick<Link, 'config' | 'hide' | 'speed'>): string {
  const parts = [`v=${linkVersion}`, `preset=${config.preset}`, `seed=${config.seed}`];
  for (const key of changedKeys(config))
    if (key !== 'seed') parts.push(`${key}=${encodeURIComponent(String(config[key]))}`);
  if (speed !== 'watch') parts.push(`speed=${speed}`);
  if (hide.size > 0) parts.push(`hide=${hideable.filter((name) => hide.has(name)).join(',')}`);
  return parts.join('&');
}
