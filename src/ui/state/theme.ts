/** @file Light, dark, or what the system says. The choice is kept if the browser lets the page keep anything. */
import { signal } from '@preact/signals';
import { themeVersion } from '../charts/colours';

export type Theme = 'system' | 'light' | 'dark';
const order: readonly Theme[] = ['system', 'light', 'dark'];
const storageKey = 'dreamgym-theme';

export const theme = signal<Theme>('system');

function apply(next: Theme): void {
  theme.value = next;
  if (next === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  themeVersion.value++;
}

export function startTheme(): void {
  let kept: string | null = null;
  try {
    kept = localStorage.getItem(storageKey);
  } catch {
    // A private window may deny storage; the system's theme is a good answer.
  }
  apply(order.find((name) => name === kept) ?? 'system');
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => themeVersion.value++);
}

export function nextTheme(): void {
  const next = order[(order.indexOf(theme.value) + 1) % order.length];
  apply(next);
  try {
    localStorage.setItem(storageKey, next);
  } catch {
    // Not kept; the page still changed.
  }
}
