/** @file A file on this machine's disk as a byte source, and a folder's files as sources (the terminal). */
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { checkRange } from '../models/sources/byte-range';
import { fileRead } from '../models/sources/source-errors';
import type { ByteSource } from '../models/weights';

export class PathSource implements ByteSource {
  private constructor(
    readonly name: string,
    readonly size: number,
    private readonly handle: FileHandle,
  ) {}

  /** @param name For messages and for telling files apart; default: the file's name. Throws `file-read`. */
  static async open(path: string, name = basename(path)): Promise<PathSource> {
    try {
      const handle = await open(path, 'r');
      const { size } = await handle.stat();
      return new PathSource(name, size, handle);
    } catch (cause) {
      throw fileRead(name, said(cause), cause);
    }
  }

  async read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    checkRange(this, offset, length);
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length; ) {
      let bytesRead: number;
      try {
        ({ bytesRead } = await this.handle.read(bytes, at, length - at, offset + at));
      } catch (cause) {
        throw fileRead(this.name, said(cause), cause);
      }
      if (bytesRead === 0) throw fileRead(this.name, 'it is shorter than it was');
      at += bytesRead;
    }
    return bytes;
  }

  async close(): Promise<void> {
    await this.handle.close();
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
