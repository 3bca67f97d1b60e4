/** @file Bytes of one piece, collected across chunks up to a limit: what is too large is skipped, not stored. */

const nothing: Uint8Array = new Uint8Array(0);

export class Collector {
  private chunks: Uint8Array[] = [];
  /** Bytes seen since `clear`, stored or not. */
  size = 0;

  constructor(readonly limit: number) {}

  get tooLarge(): boolean {
    return this.size > this.limit;
  }

  /** Would it be too large with these bytes? */
  overflows(last: Uint8Array): boolean {
    return this.size + last.byteLength > this.limit;
  }

  /** Copies: `bytes` may be reused by the caller afterwards. */
  add(bytes: Uint8Array): void {
    if (bytes.byteLength === 0) return;
    this.size += bytes.byteLength;
    if (this.tooLarge) this.chunks = [];
    else this.chunks.push(bytes.slice());
  }

  clear(): void {
    this.chunks = [];
    this.size = 0;
  }

  /**
   * What was collected, with `last` at its end; the collector is empty afterwards. Mostly a piece lies within one chunk:
   * then this is `last` itself, uncopied, and valid until the caller reuses it. Copies by the hundred thousand are what
   * fills memory faster than it is collected.
   */
  take(last = nothing): Uint8Array {
    const { chunks } = this;
    this.clear();
    return chunks.length === 0 ? last : joined([...chunks, last]);
  }
}

export const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MB`;

/** All of them, end to end, copied. */
export function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0));
  let offset = 0;
  for (const chunk of chunks) {
    all.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return all;
}
