/** @file Writes the ONNX model to disk with the built converter. */
import { openAsBlob } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** @param {string} converter Address of the built write-model. @param {string} gguf @param {string} folder */
export async function writeOnnxModel(converter, gguf, folder) {
  const { writeModel } = await import(converter);
  /** @type {Map<string, import('node:fs/promises').FileHandle>} */
  const files = new Map();
  try {
    await writeModel(
      await openAsBlob(gguf),
      basename(gguf),
      async (/** @type {string} */ name, /** @type {number} */ offset, /** @type {Uint8Array} */ bytes) => {
        const file = files.get(name) ?? (await open(join(folder, name), 'w'));
        files.set(name, file);
        await file.write(bytes, 0, bytes.length, offset);
      },
    );
  } finally {
    for (const file of files.values()) await file.close();
  }
}
