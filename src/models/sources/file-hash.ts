/**
 * @file A file's hash while it streams by. WebCrypto wants the whole file at once; @noble/hashes takes pieces.
 *
 * Small files of a repository are known by git's name for them: sha1 over `blob <size>`, a zero, and the content.
 */
import { sha1 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { FileHash } from './hub-files';

export interface RunningHash {
  update(chunk: Uint8Array): void;
  hex(): string;
}

export function startHash(algorithm: FileHash['algorithm'], size: number): RunningHash {
  const hash = algorithm === 'sha256' ? sha256.create() : sha1.create();
  if (algorithm === 'git-sha1') hash.update(new TextEncoder().encode(`blob ${size}\0`));
  return {
    update: (chunk) => {
      hash.update(chunk);
    },
    hex: () => bytesToHex(hash.digest()),
  };
}
