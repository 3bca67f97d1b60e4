/**
 * @file Refresh: now and then the experience model learns from a few real episodes of the policy as it is now.
 *
 * The dream was trained on scripted players; a policy that learns asks it ever stranger questions, and what it answers
 * wrongly is what the policy exploits (recipe.md). A few real transitions of that very policy are the cheapest cure. They
 * count as real transitions, and they also enter the replay buffer.
 *
 * What is kept of a refresh is what it learned from, not the weights: some ten thousand numbers, from which a resumed run
 * trains the same model again, bit for bit. The model belongs to others too, so a run gives it back as it found it.
 */
import { DreamError } from '../data/errors';
import type { Trajectory } from '../data/trajectory';
import type { Task } from '../envs/environment';
import type { LanguageModel, ModelState } from '../nn/language-model';
import type { RunConfig } from '../worker/protocol';
import type { Domain, TaughtSequence } from './domain';
import { endless, learn } from './experiment/supervised';
import type { LoopParts } from './loop-parts';
import { practiceOf } from './practice';
import { Draws, deriveSeed } from './random';
import type { ReplayBuffer } from './replay-buffer';
import { retrieve } from './retrieval';
import { rollOut } from './rollouts';
import type { Refresh } from './run-store';

/** Passes over the real episodes; each pass is mixed with as many that the model learned from before, lest it forget. */
const passes = 3;
const budget = { tokensPerUpdate: 3072, learningRate: 2e-4 };

type RefreshParts = Pick<LoopParts, 'policy' | 'experience' | 'domain' | 'kernels' | 'parallel' | 'openDream'>;

/** Is the experience model refreshed at the end of this iteration (from 1)? Only while there is a dream to come. */
export function refreshDue(config: RunConfig, iteration: number, realTransitions: number): boolean {
  const { refreshEvery, iterations } = config;
  if (refreshEvery === 0 || iteration % refreshEvery !== 0 || iteration >= iterations) return false;
  return practiceOf(config, iteration + 1, { realTransitions }).world === 'dream';
}

/** Throws `config-invalid` where the settings ask for a refresh that this experience model cannot have. */
export function checkRefresh({ refreshEvery }: RunConfig, { domain, openDream }: RefreshParts): void {
  if (refreshEvery === 0 || (domain.teaching && !openDream)) return;
  throw new DreamError(
    'config-invalid',
    'refreshEvery needs an experience model that can be trained here; this one only answers.',
    'Set refreshEvery to 0, or dream with the embedded model.',
  );
}

/** Real episodes of the policy, at most `refreshTransitions` steps of them. Resolves to the episodes that were not lost. */
export async function gatherReal(
  { policy, domain, parallel }: RefreshParts,
  { refreshTransitions, maxSteps, temperature }: RunConfig,
  tasks: readonly Task[],
  seed: number,
  onTurn: (fraction: number) => Promise<void>,
): Promise<{ trajectories: Trajectory[]; transitions: number }> {
  const order = new Draws(deriveSeed(seed, 'refresh-tasks')).shuffled(tasks);
  const trajectories: Trajectory[] = [];
  let transitions = 0;
  let next = 0;
  // Most episodes end early: what the longest possible ones would have taken is dealt out again until none fits.
  for (let round = 0; refreshTransitions - transitions >= maxSteps; round++) {
    const count = Math.floor((refreshTransitions - transitions) / maxSteps);
    const chosen = Array.from({ length: count }, () => order[next++ % order.length]);
    const played = await rollOut({
      policy,
      domain,
      environment: domain.realWorld(),
      tasks: chosen,
      groups: chosen.map((_, i) => i),
      maxSteps,
      temperature,
      seed: deriveSeed(seed, 'refresh', round),
      parallel,
      onTurn: () => onTurn(transitions / refreshTransitions),
    });
    transitions += played.transitions;
    trajectories.push(...played.rollouts.map(({ trajectory }) => trajectory).filter(({ lost }) => !lost));
    // A policy that never speaks to the world would be asked for ever.
    if (played.transitions === 0) break;
  }
  return { trajectories, transitions };
}

/** The episodes as the experience model's own transcripts, each turn with the memories it would have been asked with. */
export async function tellReal(
  { domain, kernels }: RefreshParts,
  trajectories: readonly Trajectory[],
  buffer: ReplayBuffer,
  retrievalTopK: number,
): Promise<TaughtSequence[]> {
  const told: TaughtSequence[] = [];
  for (const trajectory of trajectories) {
    let state = trajectory.firstObservation;
    const turns = trajectory.turns.filter(({ action }) => action !== '');
    const queries = turns.map(({ action, observation }) => {
      const query = { room: trajectory.task.room, state, action, episode: 'refresh' };
      state = observation;
      return query;
    });
    const memories = await retrieve(buffer, queries, retrievalTopK, kernels.topK);
    const sequence = domain.teaching!.tell(
      { ...trajectory, turns },
      memories.map((found) => found.map(({ transition }) => transition)),
    );
    if (sequence.weights.some((weight) => weight > 0)) told.push(sequence);
  }
  return told;
}

/** The experience model of one run, as refreshes change it. */
export class RefreshedModel {
  private before: ModelState | null = null;

  constructor(
    private readonly model: Pick<
      LanguageModel,
      'vocabSize' | 'contextLength' | 'trainStep' | 'exportState' | 'importState'
    >,
    private readonly domain: Pick<Domain, 'teaching'>,
    private readonly runSeed: number,
  ) {}

  /** Trains on one refresh, with a fresh optimiser. Resolves to the mean loss of the last updates; 0 of nothing. */
  async learn({ iteration, sequences }: Refresh, onProgress: (fraction: number) => Promise<void>): Promise<number> {
    if (sequences.length === 0) return 0;
    this.check(sequences);
    const { weights } = await this.model.exportState(false);
    this.before ??= { step: 0, weights };
    await this.model.importState({ step: 0, weights });
    const seed = deriveSeed(this.runSeed, 'refresh', iteration);
    const rehearsed = this.domain.teaching?.rehearsal(sequences.length, seed) ?? [];
    const mixture = [...sequences, ...rehearsed];
    const tokens = mixture.reduce((sum, one) => sum + one.tokens.length, 0);
    const updates = Math.max(1, Math.round((passes * tokens) / budget.tokensPerUpdate));
    const { loss } = await learn(
      this.model,
      endless(mixture, seed, 'real episodes'),
      { updates, ...budget },
      onProgress,
    );
    return loss;
  }

  /** A stored refresh may come from a file of anyone's. Throws `corrupt-run`. */
  private check(sequences: readonly TaughtSequence[]): void {
    const { vocabSize, contextLength } = this.model;
    const fits = ({ tokens }: TaughtSequence) =>
      tokens.length <= contextLength && tokens.every((token) => token < vocabSize);
    if (sequences.every(fits)) return;
    throw new DreamError(
      'corrupt-run',
      'What this run taught its experience model is not in this model’s words.',
      'Continue it with the model it was made with, or start a new run.',
    );
  }

  /** Gives the model back as the run found it. */
  async restore(): Promise<void> {
    if (!this.before) return;
    await this.model.importState(this.before);
    this.before = null;
  }
}
