/** @file How long to wait after a failure. */
import { jittered } from '../../../envs/remote/pace';

const firstDelayMs = 500;
const longestDelayMs = 30_000;

/** Many callers must not come back at once. */
export const backOffMs = (attempt: number, random: () => number): number =>
  jittered(Math.min(longestDelayMs, firstDelayMs * 2 ** attempt), random);

/** What the server asks for, in ms from `now`; null where it asks for nothing. Seconds, a date, or OpenAI's `-ms` header. */
export function retryAfterMs(headers: Headers, now: number): number | null {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return exact;
  const value = headers.get('retry-after')?.trim();
  if (!value) return null;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** Resolves after `ms`; rejects with the signal's reason. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
  });
}
