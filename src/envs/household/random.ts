/**
 * @file Counter-based random numbers for the household world: draw i of stream s is a pure function of (s, i).
 *
 * The mixer is the 32-bit finaliser "lowbias32" (Chris Wellons, hash-prospector, public domain), applied twice with the
 * key in between. A generator is two integers, so it can be copied, split by name and resumed exactly; no draw depends
 * on how many draws some other part of the program made.
 */

/** A well-mixed uint32 from any integer. */
export function mix32(value: number): number {
  let x = value | 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

/** Folds integers (or the characters of strings) into one uint32 key. */
export function hashKey(...parts: readonly (number | string)[]): number {
  let h = 0x9e3779b9;
  for (const part of parts) {
    if (typeof part === 'number') {
      h = mix32(h ^ mix32(part + 0x632be5ab));
      // Seeds may exceed 32 bits; the high part must count too.
      const high = Math.floor(part / 4294967296);
      if (high !== 0 && high !== -1) h = mix32(h ^ high);
    } else {
      for (let i = 0; i < part.length; i++) h = mix32(h ^ (part.charCodeAt(i) + 0x1000000));
      h = mix32(h ^ 0x5bd1e995);
    }
  }
  return h;
}

export class Random {
  readonly key: number;
  /** Number of draws made so far: with `key` the whole state. */
  counter: number;

  constructor(seed: number | string, counter = 0) {
    this.key = hashKey(seed);
    this.counter = counter;
  }

  /** An independent generator named by `parts`; does not advance this one. */
  split(...parts: readonly (number | string)[]): Random {
    return new Random(hashKey(this.key, ...parts));
  }

  uint32(): number {
    return mix32(mix32(this.counter++ ^ this.key) + this.key);
  }

  /** Uniform in [0, 1) with 32 bits. */
  float(): number {
    return this.uint32() / 4294967296;
  }

  /** Uniform integer in [0, n). The bias of the multiply-shift is below n / 2^32. */
  int(n: number): number {
    return Math.floor(this.float() * n);
  }

  /** Uniform integer in [low, high], both included. */
  between(low: number, high: number): number {
    return low + this.int(high - low + 1);
  }

  chance(probability: number): boolean {
    return this.float() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.int(items.length)];
  }

  /** Fisher-Yates, in place; returns its argument. */
  shuffle<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i--) {
      const j = this.int(i + 1);
      const held = items[i];
      items[i] = items[j];
      items[j] = held;
    }
    return items;
  }

  /** `count` of them, or all, in random order. */
  sample<T>(items: readonly T[], count: number): T[] {
    return this.shuffle([...items]).slice(0, count);
  }
}
