/** @file Looking things up in the replay buffer: every word must occur, newest first. */
import type { Transition } from '../dream/run-store';
import type { BufferEntry } from './protocol';

const mostEntries = 1000;

/** `transitions` in id order. `limit` is held between 1 and 1000. */
export function searchBuffer(transitions: readonly Transition[], query: string, limit: number): BufferEntry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const most = Math.min(mostEntries, Math.max(1, Math.floor(limit) || 1));
  const found: BufferEntry[] = [];
  for (let i = transitions.length - 1; i >= 0 && found.length < most; i--) {
    const { state, action, nextState, reward, source, room, task } = transitions[i];
    const text = `${room} ${task} ${state} ${action} ${nextState} ${source}`.toLowerCase();
    if (words.every((word) => text.includes(word))) found.push({ state, action, nextState, reward, source, room });
  }
  return found;
}
