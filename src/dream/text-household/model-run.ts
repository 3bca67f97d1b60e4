/**
 * @file A run on a real model, as the loop wants it: an adapter of the model learns, the same weights without it dream, invent
 * tasks and are the KL reference. In the terminal and in the page alike.
 */
import { DreamError } from '../../data/errors';
import type { TextTokenizer } from '../../models/text-tokenizer';
import type { DecoderModel } from '../../nn/decoder-model';
import { policyModel, referenceModel } from '../../nn/reference-model';
import type { Domain } from '../domain';
import type { LoopParts } from '../loop-parts';
import type { RunModel } from '../run-store';
import { ChatTurns } from './chat-turns';
import { householdTextDomain } from './domain';
import type { TextSettings } from './settings';
import { type WarmStartOptions, warmStart } from './warm-start';

const worldSize = 'small';

export interface ModelRun {
  parts: Pick<LoopParts, 'policy' | 'experience' | 'domain'> &
    Required<Pick<LoopParts, 'reference' | 'parallel' | 'model'>>;
  /** Steps of imitation, where the run's settings ask for them; the loss of each. */
  warmStart(options: Pick<WarmStartOptions, 'maxSteps' | 'seed' | 'onStep'>): Promise<number[]>;
}

/** The household in this model's words. Throws `no-chat-template`, `chat-template-unsplittable`, `context-too-short`. */
export function textDomainFor(tokenizer: TextTokenizer, contextLength: number, text: TextSettings): Domain {
  const domain = householdTextDomain(tokenizer, worldSize, text);
  const task = domain.trainingTasks()[0];
  const { policy, experience } = domain.dialect;
  const needed = Math.max(
    policy.opening(task, task.firstObservation, domain.admissible?.(task.firstObservation, [])).length +
      policy.maxNewTokens,
    experience.opening(task, task.firstObservation).length +
      experience.question(task, 'look', []).length +
      experience.maxNewTokens,
  );
  if (needed <= contextLength) return domain;
  throw new DreamError(
    'context-too-short',
    `The first turn alone needs ${needed} tokens; the context has ${contextLength}.`,
    `Open the model with a context of ${Math.ceil((needed * 2) / 512) * 512} tokens or more.`,
  );
}

/** One model in all its parts, whatever the world. */
export function modelParts(model: DecoderModel, domain: Domain, run: RunModel): ModelRun['parts'] {
  const experience = referenceModel(model);
  return {
    policy: policyModel(model),
    experience,
    domain,
    reference: (sequences) => experience.score(sequences),
    parallel: run.parallel,
    model: run,
  };
}

export function modelRun(
  model: DecoderModel,
  tokenizer: TextTokenizer,
  domain: Domain,
  run: RunModel & { text: TextSettings },
): ModelRun {
  const parts = modelParts(model, domain, run);
  return {
    parts,
    warmStart: (options) =>
      warmStart(parts.policy, new ChatTurns(tokenizer), run.text, {
        ...options,
        size: worldSize,
        contextLength: run.contextLength,
      }),
  };
}
