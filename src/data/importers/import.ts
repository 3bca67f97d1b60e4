/**
 * @file Imports trajectories from a stream of bytes, one whole episode at a time, whatever the file's size.
 *
 * Bytes -> unpacked files -> entries -> the file's words -> trajectories. Each stage holds one thing, bounded by
 * limits.ts; what a stage cannot keep goes to the report.
 */
import { DreamError } from '../errors';
import { joined } from './containers/collector';
import { damaged, packingOf, type Unpacked, unpackerOf } from './containers/compression';
import { JsonEntries } from './containers/json-entries';
import { LineSplitter, WholeFile } from './containers/lines';
import { type ImportedEpisode, importedEpisode } from './episode';
import { type ImportFormat, openReader } from './formats';
import { maxTurns, maxWholeBytes, prefixBytes } from './limits';
import { type Dropped, type FormatReader, isDropped, type Piece, type Splitter } from './pieces';
import { type Recognised, recognise } from './recognise';
import { type ImportReport, ReportKeeper } from './report';

export interface ImportProgress {
  /** Bytes read so far, as stored. */
  bytes: number;
  episodes: number;
  transitions: number;
  dropped: number;
}

export interface ImportOptions {
  /** For messages; its ending decides nothing. */
  name: string;
  /** Default: recognised from the beginning of the file. */
  format?: ImportFormat;
  /** The import ends before the next entry, with the signal's reason. */
  signal?: AbortSignal;
  /** After every chunk. */
  onProgress?(progress: ImportProgress): void;
  /** Whole episodes in the file's order; the next entry is read when its promise resolves. */
  onEpisode?(episode: ImportedEpisode): void | Promise<void>;
  /** Every dropped thing, including those that the report only counts. */
  onDropped?(dropped: Dropped): void;
}

/**
 * Throws DreamError `no-trajectories` when the file is none of the formats, `damaged-archive` and `unpacks-too-large` for
 * compressed files, the signal's reason when it is aborted, and whatever `source` or `onEpisode` throw. Everything handed
 * to `onEpisode` before stays whole.
 */
export async function importTrajectories(
  source: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<ImportReport> {
  const { signal, name } = options;
  const keeper = new ReportKeeper();
  const files = new Files(options, keeper);
  let bytes = 0;
  let head: Uint8Array = new Uint8Array(0);
  let unpacker: ReturnType<typeof unpackerOf> | null = null;
  signal?.throwIfAborted();
  for await (const chunk of signal ? untilAborted(source, signal) : source) {
    bytes += chunk.byteLength;
    // Four bytes tell a packed file from a plain one.
    head = unpacker || head.byteLength === 0 ? chunk : joined([head, chunk]);
    if (unpacker || head.byteLength >= 4) {
      unpacker ??= files.unpacker(head, name);
      for (const event of unpacker.push(head)) await files.take(event);
      head = new Uint8Array(0);
    }
    const { episodes, transitions, droppedTotal } = keeper.report;
    options.onProgress?.({ bytes, episodes, transitions, dropped: droppedTotal });
  }
  unpacker ??= files.unpacker(head, name);
  if (head.byteLength > 0) for (const event of unpacker.push(head)) await files.take(event);
  for (const event of unpacker.end()) await files.take(event);
  signal?.throwIfAborted();
  return keeper.finish(files.finish(), bytes);
}

/** The source, which is left at once when the signal aborts, even while a chunk is awaited. */
async function* untilAborted(source: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await orAborted(iterator.next(), signal);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // Closes the file; a read under way may never end, so it is not awaited.
    void iterator.return?.()?.then(undefined, () => {});
  }
}

/** Not `Promise.race` against one promise for the whole import: that promise would keep every chunk alive. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** The files in the stream, one after the other: one, or those of a zip. */
class Files {
  private file: FileImport | null = null;
  private readonly formats = new Set<ImportFormat>();
  private inArchive = false;
  private refused: DreamError | null = null;

  constructor(
    private readonly options: ImportOptions,
    private readonly keeper: ReportKeeper,
  ) {}

  unpacker(head: Uint8Array, name: string) {
    const packing = packingOf(head);
    this.inArchive = packing === 'zip';
    return unpackerOf(packing, name);
  }

  async take(event: Unpacked): Promise<void> {
    if (event.kind === 'open') {
      this.file = new FileImport(event.name, this.inArchive ? `${event.name} / ` : '', this.options, this.keeper);
      return;
    }
    const { file } = this;
    if (!file) return;
    try {
      if (event.kind === 'data') await file.push(event.bytes);
      else {
        await file.end(event.whole);
        this.close();
      }
    } catch (error) {
      // A readme beside the data is no reason to refuse an archive.
      if (!this.inArchive || !(error instanceof DreamError) || error.code !== 'no-trajectories') throw error;
      this.refused = error;
      file.drop({ where: '', why: error.message.slice(0, 200) });
      this.file = null;
    }
  }

  /** Formats found, in order. Throws when there was nothing to import. */
  finish(): ImportFormat[] {
    if (this.formats.size === 0)
      throw (
        this.refused ??
        new DreamError(
          'no-trajectories',
          `${this.options.name} is empty.`,
          'Choose another file. Nothing was imported.',
        )
      );
    return [...this.formats];
  }

  private close(): void {
    if (this.file?.format) this.formats.add(this.file.format);
    this.file = null;
  }
}

/** One unpacked file: its beginning is kept until its format is known. */
class FileImport {
  format: ImportFormat | null = null;
  private beginning: Uint8Array[] = [];
  private size = 0;
  private splitter: Splitter | null = null;
  private reader: FormatReader | null = null;

  constructor(
    private readonly name: string,
    private readonly place: string,
    private readonly options: ImportOptions,
    private readonly keeper: ReportKeeper,
  ) {}

  async push(chunk: Uint8Array): Promise<void> {
    if (this.splitter) {
      await this.takeAll(this.splitter.push(chunk));
      return;
    }
    this.beginning.push(chunk.slice());
    this.size += chunk.byteLength;
    if (this.size >= prefixBytes) await this.begin();
  }

  /** @param whole False when the stream broke off here. */
  async end(whole: boolean): Promise<void> {
    if (!this.splitter) {
      try {
        await this.begin();
      } catch (error) {
        throw whole ? error : damaged(this.name, error);
      }
    }
    await this.takeAll(this.splitter!.end());
    for (const finding of this.reader!.end()) await this.found(finding);
    if (!whole) this.drop({ where: 'the end', why: 'the compressed file is cut off here' });
  }

  drop(dropped: Dropped): void {
    const where = `${this.place}${dropped.where}`.replace(/ \/ $/, '');
    this.keeper.drop({ where, why: dropped.why });
    this.options.onDropped?.({ where, why: dropped.why });
  }

  private async begin(): Promise<void> {
    const all = joined(this.beginning);
    this.beginning = [];
    const recognised = recognise(all.subarray(0, prefixBytes), this.name, this.options.format);
    this.format = recognised.format;
    this.reader = openReader(recognised.format);
    this.splitter = splitterOf(recognised);
    await this.takeAll(this.splitter.push(all));
  }

  private async takeAll(pieces: Iterable<Piece | Dropped>): Promise<void> {
    for (const piece of pieces) {
      this.options.signal?.throwIfAborted();
      if (isDropped(piece)) this.drop(piece);
      else for (const finding of this.reader!.read(piece)) await this.found(finding);
    }
  }

  private async found(finding: Dropped | { episode: Parameters<typeof importedEpisode>[0] }): Promise<void> {
    if (isDropped(finding)) {
      this.drop(finding);
      return;
    }
    const { episode: found } = finding;
    if (found.turns.length > maxTurns) {
      this.drop({ where: found.where, why: `more than ${maxTurns} turns` });
      return;
    }
    const episode = importedEpisode({ ...found, where: `${this.place}${found.where}` });
    this.options.signal?.throwIfAborted();
    await this.options.onEpisode?.(episode);
    this.keeper.keep(episode);
  }
}

function splitterOf({ container }: Recognised): Splitter {
  if (container === 'lines') return new LineSplitter();
  return container === 'whole' ? new WholeFile(maxWholeBytes) : new JsonEntries(container.json);
}
