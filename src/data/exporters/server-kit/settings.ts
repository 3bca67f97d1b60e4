/**
 * @file A run's algorithm settings in the words of TRL (1.16) and verl (0.9): the same GRPO, as far as each can say it.
 *
 * What an engine has no word for is told in `differences`, which the kit's README prints: nothing is lost silently.
 */
import type { RunConfig, RunRecord } from '../../../worker/protocol';

/** Thought and action of one turn, tokens: as much as our policy of words may say. */
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
  epochs: number;
  iterations: number;
  optimizer: { beta1: number; beta2: number; epsilon: number; weight_decay: number; max_grad_norm: number };
  warmup_iterations: number;
  decay_share: number;
  /** Keyword arguments of GRPOConfig. */
  trl: Record<string, string | number | boolean>;
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
    epochs: config.epochs,
    iterations: config.iterations,
    optimizer: { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weight_decay: 0, max_grad_norm: 1 },
    warmup_iterations: 3,
    decay_share: 1 / 3,
    trl: trlArguments(config),
    differences: { trl: trlDifferences(config), verl: verlDifferences(config) },
  };
}

function trlArguments(config: RunConfig): KitSettings['trl'] {
  const corrected = config.importanceCorrection !== 'off';
  return {
    learning_rate: config.learningRate,
    num_generations: config.groupSize,
    num_iterations: config.epochs,
    temperature: config.temperature,
    beta: config.klCoef,
    epsilon: config.clipLow,
    epsilon_high: config.clipHigh,
    // Two-sided clipping is the dual clip under another name: it caps the ratio where the advantage is negative.
    ...(config.dualClip > 0 ? { delta: config.dualClip } : {}),
    entropy_coef: config.entropyCoef,
    scale_rewards: trlScale[config.normalization],
    loss_type: trlLoss[config.aggregation],
    importance_sampling_level: config.importanceLevel,
    mask_truncated_completions: config.maskTruncated,
    vllm_importance_sampling_correction: corrected,
    ...(corrected
      ? {
          vllm_importance_sampling_mode: config.importanceCorrection.replace('-', '_'),
          vllm_importance_sampling_clip_max: config.importanceCap,
        }
      : {}),
    seed: config.seed,
  };
}

function trlDifferences(config: RunConfig): string[] {
  const notes = [
    'TRL lets the policy act through tool calls; the run and verl use lines of "Action: ...".',
    ...(config.advantage === 'group'
      ? []
      : [`The run's advantage is ${config.advantage}; TRL's GRPO compares with the group. verl has more of them.`]),
    ...(config.klCoef > 0 && config.klPlacement === 'reward'
      ? ['The run subtracts the KL from the reward; TRL adds it to the loss.']
      : []),
    ...(config.klCoef > 0 && config.klEstimator !== 'k3'
      ? [`The run estimates the KL by ${config.klEstimator}; TRL by k3.`]
      : []),
    ...(config.klTarget > 0 ? ['The run steers its KL coefficient; TRL keeps it.'] : []),
    ...(config.resampleRounds > 0 ? ['The run draws groups without signal again; TRL keeps them.'] : []),
    ...(config.aggregation === 'sequence-sum-norm'
      ? [
          `The run divides by ${horizon(config)} tokens (what the policy may say); TRL divides by max_completion_length.`,
        ]
      : []),
  ];
  return [...notes, ...inBoth(config, 'TRL')];
}

function verlDifferences(config: RunConfig): string[] {
  const notes = [
    'The run lowers the learning rate over its last third; verl keeps it constant after the warm-up.',
    ...(config.advantage === 'anchor-groups'
      ? ['The run also compares turns that saw the same (GiGPO); verl compares whole episodes. verl-agent has GiGPO.']
      : []),
    ...(config.advantage === 'gae'
      ? ["verl's critic is a second model beside the policy; the run's is a head on it."]
      : []),
    ...(config.normalization === 'batch-std' && config.advantage === 'group'
      ? ['The run scales advantages by the deviation of the whole batch; verl knows the group deviation or none: none.']
      : []),
    ...(config.maskTruncated ? ['The run gives no loss to episodes that were cut off; verl does.'] : []),
    ...(config.importanceCorrection === 'off'
      ? []
      : [
          `The run corrects by importance (${config.importanceCorrection}); set algorithm.rollout_correction to do so.`,
        ]),
    ...(config.stepDiscount < 1
      ? ['The run discounts turn by turn; verl would token by token: it does not here.']
      : []),
  ];
  return [...notes, ...inBoth(config, 'verl')];
}

function inBoth(config: RunConfig, engine: string): string[] {
  return [
    ...(config.sampleUnit === 'step'
      ? [`The run weighs every turn as a sample of its own (sampleUnit step); ${engine} weighs whole episodes.`]
      : []),
    ...(config.lambda > 0
      ? ['The run grows new tasks while it trains; here the list of tasks is that of the export.']
      : []),
  ];
}
