/**
 * @file How the embedded model is made: one base, all three roles, from offline play with programmatic reasoning.
 *
 * The experience model learns reasoning, next state and reward (DreamGym, Eq. 5); the policy imitates a clumsy but
 * competent demonstrator (a half-trained imitator of a perfect one cannot be improved by RL, recipe.md); the generator
 * learns to vary tasks. Sequences of the roles are mixed from the first step, and the learning rate falls to zero, so that
 * the policy is *fully* trained on its demonstrator. Every step is a function of (recipe, step): training resumes exactly.
 */

import { hashKey, Random, type WorldSize } from '../envs/household';
import type { DecoderConfig } from '../nn/config';
import type { DecoderModel } from '../nn/decoder-model';
import type { OptimizerSettings, TrainSequence, TrainStats } from '../nn/language-model';
import { experienceSequences, generatorSequences, policySequences } from './offline';
import type { SequenceArrays } from './transcripts';

export interface PretrainingRecipe {
  size: WorldSize;
  seed: number;
  /** Episodes of each role; each is seen once. */
  experienceEpisodes: number;
  policyEpisodes: number;
  generatorEpisodes: number;
  tokensPerStep: number;
  learningRate: number;
  warmupSteps: number;
  weightDecay: number;
}

export const householdTinyRecipe: PretrainingRecipe = {
  size: 'small',
  seed: 1,
  experienceEpisodes: 6500,
  policyEpisodes: 6500,
  generatorEpisodes: 4000,
  tokensPerStep: 3072,
  learningRate: 3e-3,
  warmupSteps: 60,
  weightDecay: 0.05,
};

/** The embedded model's shape: about a million parameters. */
export function householdTinyConfig(vocabSize: number): DecoderConfig {
  return {
    vocabSize,
    width: 128,
    layers: 4,
    heads: 4,
    kvHeads: 2,
    headDim: 32,
    ffn: 512,
    ropeTheta: 10_000,
    normEps: 1e-5,
    contextLength: 640,
  };
}

export interface PretrainingCounts {
  steps: number;
  tokens: number;
  experience: { episodes: number; tokens: number };
  policy: { episodes: number; tokens: number };
  generator: { episodes: number; tokens: number };
}

/** The whole course of training: which sequences make which step. */
export class PretrainingPlan {
  readonly steps: SequenceArrays[][] = [];
  readonly counts: PretrainingCounts;

  constructor(readonly recipe: PretrainingRecipe) {
    const { size, seed } = recipe;
    const roles = {
      experience: experienceSequences(size, { episodes: recipe.experienceEpisodes, seed }),
      policy: policySequences(size, { episodes: recipe.policyEpisodes, seed }),
      generator: generatorSequences(size, { episodes: recipe.generatorEpisodes, seed }),
    };
    const count = (sequences: SequenceArrays[]): { episodes: number; tokens: number } => ({
      episodes: sequences.length,
      tokens: sequences.reduce((sum, s) => sum + s.tokens.length, 0),
    });
    const all = new Random(hashKey('pretraining-order', seed)).shuffle(Object.values(roles).flat());
    let step: SequenceArrays[] = [];
    let tokens = 0;
    for (const sequence of all) {
      step.push(sequence);
      tokens += sequence.tokens.length;
      if (tokens >= recipe.tokensPerStep) {
        this.steps.push(step);
        step = [];
        tokens = 0;
      }
    }
    if (step.length > 0) this.steps.push(step);
    this.counts = {
      steps: this.steps.length,
      tokens: all.reduce((sum, s) => sum + s.tokens.length, 0),
      experience: count(roles.experience),
      policy: count(roles.policy),
      generator: count(roles.generator),
    };
  }

  /** Linear warm-up, then linear decay to zero. `step` counts from 0. */
  learningRate(step: number): number {
    const { learningRate, warmupSteps } = this.recipe;
    if (step < warmupSteps) return (learningRate * (step + 1)) / warmupSteps;
    return (learningRate * (this.steps.length - step)) / Math.max(1, this.steps.length - warmupSteps);
  }

  /** One update; the loss is the weighted mean over the step's tokens. */
  async train(model: DecoderModel, step: number): Promise<TrainStats> {
    const sequences = this.steps[step];
    const total = sequences.reduce((sum, s) => sum + s.weights.reduce((a, b) => a + b, 0), 0);
    const settings: OptimizerSettings = {
      learningRate: this.learningRate(step),
      beta1: 0.9,
      beta2: 0.95,
      eps: 1e-8,
      weightDecay: this.recipe.weightDecay,
      maxGradNorm: 1,
    };
    const batch: TrainSequence[] = sequences.map((s) => ({
      tokens: Array.from(s.tokens),
      weights: Float32Array.from(s.weights, (w) => w / total),
    }));
    return model.trainStep(batch, { kind: 'sft' }, settings);
  }
}
