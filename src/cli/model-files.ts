/** @file The embedded model's files from the project's own folder, as the page gets them over HTTP. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { householdModelFolder, missing, type ReadModelFile } from '../models/embedded';

/** @param root Folder of the project; the files lie in public/models/household-tiny. Throws `model-missing`. */
export function readFromDisk(root: string): ReadModelFile {
  return async (name) => {
    try {
      return await readFile(join(root, 'public', householdModelFolder, name));
    } catch (cause) {
      throw missing(name, cause);
    }
  };
}
