/** A file in memory that notes what was read of it, and refuses what no real file could give. */
import { DreamError } from '../../src/data/errors';
import type { ByteSource } from '../../src/models/weights';

export interface MemoryFile extends ByteSource {
  reads: { offset: number; length: number }[];
}

export function memoryFile(name: string, bytes: Uint8Array): MemoryFile {
  const reads: { offset: number; length: number }[] = [];
  return {
    name,
    size: bytes.length,
    reads,
    async read(offset, length) {
      reads.push({ offset, length });
      if (!(offset >= 0 && length >= 0 && offset + length <= bytes.length)) {
        throw new DreamError('file-read', `${name}: bytes ${offset}+${length} are beyond its end.`, 'Get it again.');
      }
      // At an odd place of a larger buffer, as a file system may hand it out.
      const copy = new Uint8Array(length + 1).subarray(1);
      copy.set(bytes.subarray(offset, offset + length));
      return copy;
    },
  };
}
