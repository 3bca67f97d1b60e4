/**
 * @file What the browser's storage refuses, in words that say what to do.
 *
 * Browsers disagree on names: a full disk is QuotaExceededError everywhere, but "this page may keep nothing" is
 * SecurityError (Chrome, cookies blocked), InvalidStateError (Firefox, old private windows), or UnknownError (a damaged
 * profile).
 */
import { DreamError } from '../data/errors';

const deniedNames = new Set([
  'SecurityError',
  'InvalidStateError',
  'NotAllowedError',
  'UnknownError',
  'ReferenceError',
]);
const unreadableNames = new Set(['DataError', 'NotReadableError', 'DataCloneError', 'UnknownError']);

function nameOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'name' in error ? String(error.name) : '';
}

export function storageFull(cause?: unknown): DreamError {
  return new DreamError(
    'storage-full',
    'The browser has no room left for this iteration; the last finished iteration is kept.',
    'Delete old runs here or free space on the disk, then press Resume. Export the run first if you fear for it.',
    { cause },
  );
}

export function storageDenied(reason: string, cause?: unknown): DreamError {
  return new DreamError(
    'storage-denied',
    `The browser does not let this page keep anything (${reason}).`,
    'Allow site data for this page or leave the private window. To train without saving, press Start again and export the run before you close the tab.',
    { cause },
  );
}

export function storageInUse(cause?: unknown): DreamError {
  return new DreamError(
    'storage-denied',
    'Another tab of this page holds the storage open in an older or newer version of the program.',
    'Close the other tabs of this page and reload this one.',
    { cause },
  );
}

export function corruptStoredRun(detail: string, cause?: unknown): DreamError {
  return new DreamError(
    'corrupt-run',
    `The saved run cannot be read (${detail}).`,
    'Delete it and start a new run, or import a copy that you exported.',
    { cause },
  );
}

/** Anything IndexedDB throws, as a DreamError. A value that cannot be read back is the run's fault, not the storage's. */
export function storageError(error: unknown, doing: 'opening' | 'reading' | 'writing'): DreamError {
  if (error instanceof DreamError) return error;
  const name = nameOf(error);
  const message = error instanceof Error ? error.message : String(error);
  // Firefox reports some full disks as an UnknownError or AbortError that mentions the quota.
  if (name === 'QuotaExceededError' || /quota|disk.*full|no space/i.test(message)) return storageFull(error);
  if (name === 'VersionError') return storageInUse(error);
  if (doing === 'reading' && unreadableNames.has(name)) return corruptStoredRun(message, error);
  if (doing === 'opening' && deniedNames.has(name)) return storageDenied(message || name, error);
  return new DreamError(
    'storage-failed',
    `The browser's storage failed: ${message || name || 'unknown reason'}.`,
    'Reload the page and choose Resume: the last finished iteration is kept.',
    { cause: error },
  );
}
