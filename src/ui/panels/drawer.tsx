/** @file The panels behind tabs: settings, task pool, memory, storage, glossary. */
import { effect, signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Hideable } from '../settings/link';
import { SettingsPanel } from '../settings/settings-panel';
import { isHidden, settingsDiffer } from '../state/settings';
import { lastIteration, view } from '../state/view';
import { Glossary } from './glossary';
import { Memory } from './memory';
import { Storage } from './storage';
import { refreshTasks, TaskPool } from './task-pool';

interface Tab {
  id: Extract<Hideable, 'settings' | 'tasks' | 'memory' | 'storage' | 'glossary'>;
  title: string;
  body(): ComponentChildren;
}

const tabs: readonly Tab[] = [
  { id: 'settings', title: 'Settings', body: () => <SettingsPanel /> },
  { id: 'tasks', title: 'Task pool', body: () => <TaskPool /> },
  { id: 'memory', title: 'Memory', body: () => <Memory /> },
  { id: 'storage', title: 'Storage', body: () => <Storage /> },
  { id: 'glossary', title: 'Glossary', body: () => <Glossary /> },
];

const open = signal<Tab['id']>('settings');

export function Drawer() {
  const shown = tabs.filter(({ id }) => !isHidden(id));
  const current = shown.find(({ id }) => id === open.value) ?? shown[0];
  useEffect(
    () =>
      effect(() => {
        // Live runs keep their pool in the worker; it changes once per iteration.
        if (open.value === 'tasks' && view.value.kind === 'live' && lastIteration.value >= 0) void refreshTasks();
      }),
    [],
  );
  if (!current) return null;
  const move = (by: number) => {
    const next = shown[(shown.indexOf(current) + by + shown.length) % shown.length];
    open.value = next.id;
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <section class="panel drawer" aria-label="Settings and details">
      <div
        class="tabs"
        role="tablist"
        aria-label="Settings and details"
        onKeyDown={(event) => {
          if (event.key === 'ArrowRight') move(1);
          else if (event.key === 'ArrowLeft') move(-1);
        }}
      >
        {shown.map(({ id, title }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`tab-${id}`}
            aria-selected={id === current.id}
            aria-controls={`panel-${id}`}
            tabIndex={id === current.id ? 0 : -1}
            onClick={() => {
              open.value = id;
            }}
          >
            {title}
            {id === 'settings' && settingsDiffer.value && <span class="tag tag-warn">changed</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`panel-${current.id}`} aria-labelledby={`tab-${current.id}`} class="tab-body">
        {current.body()}
      </div>
    </section>
  );
}
