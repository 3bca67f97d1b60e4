/**
 * @file The household for a model that speaks: the same tasks, truth and checks as `householdDomain`, in plain English
 * behind the model's own chat template.
 *
 * Between the loop and the worlds observations stay abstract, which is what the checks read; they become sentences, and
 * sentences become observations, in the dialect alone.
 */

import type { WorldSize } from '../../envs/household';
import { householdTokenizer } from '../../models/household-vocabulary';
import type { TextTokenizer } from '../../models/text-tokenizer';
import type { Domain } from '../domain';
import { householdDomain } from '../household';
import { Belief, failureObservation } from '../transcripts';
import { ChatTurns } from './chat-turns';
import { experienceRole, experienceSpoken } from './experience';
import { generatorRole } from './generator';
import { policyRole } from './policy';

/** Throws `no-chat-template`, `chat-template-unsplittable`. */
export function householdTextDomain(tokenizer: TextTokenizer, size: WorldSize = 'small'): Domain {
  const turns = new ChatTurns(tokenizer);
  return {
    ...householdDomain(householdTokenizer(size), size),
    dialect: { policy: policyRole(turns), experience: experienceRole(turns), generator: generatorRole(turns) },
    refusal(_task, firstObservation, told, action) {
      const belief = new Belief(firstObservation);
      for (const { observation } of told) if (observation !== failureObservation) belief.observe(observation);
      if (belief.judge(action).valid) return null;
      const answer = { reasoning: refusalReason(belief, action), valid: false, reward: 0 };
      return experienceSpoken(turns, { ...answer, observation: failureObservation }, action);
    },
  };
}

/** Why the text so far rules an action out, in a sentence or two. */
export function refusalReason(belief: Belief, action: string): string {
  const { command, clause } = belief.judge(action);
  const place = belief.at === null ? 'in the middle of the room' : `at ${belief.at}`;
  const state = `The agent is ${place} and holds ${belief.hold ?? 'nothing'}.`;
  if (command === null || clause === 'unknown') return `${state} This is no command that the household knows.`;
  const { verb, first, second } = command;
  const target = second === '' ? first : second;
  const facts: Readonly<Record<string, string>> = {
    absent: `There is no ${target} in this room.`,
    unfit: `The ${first} cannot be treated or kept there.`,
    fits: `For that it must hold ${first} and be at ${second}.`,
    known: `It must be at ${first} for that.`,
    new: `It must be at ${first} for that.`,
    unseen: `It has not been at ${first}.`,
    fixed: `The ${first} cannot be opened or closed.`,
    open: verb === 'open' ? `The ${first} is open already.` : `It is not at ${first}.`,
    closed:
      verb === 'close'
        ? `The ${first} is closed already.`
        : verb === 'put'
          ? `The ${target} is closed.`
          : `It is not at ${target}.`,
  };
  const where = / unseen$/.test(clause) ? `The ${first} has not been seen.` : `As seen so far: ${clause}.`;
  return `${state} ${facts[clause] ?? where} The action is not possible.`;
}
