/** @file Share the link, save the run, open a run. */
import { signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { openRun, saveRun } from '../state/files';
import { isHidden } from '../state/settings';
import { view } from '../state/view';
import { Icon } from './icon';

const copied = signal<'no' | 'yes' | 'failed'>('no');

async function copyLink(): Promise<void> {
  try {
    await navigator.clipboard.writeText(window.location.href);
    copied.value = 'yes';
  } catch {
    // No clipboard without a secure context or permission; the address bar holds the same link.
    copied.value = 'failed';
  }
  setTimeout(() => {
    copied.value = 'no';
  }, 4000);
}

export function FileBar() {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div class="file-bar">
      {!isHidden('share') && (
        <button type="button" class="quiet" onClick={copyLink}>
          <Icon name="link" />
          {copied.value === 'yes'
            ? 'Link copied'
            : copied.value === 'failed'
              ? 'Copy it from the address bar'
              : 'Copy link'}
        </button>
      )}
      {!isHidden('export') && (
        <button
          type="button"
          class="quiet"
          disabled={view.value.metrics.length === 0}
          onClick={() => void saveRun().catch(() => {})}
        >
          <Icon name="save" />
          Export run
        </button>
      )}
      {!isHidden('import') && (
        <>
          <button type="button" class="quiet" onClick={() => input.current?.click()}>
            <Icon name="open" />
            Import run
          </button>
          <input
            ref={input}
            type="file"
            hidden
            aria-label="Run file"
            accept=".zip,.json,.gz,application/zip,application/json"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              event.currentTarget.value = '';
              if (file) void openRun(file);
            }}
          />
        </>
      )}
    </div>
  );
}
