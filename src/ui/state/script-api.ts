/** @file `window.dreamgym`: the page's buttons for scripts, with the same checks and the same messages. */
import { presets, withAlgorithm } from '../../dream/presets';
import type { RunConfig, RunStatus } from '../../worker/protocol';
import { checkConfig, settingsNotice } from '../settings/validate';
import { showError } from './messages';
import { settings } from './settings';
import * as trainer from './trainer';

export interface DreamGymScript {
  status(): Promise<RunStatus>;
  /** Starts a run; settings not given are those of the page (of the preset, when one is named). Resolves once started. */
  start(config?: Partial<RunConfig>): Promise<void>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
  /** The run file, as “Export run” saves it. */
  export(): Promise<Uint8Array>;
}

declare global {
  interface Window {
    dreamgym: DreamGymScript;
  }
}

export function offerScriptApi(): void {
  window.dreamgym = {
    async status() {
      return (await trainer.trainer()).status();
    },
    async start(config = {}) {
      const { config: checked, notes } = checkConfig(config);
      if (notes.length > 0) showError(settingsNotice('bad-settings', 'The script’s settings were not clear', notes));
      // Another preset brings all its values; the visitor's seed stays.
      const base = checked.preset ? { ...presets[checked.preset], seed: settings.value.seed } : settings.value;
      settings.value = { ...(checked.algorithm ? withAlgorithm(base, checked.algorithm) : base), ...checked };
      await trainer.start(settings.value);
    },
    pause: () => trainer.pause(),
    resume: () => trainer.resume(),
    stop: () => trainer.stop(),
    export: () => trainer.exportRun(),
  };
}
