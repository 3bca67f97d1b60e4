/**
 * @file Does a dream contradict itself? Its steps and its claimed success, checked against its own text.
 *
 * A policy soon finds the dream's holes (recipe.md: places that do not exist were accepted, absent objects were taken).
 * Nothing here looks at the real world: only at what the transcript has shown.
 */
import type { Goal } from '../../envs/household/goals';
import { Belief } from './belief';
import { failureObservation } from './experience';

/** One step as the dream or the world told it. */
export interface ToldStep {
  action: string;
  observation: string;
}

export type Contradiction =
  /** An action that the text rules out was accepted. */
  | 'impossible-accepted'
  /** An action that the text allows was refused. */
  | 'possible-refused'
  /** The answer belongs to another action (`take cup 1 shelf 1` for `take mug 1 from shelf 1`). */
  | 'wrong-answer'
  /** A place looks different from what it must look like by now. */
  | 'contents-changed'
  /** Something is seen in a second place, or seen while it is held. */
  | 'object-doubled';

/** The first way in which a step contradicts the text before it, or null. Does not change the belief. */
export function contradictionIn(belief: Belief, { action, observation }: ToldStep): Contradiction | null {
  const { valid, command } = belief.judge(action);
  const accepted = observation !== failureObservation;
  if (accepted && !valid) return 'impossible-accepted';
  if (!accepted) return valid ? 'possible-refused' : null;
  const { verb, first, second } = command!;
  switch (verb) {
    case 'go':
      return contradictionInView(belief, first, observation, `at ${first}`);
    case 'open':
      return contradictionInView(belief, first, observation, `open ${first}`);
    case 'examine':
      return belief.receptacles.has(first)
        ? contradictionInView(belief, first, observation, `at ${first}`)
        : expect(observation.startsWith(`state ${first} `));
    case 'take':
    case 'clean':
    case 'heat':
    case 'cool':
    case 'slice':
      return expect(observation === `${verb} ${first} ${second}`);
    case 'put':
    case 'move':
      return expect(observation === `put ${first} ${second}`);
    case 'close':
    case 'use':
      return expect(observation === `${verb} ${first}`);
    case 'inventory':
      return expect(observation === `carry ${belief.hold ?? 'nothing'}`);
    case 'look':
      return expect(
        observation ===
          (belief.at === null ? `room ${[...belief.receptacles].join(' ')}` : `facing ${belief.at} see nothing`),
      );
    case 'help':
      return expect(observation === 'help');
  }
}

function expect(fine: boolean): Contradiction | null {
  return fine ? null : 'wrong-answer';
}

function contradictionInView(
  belief: Belief,
  receptacle: string,
  observation: string,
  beginning: string,
): Contradiction | null {
  if (!observation.startsWith(`${beginning} `)) return 'wrong-answer';
  const rest = observation.slice(beginning.length + 1);
  if (rest === 'closed') {
    const mayBeClosed = belief.isClosed(receptacle) || !belief.hasSeen(receptacle);
    return mayBeClosed ? null : 'contents-changed';
  }
  if (beginning.startsWith('at ') && belief.isClosed(receptacle)) return 'contents-changed';
  const after = new Belief('room');
  after.observe(observation);
  const seen = [...after.places.keys()];
  if (belief.hasSeen(receptacle)) {
    const known = belief.contentsOf(receptacle);
    return known.length === seen.length && known.every((object) => after.places.has(object))
      ? null
      : 'contents-changed';
  }
  const elsewhere = (object: string) =>
    belief.hold === object || (belief.places.has(object) && belief.places.get(object) !== receptacle);
  return seen.some(elsewhere) ? 'object-doubled' : null;
}

/**
 * Does the text up to and including the last step show the goal reached? Steps that the text rules out have no effect,
 * whatever the dream said of them: a cup that was never seen cannot be placed.
 */
export function supportsSuccess(goal: Goal, firstObservation: string, steps: readonly ToldStep[]): boolean {
  const belief = new Belief(firstObservation);
  for (const [i, { action, observation }] of steps.entries()) {
    const { valid, command } = belief.judge(action);
    const accepted = valid && observation !== failureObservation;
    if (i === steps.length - 1) return accepted && (belief.check(goal, command!)?.reached ?? false);
    if (accepted) belief.observe(observation);
  }
  return false;
}
