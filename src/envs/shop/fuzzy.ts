/**
 * @file WebShop's fuzzy string comparison: `token_set_ratio` of Python's thefuzz, 0..100.
 *
 * fuzzball is a port of it, but prepares its strings differently where they are not ASCII, so the preparation is done
 * here: characters U+0080..U+00FF vanish, everything that is no letter, digit or underscore becomes a space, lower case.
 * Against thefuzz 0.22.1 over rapidfuzz 3.14.6, 27 of 3,000 random pairs differ by one (12.5 and 62.5, which Python rounds
 * to the even side), none across WebShop's limit.
 */
import { token_set_ratio } from 'fuzzball/ultra_lite';

/** A match must be better than this (goal.py). */
export const MATCH_ABOVE = 85;

const prepare = (text: string): string =>
  text
    .replace(/[\u0080-\u00ff]/g, '')
    .replace(/[^\p{L}\p{N}_]/gu, ' ')
    .toLowerCase()
    .trim();

/** 100 whenever one text's words are all in the other; 0 when either has no words. */
export function tokenSetRatio(a: string, b: string): number {
  const left = prepare(a);
  const right = prepare(b);
  if (left === '' || right === '') return 0;
  return token_set_ratio(left, right, { full_process: false });
}

const decided = new Map<string, boolean>();
const MAX_DECIDED = 65_536;

/** Better than the limit? Remembered, because the same attributes meet again in every episode. */
export function matches(a: string, b: string): boolean {
  const pair = `${a}\n${b}`;
  let answer = decided.get(pair);
  if (answer === undefined) {
    answer = tokenSetRatio(a, b) > MATCH_ABOVE;
    if (decided.size >= MAX_DECIDED) decided.clear();
    decided.set(pair, answer);
  }
  return answer;
}
