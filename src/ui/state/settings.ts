/** @file The settings of the next run, what a lesson link hides, and the link that says both. */
import { computed, effect, signal } from '@preact/signals';
import { presets, settingsBase, withAlgorithm } from '../../dream/presets';
import type { PresetName, RunConfig } from '../../worker/protocol';
import { speed } from '../rollouts/selection';
import { fields, type Key } from '../settings/fields';
import { formatLink, type Hideable, type Link, parseLink } from '../settings/link';
import { showError } from './messages';
import { active } from './trainer';
import { view } from './view';

export const settings = signal<RunConfig>(presets['household-tiny']);
export const hiddenControls = signal<ReadonlySet<Hideable>>(new Set());

export function isHidden(name: Hideable): boolean {
  return hiddenControls.value.has(name);
}

/** An algorithm brings its settings; what the visitor changed by hand stays. */
export function setSetting<K extends Key>(key: K, value: RunConfig[K]): void {
  if (key === 'algorithm') settings.value = withAlgorithm(settings.value, value as RunConfig['algorithm']);
  else settings.value = { ...settings.value, [key]: value };
}

/** A preset brings all its values; the seed is the visitor's and stays. */
export function choosePreset(name: PresetName): void {
  settings.value = { ...presets[name], seed: settings.value.seed };
}

export function resetSetting(key: Key): void {
  setSetting(key, settingsBase(settings.value)[key]);
}

export function resetAllSettings(): void {
  settings.value = presets[settings.value.preset];
}

/** A run is going or waiting, and the form says something else. */
export const settingsDiffer = computed(() => {
  const config = view.value.kind === 'live' && active.value ? view.value.config : null;
  return config !== null && fields.some(({ key }) => config[key] !== settings.value[key]);
});

/** Takes over the address; returns the link for what else it asks for. */
export function readAddress(): Link {
  const link = parseLink(window.location.hash);
  settings.value = link.config;
  hiddenControls.value = link.hide;
  speed.value = link.speed;
  if (link.notice) showError(link.notice);
  return link;
}

let written = '';

/** Keeps the address equal to the settings, so that copying it is sharing the run. */
export function keepAddress(): () => void {
  return effect(() => {
    const hash = formatLink({ config: settings.value, hide: hiddenControls.value, speed: speed.value });
    if (hash === written) return;
    written = hash;
    // Not `location.hash =`: a slider must not fill the browser's history.
    window.history.replaceState(null, '', `#${hash}`);
  });
}

/** A link pasted into the address bar of the open page; what `keepAddress` wrote itself is not news. */
export function watchAddress(): void {
  window.addEventListener('hashchange', () => {
    if (window.location.hash.replace(/^#/, '') !== written) readAddress();
  });
}
