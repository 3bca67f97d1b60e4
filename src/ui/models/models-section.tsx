/**
 * @file The panel's place on the page: a heading and a button. Its code, and the worker behind it, are fetched when it is
 * opened and not before.
 */
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
    body.value = (await import('./models-panel')).ModelsPanel;
  } catch {
    failed.value = true;
    open.value = false;
  }
}

export function ModelsSection() {
  if (isHidden('models')) return null;
  const Body = body.value;
  return (
    <section class="panel models" aria-labelledby="models-title">
      <header class="panel-head">
        <h2 id="models-title">Models</h2>
        <button type="button" aria-expanded={open.value} aria-controls="models-body" onClick={() => void toggle()}>
          {open.value ? 'Close models' : 'Open models'}
        </button>
      </header>
      <p class="panel-about">
        Look at a real language model, see whether it fits on your graphics processor, load it and try it. Nothing is
        fetched before you ask for it.
      </p>
      {failed.value && (
        <p class="problem" role="alert">
          This part of the page could not be fetched. Check the connection and open it again.
        </p>
      )}
      <div id="models-body" hidden={!open.value}>
        {Body ? <Body /> : open.value && <p role="status">Fetching this part of the page…</p>}
      </div>
    </section>
  );
}
