/** @file When an episode ends without `stop`: WebArena's step limit and its rules against going round in circles (run.py). */
import { type Parsed, sameAction } from './actions';

export const MAX_STEPS = 30;
export const MAX_PARSE_FAILURES = 3;
export const MAX_REPEATS = 3;

/** Why to stop after these actions, or null. Typing the same again counts over the whole episode, the rest only in a row. */
export function earlyStop(actions: readonly Parsed[], maxSteps = MAX_STEPS): string | null {
  const last = actions.at(-1);
  if (last === undefined) return null;
  if (actions.length >= maxSteps) return `Reach max steps ${maxSteps}`;
  const failures = actions.slice(-MAX_PARSE_FAILURES);
  if (failures.length === MAX_PARSE_FAILURES && failures.every((action) => action.kind === 'none'))
    return `Failed to parse actions for ${MAX_PARSE_FAILURES} times`;
  if (last.kind === 'type') {
    const same = actions.filter((action) => sameAction(action, last));
    return same.length >= MAX_REPEATS ? `Same typing action for ${MAX_REPEATS} times` : null;
  }
  const recent = actions.slice(-MAX_REPEATS);
  return recent.length === MAX_REPEATS && recent.every((action) => sameAction(action, last))
    ? `Same action for ${MAX_REPEATS} times`
    : null;
}
