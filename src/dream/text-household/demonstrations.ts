/**
 * @file Demonstrations in words: scripted players in the training rooms, told exactly as a rollout would be, with the loss
 * on the agent's own words.
 *
 * The players are the expert and the clumsy one, in equal parts: competent, with something left to learn. The thought is
 * the one that the embedded policy is taught (transcripts/reasoning.ts), as a sentence.
 */

import {
  type Goal,
  HouseholdWorld,
  hashKey,
  STATIONS,
  TRAINING_ROOM_SEEDS,
  treatmentOf,
  type WorldSize,
} from '../../envs/household';
import { type Mixture, type OfflineEpisode, playEpisode } from '../offline';
import { Belief, typeOf } from '../transcripts';
import { admissibleIn } from './admissible';
import type { ChatTurns } from './chat-turns';
import { demonstratedTurn, policyRole } from './policy';
import type { TextSettings } from './settings';
import { expertLength } from './tasks';

const players: Mixture = { expert: 0.5, clumsy: 0.5 };
/** Players may take as long as they need, whatever an episode may: only lucky ones succeed in a few actions, or none. */
const longestPlay = 24;
/** Told are so many times the actions of an episode. */
const patience = 1.5;

export interface Demonstration {
  tokens: number[];
  /** 1 on the agent's own words, else 0. */
  weights: number[];
}

export interface DemonstrationOptions {
  size: WorldSize;
  seed: number;
  /** Steps of an episode of the run. */
  maxSteps: number;
  /** Longest sequence; turns beyond it are left out. */
  contextLength: number;
}

/** Successful demonstrations, without end; deterministic. Tasks reserved for evaluation are never among them. */
export function* demonstrations(
  turns: ChatTurns,
  settings: TextSettings,
  { size, seed, maxSteps, contextLength }: DemonstrationOptions,
): Generator<Demonstration, never> {
  const world = new HouseholdWorld();
  const play = {
    size,
    seed: hashKey('text-demonstrations', seed),
    rooms: TRAINING_ROOM_SEEDS,
    mixture: players,
    maxSteps: longestPlay,
  };
  for (let i = 0; ; i++) {
    const episode = playEpisode(play, i, world);
    if (!episode.success) continue;
    const { expertSteps } = settings;
    if (expertSteps > 0 && expertLength(episode.task, expertSteps, world) === null) continue;
    const steps = episode.steps.slice(0, Math.ceil(maxSteps * patience));
    yield tell(turns, settings, { ...episode, steps }, contextLength);
  }
}

/** The last observation is left out: nobody acts on it. */
function tell(
  turns: ChatTurns,
  settings: TextSettings,
  { task, goal, steps }: OfflineEpisode,
  contextLength: number,
): Demonstration {
  const role = policyRole(turns, settings);
  const belief = new Belief(task.firstObservation);
  const tokens = role.opening(task, task.firstObservation, admissibleIn(belief));
  const weights = tokens.map(() => 0);
  for (const [i, { action, observation, target }] of steps.entries()) {
    const words = demonstratedTurn(turns, settings, thoughtOf(belief, goal, target), action);
    if (tokens.length + words.length > contextLength) break;
    tokens.push(...words);
    for (const _ of words) weights.push(1);
    belief.observe(observation);
    if (i === steps.length - 1) break;
    const reply = role.reply(words, observation, admissibleIn(belief));
    if (tokens.length + reply.length > contextLength) break;
    tokens.push(...reply);
    for (const _ of reply) weights.push(0);
  }
  return { tokens, weights };
}

/** What the player is after, from what it has seen: `I need a cup.`, `I hold the cup 1 and bring it to a fridge.` */
function thoughtOf(belief: Belief, goal: Goal, target: string | null): string {
  const { hold } = belief;
  if (hold === null) return target === null ? `I look for a ${goal.object}.` : `I need the ${target}.`;
  if (typeOf(hold) !== goal.object) return `I do not need the ${hold}.`;
  if (goal.family === 'look_at_obj_in_light') return `I hold the ${hold} and need a ${goal.toggle}.`;
  const treatment = treatmentOf(goal.family);
  if (treatment !== null && !belief.isTreated(hold, treatment))
    return `I ${treatment} the ${hold} with a ${STATIONS[treatment]}.`;
  return `I bring the ${hold} to a ${goal.receptacle}.`;
}
