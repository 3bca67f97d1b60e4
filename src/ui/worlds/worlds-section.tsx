/** @file The place of "Worlds" on the page: a heading and a button; its code, and each world, is fetched when it is asked for. */
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
    body.value = (await import('./worlds-panel')).WorldsPanel;
  } catch {
    failed.value = true;
    open.value = false;
  }
}

export function WorldsSection() {
  if (isHidden('worlds')) return null;
  const Body = body.value;
  return (
    <section class="panel worlds" aria-labelledby="worlds-title">
      <header class="panel-head">
        <h2 id="worlds-title">Worlds</h2>
        <button type="button" aria-expanded={open.value} aria-controls="worlds-body" onClick={() => void toggle()}>
          {open.value ? 'Close worlds' : 'Open worlds'}
        </button>
      </header>
      <p class="panel-about">
        Play what the agents play: a household, a shop, a set of web sites, all of them inside this page. And bring
        trajectories of your own.
      </p>
      {failed.value && (
        <p class="problem" role="alert">
          This part of the page could not be fetched. Check the connection and open it again.
        </p>
      )}
      <div id="worlds-body" hidden={!open.value}>
        {Body ? <Body /> : open.value && <p role="status">Fetching this part of the page…</p>}
      </div>
    </section>
  );
}
