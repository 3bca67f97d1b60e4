/** @file Ragged sequences for the tests of returns and GAE. */
import { normals, randomSource } from '../../numbers';

export interface Ragged {
  lengths: number[];
  starts: number[];
  rewards: Float32Array;
  values: Float32Array;
  mask: Uint32Array;
}

/** Sequences of the given lengths; about a third of the entries masked when `masked`. */
export function ragged(seed: number, lengths: number[], masked: boolean): Ragged {
  const uniform = randomSource(seed);
  const starts = [0];
  for (const length of lengths) starts.push(starts.at(-1)! + length);
  const n = starts.at(-1)!;
  return {
    lengths,
    starts,
    rewards: normals(seed + 1, n),
    values: normals(seed + 2, n),
    mask: Uint32Array.from({ length: n }, () => (masked && uniform() < 0.35 ? 0 : 1)),
  };
}

/** The part of `x` that belongs to sequence s. */
export function part(x: ArrayLike<number>, { starts }: Ragged, s: number): number[] {
  return Array.from(x).slice(starts[s], starts[s + 1]);
}
