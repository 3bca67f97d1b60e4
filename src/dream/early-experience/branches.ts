/**
 * @file Early Experience (arXiv 2510.08558, section 4): at states of a demonstration, what would other actions have led to?
 *
 * K alternatives come from the policy itself, so that the data show where *it* would go; they are executed in the real
 * world from a snapshot of the demonstrated state. Replaying from the start would cost O(K N^2) steps; a restore costs
 * microseconds. An alternative that cannot be read, or equals the demonstrated action, is replaced by a random admissible
 * one (the paper's rule for ALFWorld).
 */

import { type HouseholdSnapshot, HouseholdWorld, hashKey, Random, TRAINING_ROOM_SEEDS } from '../../envs/household';
import { householdTokenizer } from '../../models/household-vocabulary';
import type { LanguageModel } from '../../nn/language-model';
import type { Domain } from '../domain';
import { demonstrationSteps, type OfflineEpisode, playEpisode } from '../offline';
import { Belief, policyAnswer, policyObservation, policyPrompt, policyThought, policyTurn } from '../transcripts';

export interface Outcome {
  action: string;
  /** What the policy said to get there (thought and action), as sampled; encoded anew where the action was replaced. */
  words: number[];
  observation: string;
  reward: number;
  valid: boolean;
}

export interface Branch {
  episode: OfflineEpisode;
  /** Turn of the demonstration, from 0. */
  turn: number;
  /** The policy's context up to the first thing it says in that turn. */
  prefix: number[];
  /** What is known at that turn. */
  belief: Belief;
  demonstrated: Outcome;
  alternatives: Outcome[];
}

export interface BranchRequest {
  policy: LanguageModel;
  domain: Domain;
  branches: number;
  /** K of the paper. */
  alternatives: number;
  seed: number;
  onProgress?: (fraction: number, detail: string) => Promise<void> | void;
}

/** Turns of one demonstration that become branches. */
const branchesPerEpisode = 4;
/** Streams that generate together. */
const streams = 128;

type Open = Omit<Branch, 'alternatives'> & { snapshot: HouseholdSnapshot; thought: string };

export async function exploreBranches(request: BranchRequest): Promise<{ branches: Branch[]; realSteps: number }> {
  const { alternatives, seed } = request;
  const open = demonstratedStates(request);
  const sampled = await sampleAlternatives(request, open);
  const world = new HouseholdWorld();
  const tokenizer = householdTokenizer('small');
  let realSteps = 0;
  const branches = open.map(({ snapshot, thought, ...branch }, b): Branch => {
    const random = new Random(hashKey('early-experience', seed, b));
    const tried = new Set([branch.demonstrated.action]);
    const outcomes: Outcome[] = [];
    for (let k = 0; k < alternatives; k++) {
      let { action, words } = sampled[b][k];
      world.restore(snapshot);
      if (action === '' || tried.has(action)) {
        const others = world.admissible().filter((one) => !tried.has(one) && one !== 'help');
        if (others.length === 0) break;
        action = random.pick(others);
        words = policyAnswer(tokenizer, thought, action);
      }
      tried.add(action);
      const { observation, reward, valid } = world.step(action);
      realSteps++;
      outcomes.push({ action, words, observation, reward, valid });
    }
    return { ...branch, alternatives: outcomes };
  });
  return { branches, realSteps };
}

/** Successful demonstrations in training rooms, cut at random turns. */
function demonstratedStates({ branches, seed }: BranchRequest): Open[] {
  const tokenizer = householdTokenizer('small');
  const play = {
    size: 'small' as const,
    seed: hashKey('early-experience', seed),
    rooms: TRAINING_ROOM_SEEDS,
    mixture: { clumsy: 1 },
    maxSteps: demonstrationSteps,
  };
  const world = new HouseholdWorld();
  const open: Open[] = [];
  for (let i = 0; open.length < branches; i++) {
    const episode = playEpisode(play, i, world);
    if (!episode.success) continue;
    const { task, goal, steps } = episode;
    const random = new Random(hashKey('branches', seed, i));
    const turns = new Set(random.shuffle(steps.map((_, t) => t)).slice(0, branchesPerEpisode));
    world.reset(task);
    const belief = new Belief(task.firstObservation);
    const told: string[] = [];
    const prefix = [...policyPrompt(tokenizer, task.firstObservation, task.instruction), ...policyTurn(tokenizer)];
    for (const [turn, { action, observation, reward, valid, target }] of steps.entries()) {
      const thought = policyThought(belief, goal, target);
      const words = policyAnswer(tokenizer, thought, action);
      if (turns.has(turn) && open.length < branches) {
        const known = new Belief(task.firstObservation);
        for (const one of told) known.observe(one);
        const demonstrated = { action, words, observation, reward, valid };
        open.push({
          episode,
          turn,
          prefix: [...prefix],
          belief: known,
          demonstrated,
          snapshot: world.snapshot(),
          thought,
        });
      }
      world.step(action);
      belief.observe(observation);
      told.push(observation);
      prefix.push(...words, ...policyObservation(tokenizer, words, observation), ...policyTurn(tokenizer));
    }
  }
  return open;
}

/** K continuations of every branch; an unreadable one has the action ''. */
async function sampleAlternatives(
  { policy, domain, alternatives, seed, onProgress }: BranchRequest,
  open: readonly Open[],
): Promise<{ action: string; words: number[] }[][]> {
  const role = domain.dialect.policy;
  const together = Math.max(1, Math.floor(streams / alternatives));
  const sampled: { action: string; words: number[] }[][] = [];
  const sessions = policy.sessions(together * alternatives);
  try {
    for (let first = 0; first < open.length; first += together) {
      await onProgress?.(first / open.length, 'alternative actions of the policy');
      const part = open.slice(first, first + together);
      const used = part.flatMap(({ prefix }, b) =>
        Array.from({ length: alternatives }, (_, k) => {
          const stream = b * alternatives + k;
          sessions.clear(stream);
          sessions.append(stream, prefix);
          return stream;
        }),
      );
      const answers = await sessions.generate(used, {
        temperature: 1,
        seed: hashKey('alternatives', seed, first),
        stopTokens: role.stopTokens,
        maxNewTokens: role.maxNewTokens,
      });
      part.forEach((_, b) => {
        const own = answers.slice(b * alternatives, (b + 1) * alternatives);
        sampled.push(
          own.map(({ tokens, stopped }) => ({
            action: (stopped ? role.parse(tokens)?.action : undefined) ?? '',
            words: [...tokens],
          })),
        );
      });
    }
  } finally {
    sessions.dispose();
  }
  return sampled;
}
