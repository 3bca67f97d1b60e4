/** @file The final reward of an entry, under whichever name its program wrote it. */
import { isJsonObject, type JsonObject } from '../../json-object';
import { field } from './json-piece';

/** In order: the finer measure first. */
const names = ['reward', 'score', 'final_reward', 'return', 'success', 'is_success', 'won', 'passed', 'is_correct'];

/** null when the entry does not say. Booleans are 1 and 0. */
export function outcomeOf(entry: JsonObject): number | null {
  for (const holder of [entry, entry.extra, entry.metadata, entry.info, entry.metrics]) {
    if (!isJsonObject(holder)) continue;
    for (const name of names) {
      const value = field(holder, name);
      if (typeof value === 'boolean') return value ? 1 : 0;
      if (typeof value === 'number' && Number.isFinite(value)) return value;
    }
  }
  return null;
}
