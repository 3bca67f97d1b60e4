/** @file `dream train`: not in this build yet. */
import { DreamError } from '../../data/errors';

export async function run(): Promise<number> {
  throw new DreamError('not-built', '"train" is not part of this build.', 'Update the program.');
}
