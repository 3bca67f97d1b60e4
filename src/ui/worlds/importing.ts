/**
 * @file Trajectory files, read in the page as they stream from the disk: whole episodes, a report, and one line of JSON an
 * episode to keep.
 *
 * The lines are gathered in blobs, which the browser may move to disk, and stand for nothing until the whole file was read: a
 * cancelled import leaves nothing behind.
 */
import { signal } from '@preact/signals';
import { asDreamError, DreamError } from '../../data/errors';
import { type ImportProgress, type ImportReport, importTrajectories } from '../../data/importers';
import { save } from '../state/files';

export interface Imported {
  name: string;
  report: ImportReport;
  lines: Blob;
}

export const importing = signal<{ name: string; size: number; progress: ImportProgress | null } | null>(null);
export const imported = signal<Imported | null>(null);
export const importProblem = signal<DreamError | null>(null);

let cancelling: AbortController | null = null;
/** Letters of text before they become a blob. */
const pieceLength = 1 << 20;

export async function importFile(file: File): Promise<void> {
  if (importing.peek()) return;
  cancelling = new AbortController();
  const { signal: aborted } = cancelling;
  importing.value = { name: file.name, size: file.size, progress: null };
  imported.value = null;
  importProblem.value = null;
  const blobs: Blob[] = [];
  let text = '';
  let breath = performance.now();
  try {
    const report = await importTrajectories(chunksOf(file), {
      name: file.name,
      signal: aborted,
      onProgress: (progress) => {
        importing.value = { name: file.name, size: file.size, progress };
      },
      onEpisode: async ({ where, trajectory, raw }) => {
        text += `${JSON.stringify({ ...trajectory, where, raw })}\n`;
        if (text.length > pieceLength) {
          blobs.push(new Blob([text]));
          text = '';
        }
        // The page stays answerable, the cancel button too.
        if (performance.now() - breath > 30) {
          await new Promise((resolve) => setTimeout(resolve));
          breath = performance.now();
        }
      },
    });
    blobs.push(new Blob([text]));
    imported.value = { name: file.name, report, lines: new Blob(blobs, { type: 'application/jsonl' }) };
  } catch (error) {
    importProblem.value = aborted.aborted
      ? new DreamError('cancelled', 'The import was cancelled.', 'Nothing of the file was kept.')
      : asDreamError(error);
  } finally {
    importing.value = null;
    cancelling = null;
  }
}

export function cancelImport(): void {
  cancelling?.abort(new DreamError('cancelled', 'The import was cancelled.', 'Nothing of the file was kept.'));
}

export function saveImported(): void {
  const found = imported.peek();
  if (found) save(`${found.name.replace(/\.[^.]*$/, '')}-memories.jsonl`, found.lines, 'application/jsonl');
}

async function* chunksOf(file: File): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // An import that ended early leaves the file.
    await reader.cancel().catch(() => {});
  }
}
