/** @file A file that is replaced as a whole or not at all: written beside its place, flushed, renamed over. */
import { open, rename } from 'node:fs/promises';

export async function replaceFile(path: string, ...parts: readonly (Uint8Array | string)[]): Promise<void> {
  const file = await open(`${path}.part`, 'w');
  try {
    for (const part of parts) await file.writeFile(part);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.part`, path);
}
