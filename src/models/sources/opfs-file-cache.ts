/**
 * @file Downloads in the browser's private file system (OPFS), from a worker.
 *
 * Sync access handles write in place, so what has arrived survives a closed tab, and Safari before 26 has nothing else.
 * They exist in workers only. Renaming is not possible everywhere, so an empty `*.whole` file beside it says that a file
 * is finished; a tab closed before that leaves an unfinished one.
 */
import type { ByteSource } from '../weights';
import { BlobSource } from './blob-source';
import { type CachedFile, type FileCache, keyOf, keyParts, type PartialFile } from './file-cache';
import { fileInUse, fileRead, fileWrite, storageFull } from './source-errors';

/** What is used of the browser's types; the DOM library does not know sync access handles. */
export interface SyncAccessHandle {
  read(buffer: Uint8Array<ArrayBuffer>, options: { at: number }): number;
  write(buffer: Uint8Array<ArrayBuffer>, options: { at: number }): number;
  truncate(size: number): void;
  getSize(): number;
  flush(): void;
  close(): void;
}
export interface OpfsFile {
  readonly kind: 'file';
  getFile(): Promise<Blob>;
  createSyncAccessHandle(): Promise<SyncAccessHandle>;
}
export interface OpfsFolder {
  readonly kind: 'directory';
  getDirectoryHandle(name: string, options?: { create?: boolean }): Promise<OpfsFolder>;
  getFileHandle(name: string, options?: { create?: boolean }): Promise<OpfsFile>;
  removeEntry(name: string, options?: { recursive?: boolean }): Promise<void>;
  entries(): AsyncIterable<[string, OpfsFile | OpfsFolder]>;
}
export interface OpfsStorage {
  getDirectory(): Promise<OpfsFolder>;
  estimate?(): Promise<{ quota?: number; usage?: number }>;
}

const FOLDER = 'models';
const WHOLE = '.whole';
/** Left to the runs and to the browser. */
const HEADROOM = 0.1;

const nameOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'name' in error ? String(error.name) : '';
const isMissing = (error: unknown): boolean =>
  nameOf(error) === 'NotFoundError' || nameOf(error) === 'TypeMismatchError';

/** Null where the page may keep nothing: a private window, a cross-site frame, blocked site data, plain http; then take a MemoryFileCache. */
export async function openOpfsCache(
  storage: OpfsStorage = navigator.storage as unknown as OpfsStorage,
): Promise<OpfsFileCache | null> {
  try {
    const folder = await (await storage.getDirectory()).getDirectoryHandle(FOLDER, { create: true });
    // Some private windows have the folder and refuse the file.
    const probe = await folder.getFileHandle('probe', { create: true });
    (await probe.createSyncAccessHandle()).close();
    await folder.removeEntry('probe');
    return new OpfsFileCache(folder, storage);
  } catch (error) {
    // Two tabs that start together probe together.
    if (nameOf(error) === 'NoModificationAllowedError')
      return new OpfsFileCache(await (await storage.getDirectory()).getDirectoryHandle(FOLDER), storage);
    return null;
  }
}

export class OpfsFileCache implements FileCache {
  constructor(
    private readonly root: OpfsFolder,
    private readonly storage: OpfsStorage,
  ) {}

  async open(key: string): Promise<ByteSource | null> {
    try {
      const { folder, name } = await this.place(key, false);
      await folder.getFileHandle(name + WHOLE);
      const file = await folder.getFileHandle(name);
      return new BlobSource(await file.getFile(), key);
    } catch (error) {
      if (isMissing(error)) return null;
      throw fileRead(key, nameOf(error) || String(error), error);
    }
  }

  async write(key: string): Promise<PartialFile> {
    try {
      const { folder, name } = await this.place(key, true);
      const file = await folder.getFileHandle(name, { create: true });
      const handle = await file.createSyncAccessHandle();
      await folder.removeEntry(name + WHOLE).catch(() => undefined);
      return new OpfsPartialFile(key, folder, name, file, handle);
    } catch (error) {
      throw writeError(key, error);
    }
  }

  async list(): Promise<CachedFile[]> {
    const found: CachedFile[] = [];
    const visit = async (folder: OpfsFolder, path: readonly string[]): Promise<void> => {
      const sizes = new Map<string, number>();
      const whole = new Set<string>();
      for await (const [name, entry] of folder.entries()) {
        if (entry.kind === 'directory') await visit(entry, [...path, name]);
        else if (name.endsWith(WHOLE)) whole.add(name.slice(0, -WHOLE.length));
        else sizes.set(name, (await entry.getFile()).size);
      }
      for (const [name, bytes] of sizes) found.push({ key: keyOf([...path, name]), bytes, complete: whole.has(name) });
    };
    await visit(this.root, []);
    return found;
  }

  async remove(keyOrFolder: string): Promise<void> {
    try {
      const { folder, name } = await this.place(keyOrFolder, false);
      await folder.removeEntry(name + WHOLE).catch(() => undefined);
      await folder.removeEntry(name, { recursive: true });
    } catch (error) {
      if (!isMissing(error)) throw writeError(keyOrFolder, error);
    }
  }

  async freeBytes(): Promise<number | null> {
    const { quota, usage } = (await this.storage.estimate?.()) ?? {};
    return quota === undefined || usage === undefined ? null : Math.max(0, Math.floor(quota * (1 - HEADROOM)) - usage);
  }

  private async place(key: string, create: boolean): Promise<{ folder: OpfsFolder; name: string }> {
    const parts = keyParts(key);
    const name = parts.pop() as string;
    let folder = this.root;
    for (const part of parts) folder = await folder.getDirectoryHandle(part, { create });
    return { folder, name };
  }
}

class OpfsPartialFile implements PartialFile {
  bytes: number;
  private open = true;

  constructor(
    private readonly key: string,
    private readonly folder: OpfsFolder,
    private readonly name: string,
    private readonly file: OpfsFile,
    private readonly handle: SyncAccessHandle,
  ) {
    this.bytes = handle.getSize();
  }

  async read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(length);
    if (this.handle.read(bytes, { at: offset }) !== length) throw fileRead(this.key, 'it is shorter than it was');
    return bytes;
  }

  async append(chunk: Uint8Array<ArrayBuffer>): Promise<void> {
    let written: number;
    try {
      written = this.handle.write(chunk, { at: this.bytes });
    } catch (error) {
      this.handle.truncate(this.bytes);
      throw writeError(this.key, error);
    }
    if (written !== chunk.length) {
      // A full disk may also show as a short write.
      this.handle.truncate(this.bytes);
      throw storageFull(null);
    }
    this.bytes += written;
  }

  async restart(): Promise<void> {
    this.handle.truncate(0);
    this.bytes = 0;
  }

  async finish(): Promise<ByteSource> {
    try {
      await this.close();
      const marker = await this.folder.getFileHandle(this.name + WHOLE, { create: true });
      (await marker.createSyncAccessHandle()).close();
    } catch (error) {
      throw writeError(this.key, error);
    }
    return new BlobSource(await this.file.getFile(), this.key);
  }

  async close(): Promise<void> {
    if (!this.open) return;
    this.open = false;
    try {
      this.handle.flush();
    } finally {
      this.handle.close();
    }
  }
}

function writeError(key: string, error: unknown): Error {
  const name = nameOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (name === 'QuotaExceededError' || /quota|disk.*full|no space/i.test(message)) return storageFull(null, error);
  // Chrome and Firefox say the first, Safari the second, when another handle is open.
  if (name === 'NoModificationAllowedError' || name === 'InvalidStateError') return fileInUse(key, error);
  return fileWrite(key, message || name, error);
}
