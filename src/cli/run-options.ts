/** @file Every setting of a run as an option of the command line, from the one table of ranges and choices. */
import { choices, numberRanges, presets } from '../dream/presets';
import {
  constraints,
  dreamForms,
  type TextSettings,
  defaultTextSettings as text,
  textSettingRanges,
} from '../dream/text-household';
import { precisionChoices } from '../nn/precision';
import type { RunConfig } from '../worker/protocol';
import type { ModelChoice } from './model-engine';
import { modelOption } from './open-model';
import { type OptionSpec, type OptionSpecs, UsageError } from './options';

const kebab = (key: string) => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const help: Record<keyof RunConfig, string> = {
  preset: 'the named settings everything else is changed from',
  seed: 'same seed, same settings, same adapter: the same run, bit for bit',
  iterations: 'rollouts and updates',
  rollouts: 'where the policy gathers experience',
  tasksPerIteration: 'groups of an iteration',
  groupSize: 'rollouts of each task',
  maxSteps: 'turns until an episode is cut off',
  temperature: 'of the rollouts',
  learningRate: 'of AdamW, after three iterations of warm-up; it falls over the last third of the run',
  clipLow: 'lower clip range of the probability ratio',
  clipHigh: 'upper clip range',
  klCoef: 'weight of KL (k3) to the warm start; with --model, to the model without its adapter',
  discount: 'of the reward, per turn: below 1 a quick success is worth more',
  entropyCoef: 'weight of the entropy bonus',
  normalization: 'of the advantages',
  aggregation: 'how token losses are averaged',
  sampleUnit: 'what a sequence is in that average',
  miniBatches: 'optimiser steps of an iteration',
  lambda: 'most generated tasks, as a share',
  taskSelection:
    'which generated tasks are kept: every good one, or the most challenging feasible variant of each parent',
  taskCandidates: 'variants of a parent that are weighed for that',
  retrievalTopK: 'memories shown to the experience model',
  experienceTemperature: 'of the dream',
  realIterations: 'sim-to-real: the last so many iterations practise in the real world',
  realBudget: 'most real transitions of those; 0 = no limit',
  history: 'let the dream see the state alone, not the episode before it',
  goalCheck: 'believe dreamed successes unchecked',
  stepCheck: 'believe dreamed steps that contradict their own transcript',
  refreshEvery: 'iterations between refreshes of the experience model on real episodes; 0 = never',
  refreshTransitions: 'most real transitions of a refresh',
  minReplayPrecision: 'stop below this replay precision; 0 = never',
  evalEvery: 'iterations between evaluations',
  evalTasks: 'held-out tasks of an evaluation',
  bufferCapacity: 'transitions the replay buffer holds',
  algorithm: 'fills in the settings of a named method; any of them can be given otherwise',
  advantage: 'what a rollout, a turn or a token is compared with',
  importanceLevel: 'a probability ratio per token, or one per sample (GSPO)',
  dualClip: 'cap on the loss of unlikely tokens with negative advantage; 0 = off',
  epochs: 'passes over the episodes of an iteration',
  stepDiscount: 'per turn, where turns are credited one by one (reinforce++, gigpo, ppo)',
  stepWeight: 'of the advantage of a turn beside that of its episode (gigpo)',
  gaeLambda: 'of generalised advantage estimation (ppo)',
  valueLevel: 'what the critic values: every token, or each turn (ppo)',
  valueClip: 'how far a value may move in one update; 0 = off (ppo)',
  valueCoef: 'share of the critic’s gradient that reaches the trunk (ppo)',
  criticLearningRate: 'of the value head (ppo)',
  maskTruncated: 'episodes cut off by the step limit bear no loss',
  klEstimator: 'which estimate of the KL',
  klPlacement: 'a term of the loss, or a price on the reward',
  klTarget: 'KL the coefficient is steered to; 0 = fixed',
  klHorizon: 'episodes over which it is steered',
  importanceCorrection: 'for what sampler and trainer disagree on',
  importanceCap: 'on the weight of that correction',
  resampleRounds: 'further rounds for groups that all won or all lost (dapo)',
};

/** Specs for `parseOptions`. Nothing has a default here: what is not given comes from the preset (or the stored run). */
export const runOptions: OptionSpecs = Object.fromEntries(
  (Object.keys(presets['household-tiny']) as (keyof RunConfig)[]).map((key): [string, OptionSpec] => {
    if (key === 'goalCheck') return ['no-goal-check', { type: 'boolean', help: help[key] }];
    if (key === 'maskTruncated') return ['mask-truncated', { type: 'boolean', help: help[key] }];
    if (key === 'history') return ['no-history', { type: 'boolean', help: help[key] }];
    if (key === 'stepCheck') return ['no-step-check', { type: 'boolean', help: help[key] }];
    if (key in choices) {
      return [kebab(key), { type: 'string', help: help[key], choices: choices[key as keyof typeof choices] }];
    }
    const { min, max, integer } = numberRanges[key as keyof typeof numberRanges];
    return [kebab(key), { type: integer ? 'integer' : 'number', help: help[key], min, max }];
  }),
);

/** The options of a run on a real model. None has a default here: a stored run's own values come first. */
export const modelOptions = {
  model: { ...modelOption, help: 'train an adapter for this model: a .gguf, or a folder with config.json and weights' },
  rank: { type: 'integer', help: 'of the adapter, a multiple of 4 (--model; default 8)', min: 4, max: 256 },
  alpha: { type: 'number', help: 'scale of the adapter is alpha / rank (--model; default 16)', min: 0.01, max: 1024 },
  context: { type: 'integer', help: 'longest episode in tokens (--model; default 2048)', min: 512, max: 131_072 },
  parallel: {
    type: 'integer',
    help: 'episodes that generate together (--model; default: what 2 GiB of caches hold)',
    min: 1,
    max: 1024,
  },
  precision: {
    type: 'string',
    choices: precisionChoices,
    help: 'of the keys and values that tokens are drawn from; f16 takes half the memory (--model; default f32)',
  },
  constrain: {
    type: 'string',
    choices: constraints,
    help: `the actions a turn may end with: those possible now, or any words (--model; default ${text.constrain})`,
  },
  'thought-tokens': {
    type: 'integer',
    help: `longest thought of a constrained turn; 0 = act without thinking (--model; default ${text.thoughtTokens})`,
    min: textSettingRanges.thoughtTokens.min,
    max: textSettingRanges.thoughtTokens.max,
  },
  'list-actions': { type: 'boolean', help: 'write the possible actions into the prompt (--model)' },
  'expert-steps': {
    type: 'integer',
    help: 'only tasks that the scripted expert fulfils in so many actions, 0 = all (--model; default 0)',
    min: textSettingRanges.expertSteps.min,
    max: textSettingRanges.expertSteps.max,
  },
} as const satisfies OptionSpecs;

/** What only a training run can be given. */
export const textTrainingOptions = {
  'dream-form': {
    type: 'string',
    choices: dreamForms,
    help: `the model dreams in given sentences, or in any words (--model; default ${text.dreamForm})`,
  },
  'head-start': {
    type: 'integer',
    help: 'training episodes begin so many expert actions before their goal, 0 = at the beginning (--model; default 0)',
    min: textSettingRanges.headStart.min,
    max: textSettingRanges.headStart.max,
  },
  'warm-start': {
    type: 'integer',
    help: 'steps of imitation of scripted players before the first iteration (--model; default 0)',
    min: textSettingRanges.warmStart.min,
    max: textSettingRanges.warmStart.max,
  },
} as const satisfies OptionSpecs;

/** Someone else dreams: any OpenAI-compatible server. The key is read from the environment, never from the command line. */
export const endpointOptions = {
  'dream-endpoint': {
    type: 'string',
    value: 'URL',
    help: 'let an OpenAI-compatible server dream (vLLM, llama.cpp, Ollama); its key in DREAM_ENDPOINT_KEY',
  },
  'dream-model': { type: 'string', value: 'NAME', help: 'the model to ask it for (--dream-endpoint)' },
} as const satisfies OptionSpecs;

/** Null without `--dream-endpoint`. Throws UsageError `bad-option` for half of the two. */
export function givenEndpoint(values: Readonly<Record<string, unknown>>): { baseUrl: string; model: string } | null {
  const { 'dream-endpoint': baseUrl, 'dream-model': model } = values;
  if (typeof baseUrl === 'string' && typeof model === 'string') return { baseUrl, model };
  if (baseUrl === undefined && model === undefined) return null;
  throw new UsageError('bad-option', '--dream-endpoint and --dream-model belong together.', 'Give both, or neither.');
}

/** The settings a person gave, by their names in RunConfig. */
export function givenSettings(values: Readonly<Record<string, unknown>>): Partial<RunConfig> {
  const given: Record<string, unknown> = {};
  for (const key of Object.keys(help)) {
    const value = values[kebab(key)];
    if (typeof value === 'string' || typeof value === 'number') given[key] = value;
  }
  if (values['no-goal-check'] === true) given.goalCheck = false;
  if (values['no-history'] === true) given.history = false;
  if (values['no-step-check'] === true) given.stepCheck = false;
  if (values['mask-truncated'] === true) given.maskTruncated = true;
  return given as Partial<RunConfig>;
}

/** `--model` and what belongs to it. Throws UsageError `bad-option` for what makes no sense without a model. */
export function givenModel(values: Readonly<Record<string, unknown>>): {
  path?: string;
  choice: ModelChoice;
  text: Partial<TextSettings>;
} {
  const path = typeof values.model === 'string' ? values.model : undefined;
  const given = (keys: Readonly<Record<string, string>>) => {
    const found: Record<string, unknown> = {};
    for (const [option, key] of Object.entries(keys)) {
      if (values[option] === undefined || values[option] === false) continue;
      if (path === undefined) throw needsModel(option);
      found[key] = values[option];
    }
    return found;
  };
  return { path, choice: given(modelChoices), text: given(textChoices) };
}

const modelChoices: Readonly<Record<string, keyof ModelChoice>> = {
  rank: 'rank',
  alpha: 'alpha',
  context: 'contextLength',
  parallel: 'parallel',
  precision: 'precision',
};

const textChoices: Readonly<Record<string, keyof TextSettings>> = {
  constrain: 'constrain',
  'thought-tokens': 'thoughtTokens',
  'list-actions': 'listActions',
  'expert-steps': 'expertSteps',
  'dream-form': 'dreamForm',
  'head-start': 'headStart',
  'warm-start': 'warmStart',
};

export function needsModel(option: string): UsageError {
  return new UsageError(
    'bad-option',
    `--${option} is for real models.`,
    'Add --model with a .gguf file or a model folder, or leave it out.',
  );
}
