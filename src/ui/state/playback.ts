/** @file Replays a recorded run: one more iteration at each tick, so that a visitor sees it learn instead of a finished curve. */
import { batch, effect, signal } from '@preact/signals';
import { DreamError } from '../../data/errors';
import { readRunRecord } from '../../data/importers/run-record';
import { checkConfig } from '../../dream/presets';
import type { TypedError } from '../../worker/protocol';
import { recordedBroken, recordedMissing } from '../messages/texts';
import { show } from './messages';
import { lastIteration, type RunView, recorded, shown, view, viewOfRecord } from './view';

export const replaying = signal(false);
/** Still looking for the recorded run. */
export const recordingState = signal<'loading' | 'present' | 'absent'>('loading');

const tickMs = 650;
const recordingPath = 'runs/household-tiny.json';

/** Nothing plays in a tab nobody looks at. */
export const pageVisible = signal(true);

export function watchVisibility(): void {
  const update = () => {
    pageVisible.value = !document.hidden;
  };
  document.addEventListener('visibilitychange', update);
  update();
}

/** Movement nobody asked for stays off. */
export function prefersStillness(): boolean {
  return window.matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/** Loads the recorded run and begins to replay it, unless something else is on the page by then. */
export async function loadRecording(): Promise<void> {
  try {
    const response = await fetch(recordingPath);
    // Some hosts answer a missing file with their start page.
    const isPage = response.headers.get('content-type')?.includes('text/html');
    if (!response.ok || isPage) {
      recordingState.value = 'absent';
      return show(recordedMissing);
    }
    const { record } = await readRunRecord(new Uint8Array(await response.arrayBuffer()), checkConfig);
    recorded.value = viewOfRecord(record, 'recorded');
    recordingState.value = 'present';
    if (view.value.kind === 'none') showRecorded();
  } catch (error) {
    recordingState.value = 'absent';
    const reason: Pick<TypedError, 'message'> =
      error instanceof DreamError ? error : { message: 'The file could not be fetched; the connection may be down.' };
    show(recordedBroken(reason.message));
  }
}

/** Puts the recorded run on the page, from its beginning. */
export function showRecorded(): void {
  if (!recorded.value) return;
  const still = prefersStillness();
  batch(() => {
    view.value = recorded.value as RunView;
    shown.value = still ? Number.POSITIVE_INFINITY : 0;
    replaying.value = !still;
  });
}

export function toggleReplay(): void {
  if (!replaying.value && shown.value >= lastIteration.value) shown.value = 0;
  replaying.value = !replaying.value;
}

export function seek(iteration: number): void {
  replaying.value = false;
  shown.value = iteration;
}

/** Runs the clock while something is being replayed and the tab is visible. */
export function startReplayClock(): () => void {
  return effect(() => {
    if (!replaying.value || !pageVisible.value || view.value.kind === 'live') return;
    const timer = setInterval(() => {
      const next = Math.min(shown.peek(), lastIteration.peek()) + 1;
      if (next > lastIteration.peek()) replaying.value = false;
      else shown.value = next;
    }, tickMs);
    return () => clearInterval(timer);
  });
}
