/** @file How many requests are under way at one server, and how long to wait before asking again. */
import type { DreamError } from '../../data/errors';

/** A counting semaphore: at most `count` run, the others wait their turn, or leave when their signal says so. */
export class Slots {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(readonly count: number) {
    this.free = count;
  }

  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.take(signal);
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.free++;
    }
  }

  private take(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.free > 0) {
      this.free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.waiting.splice(this.waiting.indexOf(enter), 1);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.waiting.push(enter);
    });
  }
}

export type Wait = (ms: number) => Promise<void>;

export const wait: Wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const firstDelayMs = 250;
const longestDelayMs = 8_000;

/** Equal jitter (half fixed, half random): who was refused together must not come back together. */
export const jittered = (ceilingMs: number, random: () => number): number => ceilingMs / 2 + (random() * ceilingMs) / 2;

/** Repeats `work` while it fails with one of the `passing` codes. Only for what may safely be done twice: never a step. */
export async function retrying<T>(
  work: () => Promise<T>,
  passing: ReadonlySet<string>,
  retries: number,
  pause: Wait = wait,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const { code } = error as Partial<DreamError>;
      if (attempt >= retries || code === undefined || !passing.has(code)) throw error;
    }
    await pause(jittered(Math.min(longestDelayMs, firstDelayMs * 2 ** attempt), Math.random));
  }
}
