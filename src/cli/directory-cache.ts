/** @file Downloaded models in a folder of this machine (the terminal): `*.part` while unfinished, renamed when whole. */
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type CachedFile, type FileCache, keyOf, keyParts, type PartialFile } from '../models/sources/file-cache';
import { fileInUse, fileRead, fileWrite, storageFull } from '../models/sources/source-errors';
import type { ByteSource } from '../models/weights';
import { PathSource } from './path-source';

const PART = '.part';

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

export class DirectoryCache implements FileCache {
  private readonly writing = new Set<string>();

  /** @param folder Made when the first file is written. */
  constructor(private readonly folder: string) {}

  async open(key: string): Promise<ByteSource | null> {
    const path = this.path(key);
    return (await stat(path).catch(() => null))?.isFile() ? PathSource.open(path, key) : null;
  }

  async write(key: string): Promise<PartialFile> {
    if (this.writing.has(key)) throw fileInUse(key);
    const path = this.path(key);
    try {
      await mkdir(dirname(path), { recursive: true });
      const handle = await open(path + PART, 'a+');
      const { size } = await handle.stat();
      this.writing.add(key);
      return new PartOfDisk(key, path, handle, size, () => this.writing.delete(key));
    } catch (error) {
      throw diskError(key, error);
    }
  }

  async list(): Promise<CachedFile[]> {
    const found: CachedFile[] = [];
    const visit = async (parts: readonly string[]): Promise<void> => {
      const entries = await readdir(join(this.folder, ...parts), { withFileTypes: true }).catch(() => []);
      for (const { name, ...entry } of entries.map((e) => ({
        name: e.name,
        folder: e.isDirectory(),
        file: e.isFile(),
      }))) {
        if (entry.folder) await visit([...parts, name]);
        if (!entry.file) continue;
        const { size } = await stat(join(this.folder, ...parts, name));
        const complete = !name.endsWith(PART);
        const plain = complete ? name : name.slice(0, -PART.length);
        found.push({ key: keyOf([...parts, plain]), bytes: size, complete });
      }
    };
    await visit([]);
    return found;
  }

  async remove(keyOrFolder: string): Promise<void> {
    const path = this.path(keyOrFolder);
    await rm(path + PART, { force: true });
    await rm(path, { recursive: true, force: true });
  }

  async freeBytes(): Promise<number | null> {
    const disk = await statfs(this.folder).catch(() => null);
    return disk === null ? null : disk.bavail * disk.bsize;
  }

  private path(key: string): string {
    return join(this.folder, ...keyParts(key));
  }
}

class PartOfDisk implements PartialFile {
  private open = true;

  constructor(
    private readonly key: string,
    private readonly path: string,
    private readonly handle: FileHandle,
    public bytes: number,
    private readonly release: () => void,
  ) {}

  async read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(length);
    const { bytesRead } = await this.handle.read(bytes, 0, length, offset);
    if (bytesRead !== length) throw fileRead(this.key, 'it is shorter than it was');
    return bytes;
  }

  async append(chunk: Uint8Array<ArrayBuffer>): Promise<void> {
    try {
      await this.handle.appendFile(chunk);
    } catch (error) {
      await this.handle.truncate(this.bytes).catch(() => undefined);
      throw diskError(this.key, error);
    }
    this.bytes += chunk.length;
  }

  async restart(): Promise<void> {
    await this.handle.truncate(0);
    this.bytes = 0;
  }

  async finish(): Promise<ByteSource> {
    try {
      await this.handle.sync();
      await this.close();
      await rename(this.path + PART, this.path);
    } catch (error) {
      throw diskError(this.key, error);
    }
    return PathSource.open(this.path, this.key);
  }

  async close(): Promise<void> {
    if (!this.open) return;
    this.open = false;
    this.release();
    await this.handle.close();
  }
}

function diskError(key: string, error: unknown): Error {
  const code = codeOf(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return storageFull(null, error);
  return fileWrite(key, error instanceof Error ? error.message : String(error), error);
}
