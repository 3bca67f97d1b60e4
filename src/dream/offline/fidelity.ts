/**
 * @file How true is the experience model? Its answers on held-out rooms, each after a true history, against the world's.
 *
 * A case is one question with everything before it. An answer counts as exact when the whole observation is right; the
 * *deterministic part* are the cases whose answer the history decides (everything but the first sight of a place).
 */
import { hashKey, Random, UNSEEN_ROOM_SEED, type WorldSize } from '../../envs/household';
import { householdTokenizer } from '../../models/household-vocabulary';
import type { Tokenizer } from '../../models/tokenizer';
import type { LanguageModel } from '../../nn/language-model';
import {
  Belief,
  experienceAnswer,
  experienceMaxNewTokens,
  experiencePrompt,
  experienceQuestion,
  experienceStopTokens,
  experienceThought,
  parseExperienceAnswer,
} from '../transcripts';
import { experienceMixture, type Mixture } from './episodes';
import { trainingMemories } from './memories';
import { experienceEpisodes } from './sequences';

export interface FidelityCase {
  /** Everything before the answer, retrieved memory included. */
  context: number[];
  action: string;
  observation: string;
  reward: number;
  valid: boolean;
  /** The history alone decides the observation. */
  determined: boolean;
}

export interface FidelityOptions {
  /** Number of cases wanted. */
  cases: number;
  seed: number;
  /** Retrieval on (k = 1, from other episodes of the same room) or off. */
  retrieval?: boolean;
  /** The history holds thoughts (for a model that thinks) or answers alone. Default: true. */
  reasoning?: boolean;
  mixture?: Mixture;
}

/** Rooms that neither training nor the policy's evaluation ever enters. */
const firstRoom = UNSEEN_ROOM_SEED + 700_000_000;
const roomCount = 40;
/** Enough other episodes of a room for retrieval to be as good as in a run. */
const episodesPerRoom = 12;

/** Evaluation cases, deterministic from the options; drawn evenly over episodes and turns. */
export function fidelityCases(size: WorldSize, options: FidelityOptions): FidelityCase[] {
  const tokenizer = householdTokenizer(size);
  const { episodes, bank } = experienceEpisodes(size, {
    episodes: roomCount * episodesPerRoom,
    seed: hashKey('fidelity', options.seed),
    rooms: Array.from({ length: roomCount }, (_, i) => firstRoom + i),
    mixture: options.mixture ?? experienceMixture,
  });
  const memories = { ...trainingMemories, dropRate: 0, weakRate: 0, topK: options.retrieval === false ? 0 : 1 };
  const all = episodes.flatMap(({ task, goal, steps }, e) => {
    const random = new Random(hashKey('fidelity-memories', options.seed, e));
    const belief = new Belief(task.firstObservation);
    const context = experiencePrompt(tokenizer, task.firstObservation, task.instruction);
    return steps.map(({ state, action, observation, reward, valid }): FidelityCase => {
      const reasoned = experienceThought(belief, goal, action);
      const thought = options.reasoning === false ? { ...reasoned, state: '', verdict: '', check: '' } : reasoned;
      const recalled = bank.recall(task.room, state, action, e, memories, random);
      context.push(...experienceQuestion(tokenizer, task.instruction, action, recalled));
      const determined = !firstSight(belief, action);
      const asked = { context: [...context], action, observation, reward, valid, determined };
      context.push(...experienceAnswer(tokenizer, thought, observation, reward).tokens);
      belief.observe(observation);
      return asked;
    });
  });
  return new Random(hashKey('fidelity-order', options.seed)).shuffle(all).slice(0, options.cases);
}

/** True when the answer shows something that nothing before it tells. */
function firstSight(belief: Belief, action: string): boolean {
  const { command, valid } = belief.judge(action);
  if (!valid || command === null) return false;
  if (command.verb === 'go') return !belief.isClosed(command.first) && !belief.hasSeen(command.first);
  return command.verb === 'open' && !belief.hasSeen(command.first);
}

export interface Share {
  right: number;
  of: number;
}

export interface Fidelity {
  cases: number;
  malformed: number;
  /** The whole observation, word for word. */
  observation: Share;
  /** The same, where the history decides it. */
  deterministic: Share;
  reward: Share;
  /** Reward 1 claimed where the truth is 0. */
  falseSuccesses: Share;
  /** Reward 1 given where the truth is 1. */
  trueSuccesses: Share;
  /** Answered with the failure state where the action was invalid, and not where it was valid. */
  invalidActions: Share;
  validActions: Share;
  /** Reasoning, observation and flag agree with each other. */
  consistent: Share;
}

/** Continues each context up to and including the stop token. */
export type Predict = (contexts: readonly (readonly number[])[]) => Promise<readonly (readonly number[])[]>;

/** Asks for all answers and counts. Malformed answers are wrong in every respect. */
export async function measureFidelity(
  cases: readonly FidelityCase[],
  tokenizer: Tokenizer,
  predict: Predict,
): Promise<Fidelity> {
  const answers = await predict(cases.map(({ context }) => context));
  const none = (): Share => ({ right: 0, of: 0 });
  const result: Fidelity = {
    cases: cases.length,
    malformed: 0,
    observation: none(),
    deterministic: none(),
    reward: none(),
    falseSuccesses: none(),
    trueSuccesses: none(),
    invalidActions: none(),
    validActions: none(),
    consistent: none(),
  };
  const count = (share: Share, right: boolean) => {
    share.of++;
    if (right) share.right++;
  };
  for (const [i, truth] of cases.entries()) {
    const answer = parseExperienceAnswer(tokenizer, answers[i]);
    if (!answer.ok) result.malformed++;
    const exact = answer.ok && answer.observation === truth.observation;
    count(result.observation, exact);
    if (truth.determined) count(result.deterministic, exact);
    count(result.reward, answer.ok && answer.reward === truth.reward);
    if (truth.reward > 0) count(result.trueSuccesses, answer.ok && answer.reward > 0);
    else count(result.falseSuccesses, answer.ok && answer.reward > 0);
    count(truth.valid ? result.validActions : result.invalidActions, answer.ok && answer.valid === truth.valid);
    count(result.consistent, answer.ok && answer.consistent);
  }
  return result;
}

/** A `Predict` over a language model: `batch` streams at a time, greedy unless a temperature is given. */
export function predictWith(
  model: LanguageModel,
  tokenizer: Tokenizer,
  { batch = 64, temperature = 0, seed = 1 }: { batch?: number; temperature?: number; seed?: number } = {},
): Predict {
  return async (contexts) => {
    const answers: (readonly number[])[] = [];
    const sessions = model.sessions(Math.min(batch, contexts.length));
    try {
      for (let from = 0; from < contexts.length; from += batch) {
        const part = contexts.slice(from, from + batch);
        const streams = part.map((_, i) => i);
        part.forEach((context, i) => {
          sessions.clear(i);
          sessions.append(i, context);
        });
        const generated = await sessions.generate(streams, {
          temperature,
          seed: seed + from,
          stopTokens: experienceStopTokens(tokenizer),
          maxNewTokens: experienceMaxNewTokens,
        });
        answers.push(...generated.map(({ tokens }) => tokens));
      }
    } finally {
      sessions.dispose();
    }
    return answers;
  };
}
