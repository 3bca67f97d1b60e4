/** @file A JSONL file that appears whole or not at all: written beside its place, then renamed. */
import { createWriteStream, type WriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { DreamError } from '../data/errors';

export class AtomicLines {
  private readonly temporary: string;
  private readonly stream: WriteStream;
  private failure: Error | null = null;

  constructor(private readonly path: string) {
    this.temporary = `${path}.${process.pid}.part`;
    this.stream = createWriteStream(this.temporary);
    this.stream.on('error', (error) => {
      this.failure = error;
    });
  }

  /** Waits while the disk is behind. Throws DreamError `file-write`. */
  async write(value: object): Promise<void> {
    this.check();
    if (this.stream.write(`${JSON.stringify(value)}\n`)) return;
    await new Promise<void>((done) => {
      const settle = () => {
        this.stream.off('drain', settle);
        this.stream.off('close', settle);
        done();
      };
      this.stream.once('drain', settle);
      this.stream.once('close', settle);
    });
    this.check();
  }

  async finish(): Promise<void> {
    await new Promise<void>((done) => this.stream.end(() => done()));
    this.check();
    await rename(this.temporary, this.path);
  }

  async discard(): Promise<void> {
    await new Promise<void>((done) => {
      if (this.stream.closed) done();
      else this.stream.once('close', () => done());
      this.stream.destroy();
    });
    await rm(this.temporary, { force: true });
  }

  private check(): void {
    if (this.failure)
      throw new DreamError(
        'file-write',
        `${this.path} cannot be written: ${this.failure.message}`,
        'Check the folder, its permissions and the free space.',
        { cause: this.failure },
      );
  }
}
