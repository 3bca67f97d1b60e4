/** @file Line by line: JSONL and text. A line longer than the limit is skipped in constant memory. */
import { maxPieceBytes } from '../limits';
import type { Dropped, Piece, Splitter } from '../pieces';
import { Collector, megabytes } from './collector';

const newline = 10;

export class LineSplitter implements Splitter {
  private readonly line: Collector;
  private number = 1;

  constructor(limit = maxPieceBytes) {
    this.line = new Collector(limit);
  }

  *push(chunk: Uint8Array): Generator<Piece | Dropped> {
    let start = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, start)) {
      const last = chunk.subarray(start, at);
      start = at + 1;
      yield this.finish(last);
    }
    this.line.add(chunk.subarray(start));
  }

  *end(): Generator<Piece | Dropped> {
    if (this.line.size > 0) yield this.finish(new Uint8Array(0));
  }

  private finish(last: Uint8Array): Piece | Dropped {
    const where = `line ${this.number++}`;
    if (!this.line.overflows(last)) return { where, path: [], bytes: this.line.take(last) };
    this.line.clear();
    return { where, why: `the line is longer than ${megabytes(this.line.limit)}` };
  }
}

/** The whole file as one piece: formats whose episode is a file. */
export class WholeFile implements Splitter {
  private readonly file: Collector;

  constructor(limit: number) {
    this.file = new Collector(limit);
  }

  push(chunk: Uint8Array): Iterable<Piece | Dropped> {
    this.file.add(chunk);
    return [];
  }

  *end(): Generator<Piece | Dropped> {
    const where = 'the file';
    if (this.file.tooLarge) yield { where, why: `an episode of this format may take ${megabytes(this.file.limit)}` };
    else yield { where, path: [], bytes: this.file.take() };
  }
}
