/** @file Picked and dropped files with their paths: a dropped folder is walked, a picked one brings its paths along. */
import type { PickedFile } from '../../worker/models/protocol';

/** No model has more; a dropped home folder must not be walked to its end. */
const MAX_FILES = 500;
const MAX_DEPTH = 4;

export function pickedFiles(list: Iterable<File>): PickedFile[] {
  return [...list].slice(0, MAX_FILES).map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/** Must be called within the drop event: the browser empties the list afterwards. */
export async function droppedFiles(transfer: DataTransfer): Promise<PickedFile[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  if (entries.every((entry) => entry === null || entry.isFile)) return pickedFiles(transfer.files);
  const found: PickedFile[] = [];
  for (const entry of entries) if (entry) await walk(entry, '', 0, found);
  return found;
}

async function walk(entry: FileSystemEntry, folder: string, depth: number, found: PickedFile[]): Promise<void> {
  if (found.length >= MAX_FILES) return;
  const path = folder + entry.name;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ path, file });
    return;
  }
  // `.git` and the like are no part of a model.
  if (depth >= MAX_DEPTH || entry.name.startsWith('.')) return;
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A reader gives at most a hundred entries at once, and none at the end.
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return;
    for (const child of part) await walk(child, `${path}/`, depth + 1, found);
  }
}
