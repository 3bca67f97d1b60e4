/**
 * @file Headers are read in many small steps; over a network each would be a request. This keeps the last few blocks.
 *
 * Large reads pass through: tensors are read once and need no cache.
 */
import type { ByteSource } from '../weights';
import { checkRange } from './byte-range';

const BLOCK_BYTES = 2 ** 18;
const KEPT_BLOCKS = 8;

export class ReadAhead implements ByteSource {
  readonly name: string;
  readonly size: number;
  /** By block number, the last used one last. */
  private readonly blocks = new Map<number, Promise<Uint8Array<ArrayBuffer>>>();

  constructor(private readonly source: ByteSource) {
    this.name = source.name;
    this.size = source.size;
  }

  async read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    checkRange(this, offset, length);
    if (length >= BLOCK_BYTES) return this.source.read(offset, length);
    const bytes = new Uint8Array(length);
    for (let at = offset; at < offset + length; ) {
      const number = Math.floor(at / BLOCK_BYTES);
      const block = await this.block(number);
      const first = at - number * BLOCK_BYTES;
      const piece = block.subarray(first, Math.min(block.length, first + offset + length - at));
      bytes.set(piece, at - offset);
      at += piece.length;
    }
    return bytes;
  }

  private block(number: number): Promise<Uint8Array<ArrayBuffer>> {
    const start = number * BLOCK_BYTES;
    const block = this.blocks.get(number) ?? this.source.read(start, Math.min(BLOCK_BYTES, this.size - start));
    this.blocks.delete(number);
    this.blocks.set(number, block);
    // A read that failed is tried again the next time.
    block.catch(() => this.blocks.delete(number));
    if (this.blocks.size > KEPT_BLOCKS) this.blocks.delete(this.blocks.keys().next().value as number);
    return block;
  }
}
