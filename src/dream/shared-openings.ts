/**
 * @file Prompts of one batch begin alike: the rules are the same for all, the whole opening is within a group. What is alike
 * is computed once and copied from cache to cache.
 */
import type { Sessions } from '../nn/language-model';

/** Shorter beginnings are computed faster together than copied. */
const LONG = 64;

/**
 * Puts what all openings begin with on every stream, if it is long; returns its length in tokens, else 0. The streams must
 * be empty; the caller appends the rest.
 */
export async function shareBeginning(sessions: Sessions, openings: readonly (readonly number[])[]): Promise<number> {
  if (openings.length < 2) return 0;
  const shortest = Math.min(...openings.map((opening) => opening.length));
  let shared = 0;
  while (shared < shortest - 1 && openings.every((opening) => opening[shared] === openings[0][shared])) shared++;
  if (shared < LONG || shared > sessions.contextLength) return 0;
  sessions.append(0, openings[0].slice(0, shared));
  await sessions.copy(
    0,
    openings.slice(1).map((_, i) => i + 1),
  );
  return shared;
}

/** Streams in a row that hold the same long opening, and nothing else, get it computed once. */
export async function shareLongOpenings(sessions: Sessions, openings: readonly (readonly number[])[]): Promise<void> {
  for (let i = 0; i < openings.length; ) {
    let end = i + 1;
    while (end < openings.length && sameTokens(openings[end], openings[i])) end++;
    const fits = sessions.length(i) === openings[i].length; // else it was given up for want of room
    if (end > i + 1 && fits && openings[i].length >= LONG) {
      const others = Array.from({ length: end - i - 1 }, (_, k) => i + 1 + k);
      await sessions.copy(i, others);
    }
    i = end;
  }
}

function sameTokens(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((token, i) => token === b[i]);
}
