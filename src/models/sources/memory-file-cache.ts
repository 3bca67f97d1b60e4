/**
 * @file Downloads where nothing may be kept (a private window), gone with the page.
 *
 * Files are Blobs of Blobs: browsers move large ones to the disk by themselves, so even here the file is not in our heap.
 */
import type { ByteSource } from '../weights';
import { BlobSource } from './blob-source';
import { type CachedFile, type FileCache, type PartialFile, within } from './file-cache';
import { fileInUse } from './source-errors';

/** Small pieces of the network are gathered before they become a Blob. */
const PIECE_BYTES = 2 ** 22;

interface Entry {
  pieces: Blob[];
  bytes: number;
  complete: boolean;
  writing: boolean;
}

export class MemoryFileCache implements FileCache {
  private readonly files = new Map<string, Entry>();

  async open(key: string): Promise<ByteSource | null> {
    const entry = this.files.get(key);
    return entry?.complete ? new BlobSource(new Blob(entry.pieces), key) : null;
  }

  async write(key: string): Promise<PartialFile> {
    const entry = this.files.get(key) ?? { pieces: [], bytes: 0, complete: false, writing: false };
    if (entry.writing) throw fileInUse(key);
    entry.writing = true;
    entry.complete = false;
    this.files.set(key, entry);
    return new MemoryPartialFile(key, entry);
  }

  async list(): Promise<CachedFile[]> {
    return [...this.files].map(([key, { bytes, complete }]) => ({ key, bytes, complete }));
  }

  async remove(keyOrFolder: string): Promise<void> {
    for (const key of [...this.files.keys()]) if (within(key, keyOrFolder)) this.files.delete(key);
  }

  async freeBytes(): Promise<number | null> {
    return null;
  }
}

class MemoryPartialFile implements PartialFile {
  private gathered: Uint8Array<ArrayBuffer>[] = [];
  private gatheredBytes = 0;

  constructor(
    private readonly key: string,
    private readonly entry: Entry,
  ) {}

  get bytes(): number {
    return this.entry.bytes;
  }

  async read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    this.gather();
    return new BlobSource(new Blob(this.entry.pieces), this.key).read(offset, length);
  }

  async append(chunk: Uint8Array<ArrayBuffer>): Promise<void> {
    this.gathered.push(chunk.slice());
    this.gatheredBytes += chunk.length;
    this.entry.bytes += chunk.length;
    if (this.gatheredBytes >= PIECE_BYTES) this.gather();
  }

  async restart(): Promise<void> {
    this.gathered = [];
    this.gatheredBytes = 0;
    this.entry.pieces = [];
    this.entry.bytes = 0;
  }

  async finish(): Promise<ByteSource> {
    await this.close();
    this.entry.complete = true;
    return new BlobSource(new Blob(this.entry.pieces), this.key);
  }

  async close(): Promise<void> {
    this.gather();
    this.entry.writing = false;
  }

  private gather(): void {
    if (this.gathered.length > 0) this.entry.pieces.push(new Blob(this.gathered));
    this.gathered = [];
    this.gatheredBytes = 0;
  }
}
