/**
 * @file The place of a big panel on the page: a heading and a button. Its code, and the worker behind it, are fetched when it
 * is opened and not before.
 */
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { isHidden } from '../state/settings';

export interface SectionOnDemand {
  name: Parameters<typeof isHidden>[0] & string;
  title: string;
  about: string;
  fetchBody: () => Promise<ComponentType>;
}

export function sectionOnDemand({ name, title, about, fetchBody }: SectionOnDemand): ComponentType {
  const open = signal(false);
  const body = signal<ComponentType | null>(null);
  const failed = signal(false);

  async function toggle(): Promise<void> {
    open.value = !open.value;
    if (!open.value || body.value) return;
    failed.value = false;
    try {
      body.value = await fetchBody();
    } catch {
      failed.value = true;
      open.value = false;
    }
  }

  return function Section() {
    if (isHidden(name)) return null;
    const Body = body.value;
    return (
      <section class={`panel ${name}`} aria-labelledby={`${name}-title`}>
        <header class="panel-head">
          <h2 id={`${name}-title`}>{title}</h2>
          <button type="button" aria-expanded={open.value} aria-controls={`${name}-body`} onClick={() => void toggle()}>
            {open.value ? `Close ${name}` : `Open ${name}`}
          </button>
        </header>
        <p class="panel-about">{about}</p>
        {failed.value && (
          <p class="problem" role="alert">
            This part of the page could not be fetched. Check the connection and open it again.
          </p>
        )}
        <div id={`${name}-body`} hidden={!open.value}>
          {Body ? <Body /> : open.value && <p role="status">Fetching this part of the page…</p>}
        </div>
      </section>
    );
  };
}
