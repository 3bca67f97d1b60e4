/** @file A file on this machine's disk as a byte source, and a folder's files as sources (the terminal). */
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DreamError } from '../data/errors';
import { checkRange } from '../models/sources/byte-range';
import { fileRead } from '../models/sources/source-errors';
import type { ByteSource } from '../models/weights';

/** Opens the file for every read: nothing leaks if it is never closed, and a file that was changed meanwhile is noticed. */
export class PathSource implements ByteSource {
  private closed = false;

  private constructor(
    readonly name: string,
    readonly size: number,
    private readonly path: string,
    private readonly changedMs: number,
  ) {}

  /** @param name For messages and for telling files apart; default: the file's name. Throws `file-read`. */
  static async open(path: string, name = basename(path)): Promise<PathSource> {
    try {
      const handle = await open(path, 'r');
      try {
        const { size, mtimeMs } = await handle.stat();
        return new PathSource(name, size, path, mtimeMs);
      } finally {
        await handle.close();
      }
    } catch (cause) {
      throw fileRead(name, said(cause), cause);
    }
  }

  async read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    checkRange(this, offset, length);
    if (this.closed) throw fileRead(this.name, 'it was closed');
    const bytes = new Uint8Array(length);
    let handle: FileHandle;
    try {
      handle = await open(this.path, 'r');
    } catch (cause) {
      throw fileRead(this.name, said(cause), cause);
    }
    try {
      const { size, mtimeMs } = await handle.stat();
      if (size !== this.size || mtimeMs !== this.changedMs) throw fileRead(this.name, 'it was changed');
      for (let at = 0; at < length; ) {
        const { bytesRead } = await handle.read(bytes, at, length - at, offset + at);
        if (bytesRead === 0) throw fileRead(this.name, 'it is shorter than it was');
        at += bytesRead;
      }
    } catch (cause) {
      throw cause instanceof DreamError ? cause : fileRead(this.name, said(cause), cause);
    } finally {
      await handle.close();
    }
    return bytes;
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}

/** Subfolders of a model's folder that may belong to it. */
const MAX_DEPTH = 2;

/**
 * A file, or all files of a folder (named by their path within it, so that `onnx/model.onnx` can be told from others).
 * Throws `file-read`.
 */
export async function openPath(path: string): Promise<PathSource[]> {
  let isFolder: boolean;
  try {
    isFolder = (await stat(path)).isDirectory();
  } catch (cause) {
    throw fileRead(path, said(cause), cause);
  }
  if (!isFolder) return [await PathSource.open(path)];
  const sources: PathSource[] = [];
  const visit = async (folder: string, prefix: string, depth: number): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.')) continue;
      const at = join(folder, entry.name);
      if (entry.isDirectory() && depth < MAX_DEPTH) await visit(at, `${prefix}${entry.name}/`, depth + 1);
      // Hugging Face's own cache is made of links to files.
      else if (entry.isFile() || (entry.isSymbolicLink() && (await stat(at).catch(() => null))?.isFile()))
        sources.push(await PathSource.open(at, prefix + entry.name));
    }
  };
  await visit(path, '', 0);
  return sources;
}

const said = (cause: unknown): string =>
  (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : String((cause as Error).message);
