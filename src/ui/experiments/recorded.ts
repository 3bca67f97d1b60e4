/**
 * @file Results that come with the page: what `dream experiment FILE.json --out` wrote and the repository keeps under
 * bench/results. A grid takes hours; a reader should not have to wait for them to see what it found.
 */
import type { Row } from '../../dream/experiment/results';

/** A result file, as far as the panel reads it. */
export interface RecordedResults {
  /** The experiment's name; that of its quick version ends in `-quick`. */
  name: string;
  rows: Row[];
  finished: number;
  /** Runs of the experiment that the file has not. */
  left: number;
}

const files = import.meta.glob<RecordedResults>(
  [
    '../../../bench/results/paper-table-*.json',
    '../../../bench/results/countermeasures-*.json',
    '../../../bench/results/transfer-*.json',
    '../../../bench/results/planning-*.json',
  ],
  { import: 'default' },
);

/**
 * The file to show of those named: the newest of the whole experiment, or of its quick version where there is no other.
 * Names are `ID-[quick-]ADAPTER-DATE.json`; undefined where none is of `id`.
 */
export function newestOf(id: string, paths: readonly string[]): string | undefined {
  const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);
  const date = (path: string) => nameOf(path).match(/\d{4}-\d{2}-\d{2}/)?.[0] ?? '';
  const isQuick = (path: string) => nameOf(path).startsWith(`${id}-quick-`);
  const candidates = paths
    .filter((path) => nameOf(path).startsWith(`${id}-`))
    .sort((a, b) => Number(isQuick(a)) - Number(isQuick(b)) || date(b).localeCompare(date(a)));
  return candidates[0];
}

/** Loads the recorded results of the page's own experiment `id`; null where there are none, or they cannot be loaded. */
export async function recordedResults(id: string): Promise<RecordedResults | null> {
  const path = newestOf(id, Object.keys(files));
  if (path === undefined) return null;
  try {
    return await files[path]();
  } catch {
    // Offline before they were ever fetched: the panel works without them.
    return null;
  }
}
