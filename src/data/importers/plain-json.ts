/** @file JSON from a stranger: capped, plain, without keys that reach for prototypes. */

/** Deeper than any record of ours, shallow enough that no later copy can overflow the stack. */
const maxDepth = 40;

const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype']);

/** Throws Error (any message) for text that is not UTF-8 JSON, too deep, or that has a forbidden key. */
export function parsePlainJson(bytes: Uint8Array | string): unknown {
  const text = typeof bytes === 'string' ? bytes : new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  const value: unknown = JSON.parse(text);
  // Iterative: the depth is not known yet.
  const pending: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, depth } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= maxDepth) throw new Error(`it is nested more than ${maxDepth} levels deep`);
    if (Array.isArray(value)) {
      for (const item of value) if (typeof item === 'object') pending.push({ value: item, depth: depth + 1 });
    } else {
      for (const [key, item] of Object.entries(value)) {
        if (forbiddenKeys.has(key)) throw new Error(`it has a key named ${key}`);
        if (typeof item === 'object') pending.push({ value: item, depth: depth + 1 });
      }
    }
  }
  return value;
}
