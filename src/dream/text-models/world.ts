/**
 * @file What a text experience model must be told about a world, and what the world's own rules can prove about its text.
 *
 * Smaller than `Domain`: no tokens, no task lists. `textWorldOf` makes one from a `Domain`; a world without rules that a
 * program can check is described by `plainTextWorld`.
 */
import type { Turn } from '../../data/trajectory';
import type { Task } from '../../envs/environment';
import type { Domain, DreamedAnswer } from '../domain';

type SeenTurn = Pick<Turn, 'action' | 'observation' | 'valid'>;

export interface TextWorld {
  /** A few sentences for the model: what the world is, what actions there are, what they do. */
  description: string;
  /** How an observation looks, with examples. */
  observationForm: string;
  /** What the world answers to an action that changes nothing. */
  failureObservation: string;
  /** Can an episode end without success? Where it cannot, a model that says so is not believed. */
  endsInFailure: boolean;
  /** False for text that is not an observation of this world: such an answer is malformed. */
  isObservation(text: string): boolean;
  /** Does the transcript show that the goal is reached? null when this world's text cannot tell. */
  supportsSuccess(task: Task, firstObservation: string, turns: readonly SeenTurn[]): boolean | null;
  /** Does the last turn contradict what the text before it showed? */
  contradicts(firstObservation: string, turns: readonly Pick<Turn, 'action' | 'observation'>[]): boolean;
  /** The answer to an action that the text itself rules out, or null. */
  refusal(
    task: Task,
    firstObservation: string,
    turns: readonly SeenTurn[],
    action: string,
  ): Pick<DreamedAnswer, 'reasoning' | 'observation'> | null;
}

type Words = Pick<TextWorld, 'description' | 'observationForm'> & Partial<TextWorld>;

/** A world of which nothing can be checked beyond the form of an answer. */
export function plainTextWorld(words: Words & Pick<TextWorld, 'failureObservation'>): TextWorld {
  return {
    endsInFailure: false,
    isObservation: () => true,
    supportsSuccess: () => null,
    contradicts: () => false,
    refusal: () => null,
    ...words,
  };
}

type Checks = Pick<Domain, 'failureObservation' | 'supportsSuccess' | 'contradicts' | 'refusal' | 'dialect'>;

/** The same checks that hold the engine's own dream to its transcript, in text. */
export function textWorldOf(domain: Checks, words: Words): TextWorld {
  return plainTextWorld({
    failureObservation: domain.failureObservation,
    supportsSuccess: (task, first, turns) => domain.supportsSuccess(task, first, turns),
    contradicts: (first, turns) => domain.contradicts(first, turns),
    refusal: (task, first, turns, action) => {
      const tokens = domain.refusal(task, first, turns, action);
      return tokens && domain.dialect.experience.parse(tokens);
    },
    ...words,
  });
}
