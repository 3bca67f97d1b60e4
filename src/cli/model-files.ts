/** @file The embedded model's files from the project's own folder, as the page gets them over HTTP. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { householdModelFolder, missing, type ReadModelFile } from '../models/embedded';

/** @param root Folder of the project; the files lie in public/models/household-tiny. Throws `model-missing`. */
export function readFromDisk(root: string): ReadModelFile {
  return async (name) => {
    try {
      // A plain array: `slice` of Node's Buffer would share its memory.
      return new Uint8Array(await readFile(join(root, 'public', householdModelFolder, name)));
    } catch (cause) {
      throw missing(name, cause);
    }
  };
}
