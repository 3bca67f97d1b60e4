/**
 * @file Counter-based random numbers: every draw is a pure function of (seed, path, counter).
 *
 * There is no generator state to save, so a resumed run draws what the uninterrupted one would have drawn, and adding a
 * draw in one place cannot shift the draws of another. Mixing is the finaliser of MurmurHash3 (public domain).
 */

function mix(h: number): number {
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** FNV-1a of a string, then mixed: a stable 32-bit hash. */
export function hashText(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return mix(h);
}

/** A 32-bit seed for one purpose, e.g. `deriveSeed(config.seed, iteration, 'policy')`. */
export function deriveSeed(seed: number, ...path: readonly (number | string)[]): number {
  let h = mix((seed >>> 0) ^ 0x9e3779b9);
  for (const part of path) {
    const word = typeof part === 'string' ? hashText(part) : part >>> 0;
    h = mix(Math.imul(h, 0x9e3779b1) ^ word);
  }
  return h;
}

/** Uniform draws in [0, 1) from a derived seed. The counter lives only as long as the caller's local purpose. */
export class Draws {
  private counter = 0;
  constructor(private readonly seed: number) {}

  next(): number {
    return mix(Math.imul(++this.counter, 0x9e3779b1) ^ this.seed) / 0x1_0000_0000;
  }

  /** Integer in [0, bound). */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  /** A new array in random order (Fisher-Yates). */
  shuffled<T>(items: readonly T[]): T[] {
    const result = [...items];
    for (let i = result.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [result[i], result[j]] = [result[j], result[i]];
    }
    return result;
  }
}
