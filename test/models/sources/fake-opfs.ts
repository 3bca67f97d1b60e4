/** @file The browser's private file system as far as the cache uses it, with a quota and the browser's errors. */
import type { OpfsFile, OpfsFolder, OpfsStorage, SyncAccessHandle } from '../../../src/models/sources/opfs-file-cache';

const named = (name: string): Error => Object.assign(new Error(name), { name });

export class FakeOpfs implements OpfsStorage {
  used = 0;
  /** Private windows: SecurityError or InvalidStateError. */
  refuses: string | null = null;
  private readonly root = new FakeFolder(this);

  constructor(public quota = 1e9) {}

  async getDirectory(): Promise<OpfsFolder> {
    if (this.refuses) throw named(this.refuses);
    return this.root;
  }

  async estimate(): Promise<{ quota: number; usage: number }> {
    return { quota: this.quota, usage: this.used };
  }
}

class FakeFolder implements OpfsFolder {
  readonly kind = 'directory';
  private readonly children = new Map<string, FakeFolder | FakeFile>();

  constructor(private readonly disk: FakeOpfs) {}

  async getDirectoryHandle(name: string, options?: { create?: boolean }): Promise<OpfsFolder> {
    return this.child(name, options?.create ? () => new FakeFolder(this.disk) : null, 'directory') as FakeFolder;
  }

  async getFileHandle(name: string, options?: { create?: boolean }): Promise<OpfsFile> {
    return this.child(name, options?.create ? () => new FakeFile(this.disk) : null, 'file') as FakeFile;
  }

  async removeEntry(name: string): Promise<void> {
    const child = this.children.get(name);
    if (!child) throw named('NotFoundError');
    if (child instanceof FakeFile && child.open) throw named('NoModificationAllowedError');
    this.children.delete(name);
  }

  async *entries(): AsyncIterable<[string, OpfsFile | OpfsFolder]> {
    yield* this.children;
  }

  private child(name: string, create: (() => FakeFolder | FakeFile) | null, kind: string): FakeFolder | FakeFile {
    if (name === '' || name === '.' || name === '..' || name.includes('/')) throw new TypeError('Name is not allowed');
    const child = this.children.get(name) ?? create?.();
    if (!child) throw named('NotFoundError');
    if (child.kind !== kind) throw named('TypeMismatchError');
    this.children.set(name, child);
    return child;
  }
}

class FakeFile implements OpfsFile {
  readonly kind = 'file';
  open = false;
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0);

  constructor(private readonly disk: FakeOpfs) {}

  async getFile(): Promise<Blob> {
    return new Blob([this.bytes]);
  }

  async createSyncAccessHandle(): Promise<SyncAccessHandle> {
    if (this.open) throw named('NoModificationAllowedError');
    this.open = true;
    const resize = (size: number): void => {
      const bytes = new Uint8Array(size);
      bytes.set(this.bytes.subarray(0, size));
      this.disk.used += size - this.bytes.length;
      this.bytes = bytes;
    };
    return {
      read: (buffer, { at }) => {
        const piece = this.bytes.subarray(at, at + buffer.length);
        buffer.set(piece);
        return piece.length;
      },
      write: (buffer, { at }) => {
        const size = Math.max(this.bytes.length, at + buffer.length);
        if (this.disk.used + size - this.bytes.length > this.disk.quota) throw named('QuotaExceededError');
        resize(size);
        this.bytes.set(buffer, at);
        return buffer.length;
      },
      truncate: resize,
      getSize: () => this.bytes.length,
      flush: () => undefined,
      close: () => {
        this.open = false;
      },
    };
  }
}
