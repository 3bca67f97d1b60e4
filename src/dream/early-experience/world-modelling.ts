/**
 * @file Implicit world modelling: L = -sum log p(s' | s, a) over demonstrated and alternative actions, with the policy's own
 * weights (arXiv 2510.08558, Eq. 3). Nothing is added to the policy's format: the answer of the world already follows its
 * words there, it only bears the loss now. The error text of invalid actions stays in, as in the paper.
 */
import { householdTokenizer } from '../../models/household-vocabulary';
import { policyObservation, type SequenceArrays, Transcript } from '../transcripts';
import type { Branch } from './branches';

/** Share of outcomes in which nothing happened; more of them teach one sentence and little else. */
const mostFailures = 0.3;

/** One sequence per outcome, the demonstrated one included. */
export function worldModellingSequences(branches: readonly Branch[]): SequenceArrays[] {
  const tokenizer = householdTokenizer('small');
  const outcomes = branches.flatMap(({ prefix, demonstrated, alternatives }) =>
    [demonstrated, ...alternatives].map((outcome) => ({ prefix, outcome })),
  );
  let failures = Math.floor(mostFailures * outcomes.length);
  return outcomes
    .filter(({ outcome }) => outcome.valid || failures-- > 0)
    .map(({ prefix, outcome: { words, observation } }) =>
      new Transcript()
        .give([...prefix, ...words])
        .say(policyObservation(tokenizer, words, observation))
        .toArrays(),
    );
}
