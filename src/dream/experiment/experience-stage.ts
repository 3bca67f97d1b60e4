/**
 * @file Retrains the experience model for an ablation: without its reasoning, on fewer offline transitions, or with other
 * players in its data.
 *
 * An ablation by prompt alone (cutting the thought off a model that was taught to think) would measure how badly a model
 * does what it never learned; so the ablated model is trained for its form, with the same data and settings.
 */

import { householdTokenizer } from '../../models/household-vocabulary';
import { upTo } from '../data-efficiency';
import {
  experienceSequences,
  fidelityCases,
  measureFidelity,
  predictWith,
  type Share,
  withNegatives,
} from '../offline';
import { deriveSeed } from '../random';
import type { Stage } from './definition';
import type { StageContext, StageReport } from './stage';
import { endless, learn, transitionsIn } from './supervised';

/** Steps of an offline episode, about. */
const episodeTransitions = 10;
/** Held-out questions of the report: two hundred tell a difference of seven points. */
const cases = 200;

export async function runExperience(
  context: StageContext,
  stage: Extract<Stage, { kind: 'experience' }>,
): Promise<StageReport> {
  const { experience, seed, onProgress } = context;
  const wanted = stage.transitions ?? Math.ceil((stage.updates * stage.tokensPerUpdate) / 28);
  const sequences = upTo(
    wanted,
    experienceSequences('small', {
      episodes: Math.ceil(wanted / episodeTransitions) + 8,
      seed: deriveSeed(seed, 'experience'),
      reasoning: stage.reasoning,
      ...(stage.negatives === undefined ? {} : { mixture: withNegatives(stage.negatives) }),
    }),
  );
  const { loss, tokens } = await learn(experience, endless(sequences, seed, 'offline episodes'), stage, onProgress);
  await onProgress(1, 'its fidelity on unseen rooms');
  const tokenizer = householdTokenizer('small');
  const fidelity = await measureFidelity(
    fidelityCases('small', { cases, seed: 1, retrieval: true, reasoning: stage.reasoning }),
    tokenizer,
    predictWith(experience, tokenizer),
  );
  const share = ({ right, of }: Share) => right / Math.max(1, of);
  return {
    updates: 0, // of the policy
    realTransitions: 0,
    dreamedTransitions: 0,
    facts: {
      experienceLoss: loss,
      experienceTokens: tokens,
      experienceTransitions: sequences.reduce((sum, one) => sum + transitionsIn([one]), 0),
      observationAccuracy: share(fidelity.observation),
      rewardAccuracy: share(fidelity.reward),
      // Asked as a policy asks, whoever taught it.
      falseSuccessRate: share(fidelity.falseSuccesses),
      invalidActionsRefused: share(fidelity.invalidActions),
    },
  };
}
