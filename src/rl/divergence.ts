/**
 * @file What happens to updates that are not numbers: each is skipped and counted; three in a row end the training, because
 * weights that cannot make one finite gradient will not make the next.
 */
import { DreamError } from '../data/errors';
import type { TrainStats } from '../nn/language-model';

const limit = 3;

export class DivergenceGuard {
  /** Steps that were not taken. */
  skipped = 0;

  /** @param inARow skipped steps that ended the iteration before. */
  constructor(public inARow = 0) {}

  /** Throws DreamError `training-diverged` at the third skipped step in a row. */
  note({ applied }: Pick<TrainStats, 'applied'>): void {
    if (applied) {
      this.inARow = 0;
      return;
    }
    this.skipped++;
    this.inARow++;
    if (this.inARow < limit) return;
    throw new DreamError(
      'training-diverged',
      `${limit} updates in a row had a loss or a gradient that is not a number; none of them was applied.`,
      'The last finished iteration is kept. Continue from it, or start again, with a lower learning rate (a third of it is a ' +
        'good first try); if a KL or entropy coefficient is set, lower that too.',
    );
  }
}
