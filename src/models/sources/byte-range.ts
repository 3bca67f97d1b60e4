/** @file The one check every source makes before it reads. */
import type { ByteSource } from '../weights';
import { fileRead } from './source-errors';

/** Throws `file-read` unless [offset, offset + length) lies in the source. Nothing is allocated for an absurd length. */
export function checkRange(source: ByteSource, offset: number, length: number): void {
  const whole = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0;
  if (!whole || offset + length > source.size)
    throw fileRead(source.name, `bytes ${offset} to ${offset + length} lie outside its ${source.size}`);
}
