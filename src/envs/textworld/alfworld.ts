/**
 * @file What ALFWorld keeps beside a game: `traj_data.json` says what the task is, and the text grammar has `UNKNOWN GOAL`
 * where its sentence belongs until a game is started. Templates: alfworld/gen/goal_library.py.
 */
import { FAMILIES, type Family, instructionOf } from '../household/goals';
import type { GameFile } from './game';

const UNKNOWN_GOAL = 'UNKNOWN GOAL';

/** True when the game leaves open what its task is. */
export function lacksTask(file: GameFile): boolean {
  return file.grammar.includes(UNKNOWN_GOAL);
}

/** The game with its task's sentence (without the full stop) in its text. Signs that mean something there are left out. */
export function withTask(file: GameFile, sentence: string): GameFile {
  const plain = sentence
    .replace(/["\\#[\]{}|]|\p{Cc}/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/\.?\s*$/, '')
    .trim();
  return { ...file, grammar: file.grammar.replaceAll(UNKNOWN_GOAL, () => plain) };
}

/** The sentence a parsed `traj_data.json` stands for, in ALFWorld's first wording; null when it is none of its six tasks. */
export function sentenceOfTrajectory(data: unknown): string | null {
  const { task_type: family, pddl_params: params } = (data ?? {}) as { task_type?: unknown; pddl_params?: unknown };
  if (!FAMILIES.includes(family as Family) || typeof params !== 'object' || params === null) return null;
  const word = (key: string): string | undefined => {
    const value = (params as Record<string, unknown>)[key];
    return typeof value === 'string' && /^\w+$/.test(value) ? value.toLowerCase() : undefined;
  };
  const object = word('object_target');
  const receptacle = word('parent_target');
  const toggle = word('toggle_target');
  if (object === undefined || (family === 'look_at_obj_in_light' ? toggle : receptacle) === undefined) return null;
  return instructionOf({ family: family as Family, object, receptacle, toggle });
}
