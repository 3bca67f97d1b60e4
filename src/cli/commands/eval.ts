/** @file `dream eval`: not in this build yet. */
import { DreamError } from '../../data/errors';

export async function run(): Promise<number> {
  throw new DreamError('not-built', '"eval" is not part of this build.', 'Update the program.');
}
