/**
 * @file Waiting between attempts: longer each time, as long as the server asks for, and not a moment after an abort.
 */
import { stopped } from './source-errors';

export interface RetryOptions {
  /** Failures in a row, without a byte between them, before giving up. */
  attempts: number;
  /** Doubles with each failure up to `longestMs`. */
  firstMs: number;
  longestMs: number;
  /** A connection that brings nothing for this long counts as dropped. */
  stallMs: number;
}

export const patient: RetryOptions = { attempts: 6, firstMs: 500, longestMs: 30_000, stallMs: 30_000 };

/** @param failures In a row, from 1. */
export function delayMs(failures: number, options: RetryOptions, retryAfter?: string | null): number {
  const asked = Number(retryAfter ?? Number.NaN) * 1000;
  // A server may ask for more than we would wait, but not for an hour.
  if (asked > 0) return Math.min(asked, 4 * options.longestMs);
  return Math.min(options.firstMs * 2 ** (failures - 1), options.longestMs);
}

/** Throws `download-stopped` as soon as the signal is aborted. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(stopped());
    const abort = (): void => {
      clearTimeout(timer);
      reject(stopped());
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

export interface Leash {
  signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Lets go of the outer signal; the request is over. */
  release(): void;
}

/**
 * A signal for one request that follows an outer one. Not AbortSignal.any: Safari before 17.4 lacks it, and some versions
 * of Node lose the abort when a signal is garbage-collected (nodejs/node#65995).
 */
export function leash(outer?: AbortSignal): Leash {
  const controller = new AbortController();
  const follow = (): void => controller.abort(outer?.reason);
  if (outer?.aborted) follow();
  outer?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => outer?.removeEventListener('abort', follow),
  };
}
