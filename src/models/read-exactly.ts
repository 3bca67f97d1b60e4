/** @file A read that gives all it was asked for: a source that returns less has changed under us. */
import { DreamError } from '../data/errors';
import type { ByteSource } from './weights';

/** @throws DreamError `file-read` naming the file. */
export async function readExactly(file: ByteSource, offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await file.read(offset, length);
  if (bytes.byteLength === length) return bytes;
  throw new DreamError('file-read', `${file.name} ended while it was read.`, 'The file has changed; open it again.');
}

/** For sources after `close`. */
export function closedError(label: string): DreamError {
  return new DreamError('file-read', `${label} has been closed.`, 'Open the model again.');
}
