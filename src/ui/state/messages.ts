/** @file The cards on the page and the one sentence a screen reader hears now and then. */
import { signal } from '@preact/signals';
import type { TypedError } from '../../worker/protocol';
import { type Card, errorCard, type Level } from '../messages/texts';

export const cards = signal<readonly Card[]>([]);

/** Errors first, then warnings; a card with a known id replaces the old one in place. */
export function show(card: Card): void {
  const order: Record<Level, number> = { error: 0, warning: 1, info: 2 };
  cards.value = [...cards.value.filter(({ id }) => id !== card.id), card].sort(
    (a, b) => order[a.level] - order[b.level],
  );
}

export function showError(error: TypedError): void {
  show(errorCard(error));
}

export function showNotice(level: 'info' | 'warning', message: string): void {
  // The trainer may repeat itself; equal words are one card.
  show({
    id: `notice-${message.slice(0, 60)}`,
    level,
    title: level === 'warning' ? 'Please note' : 'For your information',
    text: message,
    advice: [],
  });
}

export function dismiss(id: string): void {
  cards.value = cards.value.filter((card) => card.id !== id);
}

/** Removes what a new run makes untrue. */
export function dismissErrors(): void {
  cards.value = cards.value.filter(({ id }) => !id.startsWith('error-') && !id.startsWith('notice-'));
}

export const announcement = signal('');
const quietMs = 5000;
let lastSpoken = 0;
let waiting: ReturnType<typeof setTimeout> | undefined;
let latest = '';

/** Polite and rare: at most one sentence in five seconds, and always the newest. */
export function announce(sentence: string): void {
  latest = sentence;
  if (waiting !== undefined) return;
  waiting = setTimeout(
    () => {
      waiting = undefined;
      lastSpoken = Date.now();
      announcement.value = latest;
    },
    Math.max(0, lastSpoken + quietMs - Date.now()),
  );
}
