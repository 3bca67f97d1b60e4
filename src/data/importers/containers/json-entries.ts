/**
 * @file Cuts one large JSON document into its entries without parsing it: `[episode, ...]`, `{name: episode}`,
 * `{group: {name: episode}}`.
 *
 * Only the brackets, strings and keys above the entries are looked at; each entry is then parsed on its own, so a broken
 * or oversized one costs nothing but itself. A general streaming parser would build every value, and could not skip one.
 */
import { maxDepth, maxPieceBytes, maxValues } from '../limits';
import type { Dropped, Piece, Splitter } from '../pieces';
import { Collector, megabytes } from './collector';

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const isOpen = (byte: number) => byte === openBrace || byte === openBracket;
const isClose = (byte: number) => byte === closeBrace || byte === closeBracket;

interface Level {
  isObject: boolean;
  index: number;
  key: string;
  awaitsKey: boolean;
}

type Mode = 'between' | 'key' | 'string' | 'scalar' | 'container' | 'after';

const longestKeyBytes = 4_096;

/** @param depth Containers around an entry: 0 for the document itself, 1 for the elements of its root, 2 ... */
export class JsonEntries implements Splitter {
  private readonly levels: Level[] = [];
  private readonly entry: Collector;
  private readonly keyBytes = new Collector(longestKeyBytes);
  private mode: Mode = 'between';
  private inString = false;
  private escaped = false;
  /** Open containers within the entry. */
  private nested = 0;
  private deepest = 0;
  private values = 0;
  private trailing = false;

  constructor(
    private readonly depth: number,
    limit = maxPieceBytes,
  ) {
    this.entry = new Collector(limit);
  }

  *push(chunk: Uint8Array): Generator<Piece | Dropped> {
    for (let at = 0; at < chunk.length; ) {
      if (this.mode === 'container' || this.mode === 'string' || this.mode === 'scalar' || this.mode === 'key') {
        const start = at;
        at = this.scan(chunk, at);
        const bytes = chunk.subarray(start, at);
        if (this.finishedAt !== at) {
          (this.mode === 'key' ? this.keyBytes : this.entry).add(bytes);
          return;
        }
        this.finishedAt = -1;
        if (this.mode === 'key') this.endKey(bytes);
        else yield this.endEntry(bytes);
        continue;
      }
      const byte = chunk[at];
      if (isSpace(byte) || byte === 0xef || byte === 0xbb || byte === 0xbf) {
        at++;
        continue;
      }
      if (this.mode === 'after') {
        if (!this.trailing) yield { where: 'after the end of the document', why: 'the document was already closed' };
        this.trailing = true;
        return;
      }
      at += this.between(byte);
    }
  }

  *end(): Generator<Piece | Dropped> {
    if (this.mode === 'scalar' && this.levels.length === 0) yield this.endEntry(new Uint8Array(0));
    else if (this.mode !== 'after') yield { where: this.where(), why: 'the file ends in the middle of it' };
  }

  /** Index after the last byte of what is being collected, when the scan reached it; else -1. */
  private finishedAt = -1;

  /** Runs through the current key or entry; returns where it stopped. */
  private scan(chunk: Uint8Array, from: number): number {
    let at = from;
    let { inString, escaped, nested, values } = this;
    const { mode } = this;
    let finished = -1;
    for (; at < chunk.length; at++) {
      const byte = chunk[at];
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === backslash) escaped = true;
        else if (byte === quote) {
          inString = false;
          if (mode !== 'container') {
            finished = ++at;
            break;
          }
        }
      } else if (mode === 'scalar') {
        // The byte that ends a number or a word belongs to the container around it.
        if (byte === comma || isClose(byte) || isSpace(byte)) {
          finished = at;
          break;
        }
      } else if (byte === quote) inString = true;
      else if (byte === comma) values++;
      else if (isOpen(byte)) {
        nested++;
        values++;
        if (nested > this.deepest) this.deepest = nested;
      } else if (isClose(byte) && --nested === 0) {
        finished = ++at;
        break;
      }
    }
    this.inString = inString;
    this.escaped = escaped;
    this.nested = nested;
    this.values = values;
    this.finishedAt = finished;
    return at;
  }

  /** One byte of the containers around the entries; returns how many bytes it used. */
  private between(byte: number): 0 | 1 {
    const level = this.levels.at(-1);
    if (level && isClose(byte)) {
      this.levels.pop();
      if (this.levels.length === 0) this.mode = 'after';
      return 1;
    }
    if (level && byte === comma) {
      level.index++;
      level.awaitsKey = level.isObject;
      return 1;
    }
    if (level?.isObject && byte === colon) {
      level.awaitsKey = false;
      return 1;
    }
    if (byte === quote) {
      this.inString = true;
      this.begin(level?.awaitsKey ? 'key' : 'string');
      // The opening quote goes to the collector, but must not end the string.
      (this.mode === 'key' ? this.keyBytes : this.entry).add(Uint8Array.of(byte));
      return 1;
    }
    if (isOpen(byte) && this.levels.length < this.depth) {
      const isObject = byte === openBrace;
      this.levels.push({ isObject, index: 0, key: '', awaitsKey: isObject });
      return 1;
    }
    this.begin(isOpen(byte) ? 'container' : 'scalar');
    // A stray bracket or comma would otherwise stop the scan where it began.
    if (this.mode === 'scalar' && (byte === comma || isClose(byte))) {
      this.entry.add(Uint8Array.of(byte));
      return 1;
    }
    return 0;
  }

  private begin(mode: Mode): void {
    this.mode = mode;
    this.nested = 0;
    this.deepest = 0;
    this.values = 0;
    this.escaped = false;
    if (mode !== 'key' && mode !== 'string') this.inString = false;
    (mode === 'key' ? this.keyBytes : this.entry).clear();
  }

  private endKey(last: Uint8Array): void {
    const level = this.levels.at(-1)!;
    level.key = this.keyBytes.overflows(last)
      ? `(a key longer than ${longestKeyBytes} bytes)`
      : readKey(this.keyBytes.take(last));
    level.awaitsKey = false;
    this.mode = 'between';
  }

  private endEntry(last: Uint8Array): Piece | Dropped {
    const where = this.where();
    const path = this.levels.map((level) => (level.isObject ? level.key : String(level.index)));
    const { deepest, values } = this;
    this.mode = this.levels.length === 0 ? 'after' : 'between';
    if (this.entry.overflows(last)) {
      this.entry.clear();
      return { where, why: `the entry is larger than ${megabytes(this.entry.limit)}` };
    }
    const bytes = this.entry.take(last);
    if (deepest > maxDepth) return { where, why: `it is nested more than ${maxDepth} levels deep` };
    if (values > maxValues) return { where, why: `it has more than ${maxValues} values` };
    return { where, path, bytes };
  }

  private where(): string {
    if (this.levels.length === 0) return 'the document';
    return this.levels.map((level) => (level.isObject ? level.key : `entry ${level.index + 1}`)).join(' / ');
  }
}

function readKey(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes);
  try {
    return String(JSON.parse(text)).slice(0, 200);
  } catch {
    return text.slice(1, -1).slice(0, 200);
  }
}

/** The same bounds for a JSON text that came as one line. */
export function jsonExcess(bytes: Uint8Array): string | null {
  // Small lines cannot hold enough to hurt.
  if (bytes.byteLength < 64 * 1024) return null;
  for (const piece of new JsonEntries(0, bytes.byteLength).push(bytes)) if ('why' in piece) return piece.why;
  return null;
}
