/**
 * @file `random.seed(n); random.shuffle(list)` as Python does them, so that WebShop's session numbers keep their goals.
 *
 * MT19937 (Matsumoto and Nishimura 1998) seeded by `init_by_array`; an index below n is drawn by taking as many top bits
 * as n has and drawing again while the result is not below n.
 */
const SIZE = 624;
const SHIFT = 397;

class MersenneTwister {
  private readonly state = new Uint32Array(SIZE);
  private index = SIZE;

  /** `seed`: 0 to 2^32 - 1. */
  constructor(seed: number) {
    const { state } = this;
    state[0] = 19650218;
    for (let i = 1; i < SIZE; i++) state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i;
    let i = 1;
    for (let k = 0; k < SIZE; k++) {
      const mixed = Math.imul(state[i - 1] ^ (state[i - 1] >>> 30), 1664525);
      // The key has one word, so its position adds nothing.
      state[i] = (state[i] ^ mixed) + seed;
      if (++i >= SIZE) {
        state[0] = state[SIZE - 1];
        i = 1;
      }
    }
    for (let k = 0; k < SIZE - 1; k++) {
      const mixed = Math.imul(state[i - 1] ^ (state[i - 1] >>> 30), 1566083941);
      state[i] = (state[i] ^ mixed) - i;
      if (++i >= SIZE) {
        state[0] = state[SIZE - 1];
        i = 1;
      }
    }
    state[0] = 0x80000000;
  }

  uint32(): number {
    if (this.index >= SIZE) this.twist();
    let y = this.state[this.index++];
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  private twist(): void {
    const { state } = this;
    for (let i = 0; i < SIZE; i++) {
      const y = (state[i] & 0x80000000) | (state[(i + 1) % SIZE] & 0x7fffffff);
      state[i] = state[(i + SHIFT) % SIZE] ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    this.index = 0;
  }

  /** Uniform in [0, n), for 0 < n < 2^32. */
  below(n: number): number {
    const bits = 32 - Math.clz32(n);
    let draw = n;
    while (draw >= n) draw = this.uint32() >>> (32 - bits);
    return draw;
  }
}

/** A shuffled copy. */
export function pythonShuffle<T>(items: readonly T[], seed: number): T[] {
  const shuffled = [...items];
  const random = new MersenneTwister(seed);
  for (let i = shuffled.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [shuffled[i], shuffled[j]] = [shuffled[j], shuffled[i]];
  }
  return shuffled;
}
