/**
 * @file One file from a server into the cache: goes on where it was dropped, is hashed as it comes, and is kept only if
 * its hash is the publisher's.
 */

import type { ByteSource } from '../weights';
import { delayMs, patient, type RetryOptions, wait } from './back-off';
import type { FileCache, PartialFile } from './file-cache';
import { type RunningHash, startHash } from './file-hash';
import { type Access, requestRange, Transient } from './http';
import { eachChunk } from './http-source';
import type { FileHash } from './hub-files';
import { hashMismatch, stopped, unreachable } from './source-errors';

export interface Transfer extends Access {
  url: string;
  /** In the cache. */
  key: string;
  size: number;
  hash: FileHash;
  cache: FileCache;
  retry?: RetryOptions;
  /** Bytes of this file that are here, after every piece; may fall back to 0. `checking` = hashing what was kept. */
  onBytes?(bytes: number, phase: 'checking' | 'fetching'): void;
}

/** What an interrupted download left is hashed again in pieces of this size. */
const CHECK_BYTES = 2 ** 22;

/**
 * Throws `hash-mismatch` (the file is discarded), `network`, `storage-full`, `download-stopped`, `file-in-use` and what
 * the server refuses; all but the first keep what has arrived.
 */
export async function transfer(job: Transfer): Promise<ByteSource> {
  const finished = await job.cache.open(job.key);
  if (finished && finished.size === job.size) {
    job.onBytes?.(job.size, 'checking');
    return finished;
  }
  const file = await job.cache.write(job.key);
  try {
    if (file.bytes > job.size) await file.restart();
    let hash = await hashKept(file, job);
    hash = await fetchRest(file, hash, job);
    const found = hash.hex();
    if (found !== job.hash.hex) {
      await file.close();
      await job.cache.remove(job.key);
      throw hashMismatch(job.key, job.hash.hex, found);
    }
    return await file.finish();
  } finally {
    await file.close();
  }
}

async function hashKept(file: PartialFile, job: Transfer): Promise<RunningHash> {
  const hash = startHash(job.hash.algorithm, job.size);
  for (let at = 0; at < file.bytes; at += CHECK_BYTES) {
    if (job.signal?.aborted) throw stopped();
    hash.update(await file.read(at, Math.min(CHECK_BYTES, file.bytes - at)));
    job.onBytes?.(Math.min(at + CHECK_BYTES, file.bytes), 'checking');
  }
  return hash;
}

async function fetchRest(file: PartialFile, begun: RunningHash, job: Transfer): Promise<RunningHash> {
  const retry = job.retry ?? patient;
  let hash = begun;
  let etag: string | null = null;
  const restart = async (): Promise<void> => {
    await file.restart();
    hash = startHash(job.hash.algorithm, job.size);
    job.onBytes?.(0, 'fetching');
  };
  for (let failures = 0; file.bytes < job.size; ) {
    const before = file.bytes;
    try {
      const answer = await requestRange(job.url, file.bytes, null, job, retry.stallMs);
      const changed = etag !== null && answer.etag !== null && answer.etag !== etag;
      if (changed && answer.start > 0) {
        // Another content than the one begun: from the start, in the next round.
        answer.abort();
        etag = answer.etag;
        await restart();
        throw new Transient('the file changed on the server');
      }
      etag = answer.etag;
      // A server that does not know ranges sends everything again.
      if (answer.start !== file.bytes) await restart();
      await eachChunk(answer, retry, job.signal, async (chunk) => {
        // Longer than it should be: the hash will not fit, and the disk must not fill up.
        const piece = chunk.subarray(0, job.size - file.bytes);
        hash.update(piece);
        await file.append(piece);
        job.onBytes?.(file.bytes, 'fetching');
      });
      if (file.bytes < job.size) throw new Transient('the connection ended early');
    } catch (error) {
      if (!(error instanceof Transient)) throw error;
      failures = file.bytes > before ? 1 : failures + 1;
      if (failures >= retry.attempts) throw unreachable(job.url, error);
      await wait(delayMs(failures, retry, error.retryAfter), job.signal);
    }
  }
  return hash;
}
