/** @file The place of "Experiments" on the page: a heading and a button; code and worker are fetched when it is opened. */
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { isHidden } from '../state/settings';

const open = signal(false);
const body = signal<ComponentType | null>(null);
const failed = signal(false);

async function toggle(): Promise<void> {
  open.value = !open.value;
  if (!open.value || body.value) return;
  failed.value = false;
  try {
    body.value = (await import('./experiments-panel')).ExperimentsPanel;
  } catch {
    failed.value = true;
    open.value = false;
  }
}

export function ExperimentsSection() {
  if (isHidden('experiments')) return null;
  const Body = body.value;
  return (
    <section class="panel experiments" aria-labelledby="experiments-title">
      <header class="panel-head">
        <h2 id="experiments-title">Experiments</h2>
        <button type="button" aria-expanded={open.value} aria-controls="experiments-body" onClick={() => void toggle()}>
          {open.value ? 'Close experiments' : 'Open experiments'}
        </button>
      </header>
      <p class="panel-about">
        Does dreaming really help, and which part of it? Compare methods on the same unseen tasks, over several seeds.
      </p>
      {failed.value && (
        <p class="problem" role="alert">
          This part of the page could not be fetched. Check the connection and open it again.
        </p>
      )}
      <div id="experiments-body" hidden={!open.value}>
        {Body ? <Body /> : open.value && <p role="status">Fetching this part of the page…</p>}
      </div>
    </section>
  );
}
