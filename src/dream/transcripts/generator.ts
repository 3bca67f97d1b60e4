/**
 * @file The task generator's stream, and the checks a generated task must pass.
 *
 *   <gen> room cabinet 2 ... holds cup cup mug <seed> put a cup in cabinet <seed> heat some mug and put it in shelf <to>
 *     put two cup in cabinet \n
 *
 * The second line is the model's. It is told what the room is known to hold (one type word per object, so that a pair
 * shows): without that list half of its tasks named things that were not there.
 */
import { type Goal, goalKey, parseInstruction, treatmentOf } from '../../envs/household/goals';
import { canContain, OBJECT_TYPES, STATIONS } from '../../envs/household/vocabulary';
import type { Tokenizer } from '../../models/tokenizer';
import { Belief, typeOf } from './belief';
import type { Parsed } from './transcript';

/** The longest instruction has six tokens. */
export const generatorMaxNewTokens = 12;

/** Generation ends after any of these. */
export function generatorStopTokens({ special }: Tokenizer): number[] {
  return [special['\n']];
}

/**
 * Everything before the new task: given tokens.
 * @param objectTypes one word per object the room is known to hold; order does not matter.
 * @param seeds instructions of one or two tasks to vary.
 */
export function generatorPrompt(
  tokenizer: Tokenizer,
  firstObservation: string,
  objectTypes: readonly string[],
  seeds: readonly string[],
): number[] {
  const { special } = tokenizer;
  const tokens = [
    special['<gen>'],
    ...tokenizer.encode(firstObservation),
    ...tokenizer.encode(['holds', ...[...objectTypes].sort()].join(' ')),
  ];
  for (const seed of seeds) tokens.push(special['<seed>'], ...tokenizer.encode(seed));
  tokens.push(special['<to>']);
  return tokens;
}

/** The new task: own tokens. */
export function generatorAnswer(tokenizer: Tokenizer, instruction: string): number[] {
  return [...tokenizer.encode(instruction), tokenizer.special['\n']];
}

/** Reads the sampled tokens: an instruction of one of the six families. */
export function parseGeneratorAnswer(
  tokenizer: Tokenizer,
  answer: readonly number[],
): Parsed<{ instruction: string; goal: Goal }> {
  if (answer.at(-1) !== tokenizer.special['\n']) return { ok: false, why: 'unfinished' };
  const body = answer.slice(0, -1);
  if (body.length === 0) return { ok: false, why: 'empty' };
  if (body.some((id) => tokenizer.isControl(id))) return { ok: false, why: 'stray-control-token' };
  const instruction = tokenizer.decode(body);
  const goal = parseInstruction(instruction);
  return goal === null ? { ok: false, why: 'not-grammatical' } : { ok: true, instruction, goal };
}

/** Objects (`cup 1`) that the observations of a room show, at any time. */
export function knownObjects(observations: Iterable<string>): Set<string> {
  const found = new Set<string>();
  for (const observation of observations) {
    const belief = new Belief('room');
    belief.observe(observation);
    for (const object of belief.places.keys()) found.add(object);
    if (belief.hold !== null) found.add(belief.hold);
  }
  return found;
}

/**
 * Could the goal be reached, as far as the room is known? Properties, containment and the list of receptacles are public;
 * objects count only when they have been seen.
 */
export function feasibleAsKnown(goal: Goal, firstObservation: string, objects: ReadonlySet<string>): boolean {
  const kind = OBJECT_TYPES.get(goal.object);
  if (kind?.pickupable !== true) return false;
  const copies = [...objects].filter((object) => typeOf(object) === goal.object).length;
  if (copies < (goal.family === 'pick_two_obj_and_place' ? 2 : 1)) return false;
  if (goal.family === 'look_at_obj_in_light') {
    const toggle = goal.toggle ?? '';
    return OBJECT_TYPES.get(toggle)?.toggleable === true && [...objects].some((object) => typeOf(object) === toggle);
  }
  const types = new Set([...new Belief(firstObservation).receptacles].map(typeOf));
  const place = goal.receptacle ?? '';
  if (!types.has(place) || !canContain(place, goal.object)) return false;
  const treatment = treatmentOf(goal.family);
  if (treatment === null) return true;
  const able = { clean: kind.cleanable, heat: kind.heatable, cool: kind.coolable }[treatment];
  return able && types.has(STATIONS[treatment]);
}

/** True when none of the instructions asks for the same thing, in whatever words. */
export function isNovel(goal: Goal, instructions: Iterable<string>): boolean {
  const key = goalKey(goal);
  for (const instruction of instructions) {
    const other = parseInstruction(instruction);
    if (other !== null && goalKey(other) === key) return false;
  }
  return true;
}
