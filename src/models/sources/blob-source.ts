/** @file A picked or dropped file, or one from the browser's private file system: a Blob, read piece by piece. */
import type { ByteSource } from '../weights';
import { checkRange } from './byte-range';
import { fileRead } from './source-errors';

export class BlobSource implements ByteSource {
  readonly name: string;
  readonly size: number;

  /** @param name Path within the picked folder, if there is one; a File brings its own. */
  constructor(
    private readonly blob: Blob,
    name?: string,
  ) {
    this.name = name ?? fileName(blob);
    this.size = blob.size;
  }

  async read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    checkRange(this, offset, length);
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = new Uint8Array(await this.blob.slice(offset, offset + length).arrayBuffer());
    } catch (cause) {
      // NotReadableError or NotFoundError: the file was changed or removed after it was picked.
      throw fileRead(this.name, 'it was changed, moved or removed', cause);
    }
    if (bytes.length !== length) throw fileRead(this.name, 'it is shorter than it was');
    return bytes;
  }
}

function fileName(blob: Blob): string {
  const { name, webkitRelativePath } = blob as Partial<File>;
  return webkitRelativePath || name || 'file';
}
