/** @file What a step answers when the episode was lost: never rewarded, never trained on. */
import type { StepResult } from '../environment';

export function lostStep(error: Error): StepResult {
  return {
    observation: 'The episode was lost.',
    reward: 0,
    done: true,
    valid: false,
    raw: error.message,
    imagined: false,
    lost: true,
  };
}

/** The server (or its form) did not take the action; the episode goes on as if nothing had been said. */
export function refusedStep(error: Error): StepResult {
  return { observation: error.message, reward: 0, done: false, valid: false, raw: error.message, imagined: false };
}
