/** @file Imported episodes as memories for the replay buffer and as examples for an experience model. */
import type { OfflineTransition } from '../offline-transition';
import type { Trajectory } from '../trajectory';
import { importedData } from './episode';

/** One line of experience-model training data: given task, state, history and action, say what follows (DreamGym, Eq. 5). */
export interface TransitionExample {
  task: string;
  /** First observation, then the turns before this one. */
  firstObservation: string;
  history: { action: string; observation: string }[];
  state: string;
  action: string;
  nextState: string;
  /** null when the file does not say how the episode ended and this is its last step. */
  reward: number | null;
  done: boolean;
  valid: boolean;
}

/** Why a turn gives no transition. */
export type NoTransition = 'no state before it' | 'no answer to it' | 'its reward is not known';

export type Step = Omit<TransitionExample, 'firstObservation' | 'history'> & { turn: number };

/** Every turn, as a step or with the reason why it is none. */
export function* stepsOf(trajectory: Trajectory): Generator<Step | NoTransition> {
  const { task, firstObservation, turns } = trajectory;
  const unknown = importedData(trajectory)?.outcome === 'unknown';
  let state = firstObservation;
  for (const [i, { action, observation, reward, done, valid }] of turns.entries()) {
    const isLast = i === turns.length - 1;
    if (state === '') yield 'no state before it';
    else if (observation === '') yield 'no answer to it';
    else
      yield {
        turn: i,
        task: task.instruction,
        state,
        action,
        nextState: observation,
        reward: unknown && isLast ? null : reward,
        done,
        valid,
      };
    state = observation;
  }
}

/**
 * Memories of one episode. A step without a state before or after it is none; neither is a last step whose reward
 * nobody knows, because a remembered 0 would say that it failed.
 */
export function transitionsOf(trajectory: Trajectory, episode: string): OfflineTransition[] {
  const { room } = trajectory.task;
  const transitions: OfflineTransition[] = [];
  for (const step of stepsOf(trajectory)) {
    if (typeof step === 'string' || step.reward === null) continue;
    const { task, state, action, nextState, reward } = step;
    transitions.push({ source: 'offline', episode, room, task, state, action, nextState, reward });
  }
  return transitions;
}

/**
 * Examples of one episode; those with `reward: null` teach the next state only. Turns marked as not to learn from count:
 * they are the world's answers all the same.
 */
export function* transitionExamples(trajectory: Trajectory): Generator<TransitionExample> {
  const { firstObservation, turns } = trajectory;
  for (const step of stepsOf(trajectory)) {
    if (typeof step === 'string') continue;
    const { turn, ...rest } = step;
    const history = turns.slice(0, turn).map(({ action, observation }) => ({ action, observation }));
    yield { firstObservation, history, ...rest };
  }
}
