/**
 * @file The experience model's stream: question, retrieved memory, reasoning, next observation, reward flag.
 *
 *   <em> room cabinet 2 ... \n task put a clean cup in cabinet \n
 *   > take cup 1 from shelf 1 \n task put a clean cup in cabinet <ret> take cup 1 shelf 1 <t>
 *     at shelf 1 hold nothing cup 1 in shelf 1 valid </t> take cup 1 shelf 1 <r0>
 *
 * The second line is given, the third is the model's. The task is repeated in every question because a goal check that
 * has to look a hundred tokens back fails (recipe.md: reward accuracy 97.0 -> 98.7 %).
 */
import { toRaw } from '../../envs/household/abstract';
import type { Tokenizer } from '../../models/tokenizer';
import { type ExperienceThought, readExperienceThought } from './reasoning';
import type { Parsed } from './transcript';

/** The longest true answer (a full goal check, or a receptacle with everything in it) stays below this. */
export const experienceMaxNewTokens = 48;
/** A longer action is no command; the rest of it is not shown to the model. */
const longestAction = 10;
/** Verdicts, goal checks and flags are few tokens on which everything hangs. */
export const verdictWeight = 3;

/** Generation of an answer ends after any of these. */
export function experienceStopTokens({ special }: Tokenizer): number[] {
  return [special['<r0>'], special['<r1>']];
}

/** The beginning of an episode: given tokens. */
export function experiencePrompt(tokenizer: Tokenizer, firstObservation: string, instruction: string): number[] {
  const { special } = tokenizer;
  return [
    special['<em>'],
    ...tokenizer.encode(firstObservation),
    special['\n'],
    ...tokenizer.encode('task'),
    ...tokenizer.encode(instruction),
    special['\n'],
  ];
}

/**
 * The question of one turn: given tokens.
 * @param memories retrieved next observations, most similar first (may be empty).
 */
export function experienceQuestion(
  tokenizer: Tokenizer,
  instruction: string,
  action: string,
  memories: readonly string[],
): number[] {
  const { special } = tokenizer;
  const unknown = special['<unk>'];
  const words = tokenizer.encode(action).slice(0, longestAction);
  const tokens = [
    special['>'],
    ...words.map((id) => (tokenizer.isControl(id) ? unknown : id)),
    special['\n'],
    ...tokenizer.encode('task'),
    ...tokenizer.encode(instruction),
  ];
  for (const memory of memories) tokens.push(special['<ret>'], ...tokenizer.encode(memory));
  tokens.push(special['<t>']);
  return tokens;
}

/** The true answer with its loss weights: what the model is trained to say. */
export function experienceAnswer(
  tokenizer: Tokenizer,
  thought: ExperienceThought,
  observation: string,
  reward: number,
): { tokens: number[]; weights: number[] } {
  const { special } = tokenizer;
  const tokens: number[] = [];
  const weights: number[] = [];
  const add = (ids: readonly number[], weight: number) => {
    for (const id of ids) {
      tokens.push(id);
      weights.push(weight);
    }
  };
  add(tokenizer.encode(thought.state), 1);
  add(tokenizer.encode(thought.verdict), verdictWeight);
  add(tokenizer.encode(thought.check), verdictWeight);
  add([special['</t>']], 1);
  add(tokenizer.encode(observation), 1);
  add([reward > 0 ? special['<r1>'] : special['<r0>']], verdictWeight);
  return { tokens, weights };
}

export interface ExperienceAnswer {
  reasoning: string;
  observation: string;
  /** What the flag says: 1 or 0. */
  reward: number;
  /** False when the answer is the world's failure state. */
  valid: boolean;
  /** The reasoning's verdict agrees with the observation, and its goal check with the flag. */
  consistent: boolean;
}

/**
 * Reads the sampled tokens of one answer.
 * The observation decides whether the action was valid; a reward for an invalid action is malformed.
 */
export function parseExperienceAnswer(tokenizer: Tokenizer, answer: readonly number[]): Parsed<ExperienceAnswer> {
  const { special } = tokenizer;
  const flag = answer.at(-1);
  if (flag !== special['<r0>'] && flag !== special['<r1>']) return { ok: false, why: 'unfinished' };
  const end = answer.indexOf(special['</t>']);
  if (end < 0) return { ok: false, why: 'no-reasoning-end' };
  const thought = answer.slice(0, end);
  const body = answer.slice(end + 1, -1);
  if (body.length === 0) return { ok: false, why: 'empty' };
  if (thought.some((id) => tokenizer.isControl(id)) || body.some((id) => tokenizer.isControl(id)))
    return { ok: false, why: 'stray-control-token' };
  const reasoning = tokenizer.decode(thought);
  const observation = tokenizer.decode(body);
  if (!isObservation(observation)) return { ok: false, why: 'not-grammatical' };
  const reward = flag === special['<r1>'] ? 1 : 0;
  const valid = observation !== failureObservation;
  if (reward > 0 && !valid) return { ok: false, why: 'inconsistent' };
  const claim = readExperienceThought(reasoning);
  return {
    ok: true,
    reasoning,
    observation,
    reward,
    valid,
    consistent: claim.valid === valid && claim.reached === reward > 0,
  };
}

/** What the world says to an action that changes nothing. */
export const failureObservation = 'nothing happens';

/** True when the text is a sentence of the world's abstract grammar. */
export function isObservation(text: string): boolean {
  return toRaw(text, '') !== text;
}

/** The same answer without its reward: the history must not remember a success that was rejected. */
export function withoutReward(tokenizer: Tokenizer, answer: readonly number[]): number[] {
  const { special } = tokenizer;
  return answer.map((id) => (id === special['<r1>'] ? special['<r0>'] : id));
}
