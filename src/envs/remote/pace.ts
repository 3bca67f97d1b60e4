/** @file How many requests are under way at one server, and how long to wait before asking again. */
import type { DreamError } from '../../data/errors';

/** A counting semaphore: at most `count` run, the others wait their turn. */
export class Slots {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(readonly count: number) {
    this.free = count;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((enter) => this.waiting.push(enter));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.free++;
    }
  }
}

export type Wait = (ms: number) => Promise<void>;

export const wait: Wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const firstDelayMs = 250;
const longestDelayMs = 8_000;

/** Exponential with equal jitter: sessions that were refused together must not come back together. */
export function backOffMs(attempt: number, random: () => number = Math.random): number {
  const ceiling = Math.min(longestDelayMs, firstDelayMs * 2 ** attempt);
  return ceiling / 2 + (random() * ceiling) / 2;
}

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
    await pause(backOffMs(attempt));
  }
}
