/**
 * @file The policy's stream: what it is shown, what it says, how its words become an action.
 *
 *   <pol> room cabinet 2 ... \n task put a clean cup in cabinet \n
 *   > <t> hold nothing object cup 1 </t> take cup 1 from shelf 1 \n
 *   take cup 1 shelf 1 \n
 *
 * `> <t>` is given (forced), the model goes on until the line feed, the world's observation is given. The short thought
 * is running state: a model of one million parameters cannot re-read its whole history at every step, but it can copy
 * what it holds and which object it is after from its last thought.
 */
import type { Tokenizer } from '../../models/tokenizer';
import type { Parsed } from './transcript';

/** Enough for any sensible thought and action; a rambling model is cut here. */
export const policyMaxNewTokens = 24;

/** Generation of a turn ends after any of these. */
export function policyStopTokens(tokenizer: Tokenizer): number[] {
  return [tokenizer.special['\n']];
}

/** The beginning of an episode: given tokens. */
export function policyPrompt(tokenizer: Tokenizer, firstObservation: string, instruction: string): number[] {
  const { special } = tokenizer;
  return [
    special['<pol>'],
    ...tokenizer.encode(firstObservation),
    special['\n'],
    ...tokenizer.encode('task'),
    ...tokenizer.encode(instruction),
    special['\n'],
  ];
}

/** The beginning of each turn: given tokens. */
export function policyTurn(tokenizer: Tokenizer): number[] {
  return [tokenizer.special['>'], tokenizer.special['<t>']];
}

/** What a demonstrator says in a turn: own tokens. */
export function policyAnswer(tokenizer: Tokenizer, thought: string, action: string): number[] {
  const { special } = tokenizer;
  return [...tokenizer.encode(thought), special['</t>'], ...tokenizer.encode(action), special['\n']];
}

/** The world's answer: given tokens. A turn that was cut before its line feed gets it here. */
export function policyObservation(tokenizer: Tokenizer, answer: readonly number[], observation: string): number[] {
  const newline = tokenizer.special['\n'];
  const end = answer.at(-1) === newline ? [] : [newline];
  return [...end, ...tokenizer.encode(observation), newline];
}

/** Reads the sampled tokens of one turn. On failure the caller sends the world an empty (never valid) action. */
export function parsePolicyAnswer(
  tokenizer: Tokenizer,
  answer: readonly number[],
): Parsed<{ thought: string; action: string }> {
  const { special } = tokenizer;
  if (answer.at(-1) !== special['\n']) return { ok: false, why: 'unfinished' };
  const end = answer.indexOf(special['</t>']);
  if (end < 0) return { ok: false, why: 'no-reasoning-end' };
  const thought = answer.slice(0, end);
  const action = answer.slice(end + 1, -1);
  if (action.length === 0) return { ok: false, why: 'empty' };
  if (thought.some((id) => tokenizer.isControl(id)) || action.some((id) => tokenizer.isControl(id)))
    return { ok: false, why: 'stray-control-token' };
  return { ok: true, thought: tokenizer.decode(thought), action: tokenizer.decode(action) };
}
