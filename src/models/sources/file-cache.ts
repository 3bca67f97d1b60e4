/**
 * @file Where downloaded files are kept: finished ones for reading, unfinished ones for going on.
 *
 * A file's key is its path: `owner/name/commit/onnx/model_q4.onnx`. Contents of a key never change, a commit is fixed.
 */
import type { ByteSource } from '../weights';

export interface CachedFile {
  key: string;
  bytes: number;
  complete: boolean;
}

export interface FileCache {
  /** A finished file, or null. */
  open(key: string): Promise<ByteSource | null>;
  /** The unfinished file, new and empty if there is none. One writer at a time: throws `file-in-use`. */
  write(key: string): Promise<PartialFile>;
  /** All files, for the storage panel. */
  list(): Promise<CachedFile[]>;
  /** Removes a file, or everything below a folder of the key; nothing happens if there is none. */
  remove(keyOrFolder: string): Promise<void>;
  /** Bytes that may still be written, null where nobody can say. */
  freeBytes(): Promise<number | null>;
}

export interface PartialFile {
  /** Bytes so far. */
  readonly bytes: number;
  /** What was written before, to hash it again. */
  read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>>;
  /** Throws `storage-full`; the bytes before stay. */
  append(chunk: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Back to zero bytes. */
  restart(): Promise<void>;
  /** The file is whole and right: from now on `open` finds it. */
  finish(): Promise<ByteSource>;
  /** Keeps what is there for the next `write`. Nothing happens after `finish`. */
  close(): Promise<void>;
}

/** Names of files from a hub are hostile: each part of a key becomes a plain file name, and none leads upwards. */
export function keyParts(key: string): string[] {
  return key.split('/').map((part) => encodeURIComponent(part).replace(/^\.+$/, (dots) => '%2E'.repeat(dots.length)));
}

export function keyOf(parts: readonly string[]): string {
  return parts.map((part) => decodeURIComponent(part)).join('/');
}

export function within(key: string, keyOrFolder: string): boolean {
  return key === keyOrFolder || key.startsWith(`${keyOrFolder}/`);
}
