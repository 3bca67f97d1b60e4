/**
 * @file Self-reflection: why the demonstrated action, and why not another one (arXiv 2510.08558, section 4.3).
 *
 * The embedded model's reflection is its usual thought, then the alternative it would have taken and the one known fact
 * that speaks against it, in its own words, before the demonstrated action:
 *
 *   hold nothing object nothing no examine shelf 1 known </t> go to cabinet 2
 *
 * The fact is one that is known *before* acting. What the world answered to the alternative decides whether it is worth
 * mentioning, and is not told: a reflection that narrates outcomes teaches the policy to invent them.
 */
import { householdTokenizer } from '../../models/household-vocabulary';
import { policyAnswer, policyMaxNewTokens, policyThought, type SequenceArrays, Transcript } from '../transcripts';
import type { Branch, Outcome } from './branches';
import { reflectionLeaks } from './leaks';

/** The thought with its reflection, or null where no alternative is worth one or it would be too long to be said. */
export function reflectionOf({ episode, turn, belief, demonstrated, alternatives }: Branch): string | null {
  const tokenizer = householdTokenizer('small');
  const thought = policyThought(belief, episode.goal, episode.steps[turn].target);
  const worse = alternatives.filter((one) => isWorse(one, demonstrated));
  for (const { action } of worse) {
    const { clause, valid } = belief.judge(action);
    const text = [thought, 'no', action, clause, valid ? '' : 'invalid'].filter((word) => word !== '').join(' ');
    const words = policyAnswer(tokenizer, text, demonstrated.action);
    const leaks = reflectionLeaks(text, { action: demonstrated.action, outcome: demonstrated.observation });
    if (words.length <= policyMaxNewTokens && leaks.length === 0) return text;
  }
  return null;
}

/** It failed, or showed nothing that was not known: an action that only might be worse is left alone. */
function isWorse(alternative: Outcome, demonstrated: Outcome): boolean {
  if (alternative.reward > 0) return false;
  if (!alternative.valid) return true;
  return /^(examine|look|inventory|help)/.test(alternative.action) && alternative.action !== demonstrated.action;
}

/** One sequence per branch that has a reflection: context given, reflection and demonstrated action learned. */
export function reflectionSequences(branches: readonly Branch[]): SequenceArrays[] {
  const tokenizer = householdTokenizer('small');
  return branches.flatMap((branch) => {
    const text = reflectionOf(branch);
    if (text === null) return [];
    const words = policyAnswer(tokenizer, text, branch.demonstrated.action);
    return [new Transcript().give(branch.prefix).say(words).toArrays()];
  });
}
