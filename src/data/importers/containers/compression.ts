/**
 * @file gzip and zip as streams of events. Declared sizes and names are not believed: bytes are counted as they come out,
 * and input goes in small pieces, because DEFLATE expands up to 1032-fold.
 */
import { FlateErrorCode, Gunzip, Unzip, UnzipInflate } from 'fflate';
import { DreamError } from '../../errors';
import { maxUnpackedBytes, maxZipEntries } from '../limits';

export type Unpacked =
  | { kind: 'open'; name: string }
  | { kind: 'data'; bytes: Uint8Array }
  /** `whole` is false for an entry that was cut off. */
  | { kind: 'close'; whole: boolean };

/** Yields what came out of each piece before the next one goes in. */
export interface Unpacker {
  push(chunk: Uint8Array): Iterable<Unpacked>;
  end(): Iterable<Unpacked>;
}

const pieceBytes = 16 * 1024;

/** fflate's code for input that ends too early. */
const unexpectedEnd = FlateErrorCode.UnexpectedEOF;

export type Packing = 'gzip' | 'zip' | 'none';

/** From the first four bytes. */
export function packingOf(bytes: Uint8Array): Packing {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'gzip';
  return bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4 ? 'zip' : 'none';
}

/** @param name Of the packed file: what is inside a gzip is called like it, without `.gz`. */
export function unpackerOf(packing: Packing, name: string): Unpacker {
  if (packing === 'none') return plain(name);
  return packing === 'gzip' ? new GzipUnpacker(name) : new ZipUnpacker(name);
}

function plain(name: string): Unpacker {
  let opened = false;
  return {
    *push(bytes) {
      if (!opened) yield { kind: 'open', name };
      opened = true;
      yield { kind: 'data', bytes };
    },
    *end() {
      if (opened) yield { kind: 'close', whole: true };
    },
  };
}

/** What both share: a queue filled by fflate's callbacks, and the count of bytes. */
abstract class QueueUnpacker implements Unpacker {
  protected queue: Unpacked[] = [];
  private total = 0;

  constructor(protected readonly name: string) {}

  *push(chunk: Uint8Array): Generator<Unpacked> {
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      this.feed(chunk.subarray(at, at + pieceBytes), false);
      yield* this.take();
    }
  }

  *end(): Generator<Unpacked> {
    yield* this.take();
    this.finish();
    yield* this.take();
  }

  protected abstract inflate(piece: Uint8Array): void;
  protected abstract finish(): void;

  private feed(piece: Uint8Array, _final: boolean): void {
    try {
      this.inflate(piece);
    } catch (cause) {
      throw cause instanceof DreamError ? cause : damaged(this.name, cause);
    }
  }

  private *take(): Generator<Unpacked> {
    const { queue } = this;
    this.queue = [];
    for (const event of queue) {
      if (event.kind === 'data') this.total += event.bytes.byteLength;
      if (this.total > maxUnpackedBytes)
        throw new DreamError(
          'unpacks-too-large',
          `${this.name} unpacks to more than ${maxUnpackedBytes / 2 ** 30} GB.`,
          'Unpack it yourself and import the files in it one by one.',
        );
      yield event;
    }
  }
}

class GzipUnpacker extends QueueUnpacker {
  private finished = false;
  private readonly gunzip = new Gunzip((bytes, final) => {
    if (bytes.byteLength > 0) this.queue.push({ kind: 'data', bytes });
    this.finished ||= final;
  });

  constructor(name: string) {
    super(name);
    this.queue.push({ kind: 'open', name: name.replace(/\.gz$/i, '') });
  }

  protected inflate(piece: Uint8Array): void {
    this.gunzip.push(piece, false);
  }

  protected finish(): void {
    try {
      this.gunzip.push(new Uint8Array(0), true);
      this.finished = true;
    } catch (cause) {
      if ((cause as { code?: number }).code !== unexpectedEnd) throw damaged(this.name, cause);
      // Cut off: what came out before stays.
      this.finished = false;
    }
    this.queue.push({ kind: 'close', whole: this.finished });
  }
}

class ZipUnpacker extends QueueUnpacker {
  private entries = 0;
  private open = false;
  private readonly unzip = new Unzip((file) => {
    if (++this.entries > maxZipEntries) throw damaged(this.name, new Error(`more than ${maxZipEntries} entries`));
    if (file.name.endsWith('/') || /(^|\/)(__MACOSX\/|\.)/.test(file.name)) return;
    file.ondata = (error, bytes, final) => {
      if (error) throw error;
      if (bytes.byteLength > 0) this.queue.push({ kind: 'data', bytes });
      if (!final) return;
      this.queue.push({ kind: 'close', whole: true });
      this.open = false;
    };
    this.open = true;
    this.queue.push({ kind: 'open', name: file.name.slice(0, 200) });
    file.start();
  });

  constructor(name: string) {
    super(name);
    this.unzip.register(UnzipInflate);
  }

  protected inflate(piece: Uint8Array): void {
    this.unzip.push(piece, false);
  }

  protected finish(): void {
    if (this.open) this.queue.push({ kind: 'close', whole: false });
  }
}

export const damaged = (name: string, cause: unknown): DreamError =>
  new DreamError(
    'damaged-archive',
    `${name} cannot be unpacked: ${cause instanceof Error ? cause.message.slice(0, 120) : 'it is damaged'}.`,
    'Download or pack it again. Episodes before the damage were handed on whole.',
    { cause },
  );
