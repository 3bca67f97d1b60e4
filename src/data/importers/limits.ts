/** @file What an import may hold in memory at once. Everything beyond is dropped with its place and reason, never loaded. */

/** One entry of a JSON file, one line of a JSONL or text file, one page: bytes. */
export const maxPieceBytes = 16 * 2 ** 20;
/** A whole file of one episode (a WebArena page with its screenshots): bytes. */
export const maxWholeBytes = 64 * 2 ** 20;
/** Levels of nesting within one entry. The strict parser behind allows 40. */
export const maxDepth = 40;
/** Values within one entry: `[{},{},...]` takes twenty times its bytes in memory. */
export const maxValues = 1_000_000;
/** Turns of one episode. */
export const maxTurns = 2_000;
/** Read before the format is decided: bytes. */
export const prefixBytes = 256 * 1024;
/** What a compressed file may unpack to: bytes. It is streamed, so this bounds time, not memory. */
export const maxUnpackedBytes = 16 * 2 ** 30;
/** Files within one zip. */
export const maxZipEntries = 10_000;
/** Dropped things listed one by one; further ones are counted by reason. */
export const maxListedDrops = 5_000;
