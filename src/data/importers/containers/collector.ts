/** @file Bytes of one piece, collected across chunks up to a limit: what is too large is skipped, not stored. */

export class Collector {
  private chunks: Uint8Array[] = [];
  /** Bytes seen since `clear`, stored or not. */
  size = 0;

  constructor(readonly limit: number) {}

  get tooLarge(): boolean {
    return this.size > this.limit;
  }

  /** `bytes` may be reused by the caller afterwards. */
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

  /** The collected bytes; the collector is empty afterwards. */
  take(): Uint8Array {
    const { chunks } = this;
    const size = this.tooLarge ? 0 : this.size;
    this.clear();
    if (chunks.length === 1) return chunks[0];
    const all = new Uint8Array(size);
    let offset = 0;
    for (const chunk of chunks) {
      all.set(chunk, offset);
      offset += chunk.byteLength;
    }
    return all;
  }
}

export const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MB`;
