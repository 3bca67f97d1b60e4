/**
 * @file A cursor over the head of a file of unknown length, which arrives in windows.
 *
 * Nothing in the file is believed: before anything of a claimed size is read or allocated, that size is compared with what
 * is left of the file. `need` fetches (and checks), the typed reads after it are synchronous, because a vocabulary has
 * hundreds of thousands of strings.
 */
import type { ByteSource } from '../weights';
import { badGguf } from './problem';

const WINDOW_BYTES = 256 * 1024;
// `ignoreBOM` keeps U+FEFF: vocabularies contain it as a token.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

export class HeaderReader {
  /** Offset in the file of the next byte. */
  position = 0;
  private window = new Uint8Array(0);
  private view = new DataView(this.window.buffer);
  private windowStart = 0;

  constructor(private readonly source: ByteSource) {}

  get file(): string {
    return this.source.name;
  }

  /** Bytes of the file. */
  get size(): number {
    return this.source.size;
  }

  /** Bytes of the file after the cursor. */
  get remaining(): number {
    return this.source.size - this.position;
  }

  /** Whether the next `bytes` are here already. */
  has(bytes: number): boolean {
    return this.position + bytes <= this.windowStart + this.window.length;
  }

  /** Makes the next `bytes` readable. Throws `bad-gguf` when the file has not so many, naming `what`. */
  async need(bytes: number, what: string): Promise<void> {
    this.claim(bytes, what);
    if (this.has(bytes)) return;
    const length = Math.min(Math.max(bytes, WINDOW_BYTES), this.remaining);
    this.window = await this.source.read(this.position, length);
    this.view = new DataView(this.window.buffer, this.window.byteOffset, this.window.byteLength);
    this.windowStart = this.position;
    if (this.window.length < bytes) throw badGguf(this.file, `it ends within ${what}`);
  }

  /** Checks a size that the file claims against what is left of it. */
  claim(bytes: number, what: string): void {
    if (!(bytes <= this.remaining)) throw badGguf(this.file, `${what} would reach beyond the end of the file`);
  }

  u8(): number {
    return this.view.getUint8(this.advance(1));
  }
  i8(): number {
    return this.view.getInt8(this.advance(1));
  }
  u16(): number {
    return this.view.getUint16(this.advance(2), true);
  }
  i16(): number {
    return this.view.getInt16(this.advance(2), true);
  }
  u32(): number {
    return this.view.getUint32(this.advance(4), true);
  }
  i32(): number {
    return this.view.getInt32(this.advance(4), true);
  }
  f32(): number {
    return this.view.getFloat32(this.advance(4), true);
  }
  f64(): number {
    return this.view.getFloat64(this.advance(8), true);
  }
  /** As a number: sizes beyond 2^53 lose digits, but they exceed every file and are refused for that. */
  u64(): number {
    return Number(this.view.getBigUint64(this.advance(8), true));
  }
  i64(): number {
    return Number(this.view.getBigInt64(this.advance(8), true));
  }

  /** A length in 8 bytes, then UTF-8. */
  async string(what: string): Promise<string> {
    if (!this.has(8)) await this.need(8, what);
    const length = this.u64();
    if (!this.has(length)) await this.need(length, what);
    const start = this.advance(length);
    return utf8.decode(this.window.subarray(start, start + length));
  }

  private advance(bytes: number): number {
    const at = this.position - this.windowStart;
    this.position += bytes;
    return at;
  }
}
