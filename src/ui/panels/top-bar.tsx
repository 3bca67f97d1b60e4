/** @file Name, what is on the page (recorded, live, imported), theme and help. */
import { asking } from '../state/actions';
import { nextTheme, type Theme, theme } from '../state/theme';
import { type ViewKind, view } from '../state/view';
import { Icon } from './icon';

const themeWords: Record<Theme, string> = { system: 'as the system', light: 'light', dark: 'dark' };

const kindWords: Record<ViewKind, string> = {
  none: 'No run yet',
  recorded: 'Recorded run',
  live: 'Live on your machine',
  imported: 'Imported run',
};

export function TopBar() {
  const { kind } = view.value;
  return (
    <header class="top-bar">
      <p class="brand">
        <svg viewBox="0 0 24 24" aria-hidden="true" class="brand-mark">
          <path class="brand-moon" d="M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z" />
          <circle class="brand-star" cx="16.5" cy="7" r="2.2" />
        </svg>
        DreamGym <span>in the browser</span>
      </p>
      <p class={`kind kind-${kind}`}>
        <span class="kind-dot" aria-hidden="true" />
        {kindWords[kind]}
      </p>
      <div class="top-actions">
        <button type="button" class="icon-button" onClick={nextTheme} title={`Colours: ${themeWords[theme.value]}`}>
          <Icon name={theme.value} label={`Colours: ${themeWords[theme.value]}. Change`} />
        </button>
        <button
          type="button"
          class="icon-button"
          title="Help and keys (?)"
          onClick={() => {
            asking.value = 'help';
          }}
        >
          <Icon name="help" label="Help and keys" />
        </button>
      </div>
    </header>
  );
}
