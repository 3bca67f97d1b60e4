/**
 * @file How much offline experience does an experience model need? One point of that curve (DreamGym, Fig. 5): the embedded
 * shape, from random weights, on N offline transitions, asked afterwards about rooms it never saw.
 *
 * All points have the same number of updates, so that they differ in data and not in training: few transitions are seen
 * often, many once. The rooms grow with the data, a few visits to each, because a model that never meets a room twice
 * cannot learn what retrieval is good for.
 */
import type { WorldSize } from '../envs/household';
import { householdTokenizer } from '../models/household-vocabulary';
import type { LanguageModel } from '../nn/language-model';
import { endless, learn, transitionsIn, type WeightedSequence } from './experiment/supervised';
import {
  experienceRooms,
  experienceSequences,
  type Fidelity,
  fidelityCases,
  measureFidelity,
  predictWith,
  type Share,
} from './offline';
import { deriveSeed } from './random';

export interface EfficiencyRequest {
  /** Offline transitions to learn from. */
  transitions: number;
  updates: number;
  tokensPerUpdate: number;
  learningRate: number;
  seed: number;
  /** Held-out questions. */
  cases: number;
}

export interface EfficiencyPoint {
  transitions: number;
  episodes: number;
  rooms: number;
  /** Tokens of the data, and tokens learned from in all updates. */
  dataTokens: number;
  trainedTokens: number;
  /** Mean of the last tenth of the updates. */
  loss: number;
  observationExact: number;
  /** The same where the history decides the answer. */
  deterministicExact: number;
  rewardAccuracy: number;
  /** Share of the failures called a success, and of the successes recognised. */
  falseSuccesses: number;
  trueSuccesses: number;
  fidelity: Fidelity;
  seconds: number;
}

const size: WorldSize = 'small';
/** Steps of an offline episode, about. */
const episodeTransitions = 10;
const visitsPerRoom = 4;

export interface OfflineData {
  sequences: WeightedSequence[];
  transitions: number;
  rooms: number;
}

/** Whole episodes up to `transitions` (the last one cut off by a few), memories from these episodes alone. */
export function offlineData(transitions: number, seed: number): OfflineData {
  const visits = Math.ceil(transitions / episodeTransitions / visitsPerRoom);
  const rooms = experienceRooms.slice(0, Math.max(1, visits));
  const play = (episodes: number) => experienceSequences(size, { episodes, seed, rooms });
  // Played once to see how many episodes hold so many transitions, then with these alone.
  const enough = upTo(transitions, play(Math.ceil(transitions / 4) + 4)).length;
  const sequences = upTo(transitions, play(enough));
  return { sequences, transitions: transitionsIn(sequences), rooms: rooms.length };
}

/** The first sequences that together hold so many transitions. */
export function upTo(transitions: number, sequences: readonly WeightedSequence[]): WeightedSequence[] {
  const kept: WeightedSequence[] = [];
  let count = 0;
  for (const sequence of sequences) {
    if (count >= transitions) break;
    kept.push(sequence);
    count += transitionsIn([sequence]);
  }
  return kept;
}

/** Trains `model` (with random weights) and asks it. Throws `training-diverged`. */
export async function efficiencyPoint(
  model: LanguageModel,
  request: EfficiencyRequest,
  onProgress: (fraction: number, detail: string) => Promise<void> | void,
): Promise<EfficiencyPoint> {
  const start = performance.now();
  const { seed, cases } = request;
  const { sequences, transitions, rooms } = offlineData(request.transitions, deriveSeed(seed, 'offline'));
  const { loss, tokens } = await learn(model, endless(sequences, seed, 'offline episodes'), request, onProgress);
  await onProgress(1, 'its fidelity in unseen rooms');
  const tokenizer = householdTokenizer(size);
  // The same questions at every point.
  const fidelity = await measureFidelity(
    fidelityCases(size, { cases, seed: 1, retrieval: true }),
    tokenizer,
    predictWith(model, tokenizer),
  );
  const share = ({ right, of }: Share) => right / Math.max(1, of);
  return {
    transitions,
    episodes: sequences.length,
    rooms,
    dataTokens: sequences.reduce((sum, one) => sum + one.tokens.length, 0),
    trainedTokens: tokens,
    loss,
    observationExact: share(fidelity.observation),
    deterministicExact: share(fidelity.deterministic),
    rewardAccuracy: share(fidelity.reward),
    falseSuccesses: share(fidelity.falseSuccesses),
    trueSuccesses: share(fidelity.trueSuccesses),
    fidelity,
    seconds: (performance.now() - start) / 1000,
  };
}
