/** @file Tiles of consecutive tokens: what one workgroup of the subgroup attention owns. */
import type { GpuBuffer } from '../gpu/buffers';

/** Tokens a tile holds at most: the lanes of the smallest subgroup the kernels run on. */
export const TILE_TOKENS = 8;

export interface AttentionTiles {
  buffer: GpuBuffer; // [count] (first token, tokens, base of the sequence's rows, position of the first token)
  count: number;
}

/**
 * Cuts a batch into runs of at most 8 tokens that follow each other in one sequence.
 * @param places (base, position) of every token, as in a batch's `rows`.
 * @returns [tiles, 4] as AttentionTiles.buffer holds it.
 */
export function tileTokens(places: ArrayLike<number>): Uint32Array<ArrayBuffer> {
  const tiles: number[] = [];
  const t = places.length / 2;
  for (let first = 0; first < t; ) {
    const base = places[first * 2];
    const position = places[first * 2 + 1];
    let n = 1;
    while (
      n < TILE_TOKENS &&
      first + n < t &&
      places[(first + n) * 2] === base &&
      places[(first + n) * 2 + 1] === position + n
    )
      n++;
    tiles.push(first, n, base, position);
    first += n;
  }
  return Uint32Array.from(tiles);
}
