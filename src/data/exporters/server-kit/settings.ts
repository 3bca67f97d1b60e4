/**
 * @file A run's algorithm settings in the words of TRL (1.16) and verl (0.9): the same GRPO, as far as each can say it.
 *
 * What an engine has no word for is told in `differences`, which the kit's README prints: nothing is lost silently.
 */
import type { RunConfig, RunRecord } from '../../../worker/protocol';

/** verl's dual-clip constant, which our loss has too. */
const dualClip = 3;
/** Thought and action of one turn, tokens; ours has the same limit. */
export const turnTokens = 64;
/** Room for what the world says, per turn. */
const observationTokens = 192;
const promptTokens = 1024;

/** Plain JSON: written into settings.json, read by the kit's Python. */
export interface KitSettings {
  run: string;
  seed: number;
  /** Of the base model that the adapter belongs to; null for the embedded one. */
  base: { label: string; sha256: string } | null;
  lora: { rank: number; alpha: number };
  max_turns: number;
  turn_tokens: number;
  max_prompt_tokens: number;
  max_response_tokens: number;
  discount: number;
  tasks_per_iteration: number;
  group_size: number;
  mini_batches: number;
  iterations: number;
  optimizer: { beta1: number; beta2: number; epsilon: number; weight_decay: number; max_grad_norm: number };
  warmup_iterations: number;
  decay_share: number;
  /** Keyword arguments of GRPOConfig. */
  trl: Record<string, string | number>;
  differences: { trl: string[]; verl: string[] };
}

const trlScale = { 'group-std': 'group', 'group-mean': 'none', 'batch-std': 'batch' } as const;
const trlLoss = { 'token-mean': 'dapo', 'sequence-mean': 'grpo', 'sequence-sum-norm': 'dr_grpo' } as const;
export const verlLoss = {
  'token-mean': 'token-mean',
  'sequence-mean': 'seq-mean-token-mean',
  'sequence-sum-norm': 'seq-mean-token-sum-norm',
} as const;

export const responseTokens = (config: RunConfig): number => config.maxSteps * (turnTokens + observationTokens);
/** Our horizon counts what the policy may say, not what it is told. */
export const horizon = (config: RunConfig): number =>
  config.sampleUnit === 'step' ? turnTokens : config.maxSteps * turnTokens;

export function kitSettings(record: RunRecord): KitSettings {
  const { config, model } = record;
  return {
    run: record.runId,
    seed: config.seed,
    base: model ? { label: model.label, sha256: model.sha256 } : null,
    lora: { rank: model?.rank ?? 16, alpha: model?.alpha ?? 32 },
    max_turns: config.maxSteps,
    turn_tokens: turnTokens,
    max_prompt_tokens: promptTokens,
    max_response_tokens: responseTokens(config),
    discount: config.discount,
    tasks_per_iteration: config.tasksPerIteration,
    group_size: config.groupSize,
    mini_batches: config.miniBatches,
    iterations: config.iterations,
    optimizer: { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weight_decay: 0, max_grad_norm: 1 },
    warmup_iterations: 3,
    decay_share: 1 / 3,
    trl: {
      learning_rate: config.learningRate,
      num_generations: config.groupSize,
      temperature: config.temperature,
      beta: config.klCoef,
      epsilon: config.clipLow,
      epsilon_high: config.clipHigh,
      delta: dualClip,
      entropy_coef: config.entropyCoef,
      scale_rewards: trlScale[config.normalization],
      loss_type: trlLoss[config.aggregation],
      num_iterations: 1,
      seed: config.seed,
    },
    differences: differencesOf(config),
  };
}

function differencesOf(config: RunConfig): KitSettings['differences'] {
  const trl: string[] = [];
  const verl: string[] = [];
  if (config.sampleUnit === 'step') {
    trl.push('The run weighs every turn as a sample of its own (sampleUnit step); TRL weighs whole episodes.');
    verl.push('The run weighs every turn as a sample of its own (sampleUnit step); verl weighs whole episodes.');
  }
  if (config.aggregation === 'sequence-sum-norm')
    trl.push(
      `The run divides by ${horizon(config)} tokens (what the policy may say); TRL divides by max_completion_length.`,
    );
  if (config.normalization === 'batch-std')
    verl.push(
      'The run scales advantages by the deviation of the whole batch; verl has group deviation or none: none is set.',
    );
  if (config.lambda > 0) {
    const note = 'The run grows new tasks while it trains; here the task list of the export is fixed.';
    trl.push(note);
    verl.push(note);
  }
  verl.push('The run lowers the learning rate over its last third; verl keeps it constant after the warm-up.');
  trl.push('TRL lets the policy act through tool calls; the run and verl use lines of "Action: ...".');
  return { trl, verl };
}
