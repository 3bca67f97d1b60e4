/**
 * @file One tab a run: two loops on the same rows would overwrite each other's iterations.
 *
 * Web Locks are released by the browser when a tab dies, however it dies. Where they are missing (insecure context, old
 * browsers) the store still refuses an iteration that does not follow the stored one.
 */
import { DreamError } from '../data/errors';

export type ReleaseLock = () => void;

/** A reloaded page asks before its predecessor's worker has quite ended; so much patience is enough. */
const patienceMs = 1500;

/** Throws `run-locked` while another tab holds the run. */
export async function lockRun(
  runId: string,
  locks: LockManager | undefined = globalThis.navigator?.locks,
  waitMs = patienceMs,
): Promise<ReleaseLock> {
  if (!locks) return () => {};
  return new Promise<ReleaseLock>((resolve, reject) => {
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), waitMs);
    locks
      .request(`dreamgym-run:${runId}`, { signal: patience.signal }, () => {
        clearTimeout(timer);
        return new Promise<void>((release) => resolve(release));
      })
      .catch((error: unknown) => {
        clearTimeout(timer);
        if (patience.signal.aborted) reject(locked(error));
        // A document that may not use locks (opaque origin) may not share storage with another tab either.
        else resolve(() => {});
      });
  });
}

function locked(cause: unknown): DreamError {
  return new DreamError(
    'run-locked',
    'This run is open in another tab.',
    'Go on there, or close that tab and try again here. A new run can be started in this tab at any time.',
    { cause },
  );
}
