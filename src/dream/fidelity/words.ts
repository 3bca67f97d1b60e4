/**
 * @file How much of a dreamed observation is right, word by word.
 *
 * Exact equality calls `at shelf 1 see cup 1` and `at shelf 1 see cup 2` as wrong as nonsense. Words are compared in
 * order, by the longest common subsequence, so that one thing too many does not shift everything behind it.
 */

export interface WordCount {
  right: number;
  /** Words of the longer text: what is missing and what is invented both cost. */
  of: number;
}

export function wordAccuracy(dreamed: string, real: string): WordCount {
  const a = wordsOf(dreamed);
  const b = wordsOf(real);
  return { right: dreamed === real ? a.length : commonSubsequence(a, b), of: Math.max(a.length, b.length) };
}

export function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** Texts longer than this (in product) are compared by their shared words, whatever their order: bounded work. */
const largestTable = 4_000_000;

function commonSubsequence(a: readonly string[], b: readonly string[]): number {
  if (a.length * b.length > largestTable) return sharedWords(a, b);
  let before = new Uint32Array(b.length + 1);
  let row = new Uint32Array(b.length + 1);
  for (const word of a) {
    for (let j = 0; j < b.length; j++) row[j + 1] = word === b[j] ? before[j] + 1 : Math.max(before[j + 1], row[j]);
    [before, row] = [row, before];
  }
  return before[b.length];
}

function sharedWords(a: readonly string[], b: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of a) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of b) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    shared++;
  }
  return shared;
}
