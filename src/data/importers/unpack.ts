/**
 * @file Unpacks zip and gzip without believing a word of them: bytes are counted as they come out.
 *
 * Declared sizes can be forged, so input goes in small pieces: DEFLATE expands at most 1032-fold, hence no piece can make
 * more than 16 MiB before the count is looked at.
 */
import { Gunzip, Unzip, UnzipInflate } from 'fflate';
import { joined, megabytes } from './containers/collector';

const pieceBytes = 16 * 1024;
const maxEntries = 64;

export interface UnpackedZip {
  entries: Map<string, Uint8Array>;
  /** Names that were not asked for. */
  ignored: string[];
}

/** Only `wanted` entries are unpacked, to `maxBytes` in all. Throws Error for anything malformed or too large. */
export function unpackZip(bytes: Uint8Array, wanted: ReadonlySet<string>, maxBytes: number): UnpackedZip {
  const parts = new Map<string, Uint8Array[]>();
  const finished = new Set<string>();
  const ignored: string[] = [];
  let total = 0;
  const unzip = new Unzip((file) => {
    if (parts.size + ignored.length >= maxEntries) throw new Error(`it has more than ${maxEntries} entries`);
    if (!wanted.has(file.name)) {
      ignored.push(file.name.slice(0, 100));
      return;
    }
    if (parts.has(file.name)) throw new Error(`it contains ${file.name} twice`);
    const chunks: Uint8Array[] = [];
    parts.set(file.name, chunks);
    file.ondata = (error, chunk, final) => {
      if (error) throw error;
      total += chunk.byteLength;
      if (total > maxBytes) throw new Error(`it unpacks to more than ${megabytes(maxBytes)}`);
      chunks.push(chunk);
      if (final) finished.add(file.name);
    };
    file.start();
  });
  unzip.register(UnzipInflate);
  feed(bytes, (piece, final) => unzip.push(piece, final));
  for (const name of parts.keys()) if (!finished.has(name)) throw new Error(`${name} is cut off`);
  return { entries: new Map([...parts].map(([name, chunks]) => [name, joined(chunks)])), ignored };
}

/** Throws Error for anything malformed or larger than `maxBytes`. */
export function unpackGzip(bytes: Uint8Array, maxBytes: number): Uint8Array {
  const chunks: Uint8Array[] = [];
  let total = 0;
  let finished = false;
  const gunzip = new Gunzip((chunk, final) => {
    total += chunk.byteLength;
    if (total > maxBytes) throw new Error(`it unpacks to more than ${megabytes(maxBytes)}`);
    chunks.push(chunk);
    finished ||= final;
  });
  feed(bytes, (piece, final) => gunzip.push(piece, final));
  if (!finished) throw new Error('it is cut off');
  return joined(chunks);
}

function feed(bytes: Uint8Array, push: (piece: Uint8Array, final: boolean) => void): void {
  for (let at = 0; at < bytes.length; at += pieceBytes)
    push(bytes.subarray(at, at + pieceBytes), at + pieceBytes >= bytes.length);
}
