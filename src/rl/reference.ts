/**
 * @file The KL reference: the policy as it was before RL, kept as plain weights and swapped in when it has to score.
 *
 * A tiny model trains in full, so there is no adapter to switch off; two swaps of a few megabytes an iteration cost less
 * than a third copy on the GPU.
 */
import type { LanguageModel, ModelState } from '../nn/language-model';
import type { ReferenceScorer } from './policy-update';

/** Remembers the model's present weights; the returned scorer answers under them and leaves the model as it found it. */
export async function frozenReference(
  model: Pick<LanguageModel, 'exportState' | 'importState' | 'score'>,
): Promise<ReferenceScorer> {
  const frozen: ModelState = await model.exportState(false);
  return async (sequences) => {
    const current = await model.exportState(true);
    await model.importState(frozen);
    try {
      return await model.score(sequences);
    } finally {
      await model.importState(current);
    }
  };
}
