/** @file Demonstrations of any world, told exactly as a rollout would be, with the loss on the agent's own words. */
import type { Trajectory } from '../../data/trajectory';
import type { Domain } from '../domain';
import type { ChatTurns } from '../text-household/chat-turns';
import type { Demonstration } from '../text-household/demonstrations';
import type { TextSettings } from '../text-household/settings';
import { demonstratedTurn } from './policy';

/** For players that say nothing of what they think. */
const silentThought = 'I go on.';

/** Turns beyond `contextLength` are left out, and so is the last observation: nobody acts on it. */
export function demonstration(
  domain: Pick<Domain, 'dialect' | 'admissible'>,
  turns: ChatTurns,
  settings: TextSettings,
  { task, firstObservation, turns: played }: Trajectory,
  contextLength: number,
): Demonstration {
  const role = domain.dialect.policy;
  const possible = (count: number) => domain.admissible?.(firstObservation, played.slice(0, count));
  const tokens = role.opening(task, firstObservation, possible(0));
  const weights = tokens.map(() => 0);
  for (const [i, { thought, action, observation }] of played.entries()) {
    // As the policy would choose it: players write names as they are printed, lists of actions in lower case.
    const offered = possible(i)?.find((each) => each.toLowerCase() === action.toLowerCase());
    const words = demonstratedTurn(turns, settings, thought || silentThought, offered ?? action);
    if (tokens.length + words.length > contextLength) break;
    tokens.push(...words);
    for (const _ of words) weights.push(1);
    if (i === played.length - 1) break;
    const reply = role.reply(words, observation, possible(i + 1));
    if (tokens.length + reply.length > contextLength) break;
    tokens.push(...reply);
    for (const _ of reply) weights.push(0);
  }
  return { tokens, weights };
}
