/** @file verl's (Ray) configuration of the same run, as YAML. Only numbers and our own words are written bare; a run's text is quoted. */
import type { RunConfig, RunRecord } from '../../../worker/protocol';
import { horizon, kitSettings, responseTokens, verlLoss } from './settings';

type Yaml = string | number | boolean | null | readonly Yaml[] | { readonly [key: string]: Yaml };

const estimators = {
  group: 'grpo',
  'leave-one-out': 'rloo',
  'whitened-returns': 'reinforce_plus_plus',
  'whitened-group': 'reinforce_plus_plus_baseline',
  'anchor-groups': 'grpo',
  gae: 'gae',
} as const satisfies Record<RunConfig['advantage'], string>;

const klTypes = { k1: 'kl', k2: 'mse', k3: 'low_var_kl' } as const satisfies Record<RunConfig['klEstimator'], string>;

export function verlConfig(record: RunRecord, hasAdapter: boolean): string {
  const { config } = record;
  const settings = kitSettings(record);
  const { optimizer } = settings;
  const priced = config.klCoef > 0 && config.klPlacement === 'reward';
  const miniBatch = Math.max(1, Math.floor(config.tasksPerIteration / config.miniBatches));
  return `${yaml({
    hydra: { searchpath: ['pkg://verl.trainer.config'] },
    defaults: ['ppo_trainer', '_self_'],
    data: {
      train_files: 'data/verl-tasks.jsonl',
      val_files: 'data/verl-tasks.jsonl',
      prompt_key: 'prompt',
      train_batch_size: config.tasksPerIteration,
      max_prompt_length: settings.max_prompt_tokens,
      max_response_length: settings.max_response_tokens,
      seed: config.seed,
    },
    algorithm: {
      adv_estimator: estimators[config.advantage],
      norm_adv_by_std_in_grpo: config.normalization === 'group-std',
      gamma: 1,
      lam: config.gaeLambda,
      use_kl_in_reward: priced,
      ...(priced
        ? {
            kl_penalty: klTypes[config.klEstimator],
            kl_ctrl: {
              type: config.klTarget > 0 ? 'adaptive' : 'fixed',
              kl_coef: config.klCoef,
              horizon: config.klHorizon,
              ...(config.klTarget > 0 ? { target_kl: config.klTarget } : {}),
            },
          }
        : {}),
      ...(config.resampleRounds > 0
        ? { filter_groups: { enable: true, metric: 'reward', max_num_gen_batches: 1 + config.resampleRounds } }
        : {}),
    },
    actor_rollout_ref: {
      model: {
        // biome-ignore lint/suspicious/noTemplateCurlyInString: OmegaConf's own interpolation, of an environment variable.
        path: '${oc.env:BASE_MODEL}',
        lora_rank: settings.lora.rank,
        lora_alpha: settings.lora.alpha,
        target_modules: 'all-linear',
        ...(hasAdapter ? { lora_adapter_path: 'adapter' } : {}),
      },
      actor: {
        // In tasks: verl multiplies by the group size itself.
        ppo_mini_batch_size: miniBatch,
        ppo_micro_batch_size_per_gpu: 1,
        ppo_epochs: config.epochs,
        clip_ratio: config.clipLow,
        clip_ratio_low: config.clipLow,
        clip_ratio_high: config.clipHigh,
        // verl always clips dually; a cap that no ratio reaches turns it off.
        clip_ratio_c: config.dualClip > 0 ? config.dualClip : 1e6,
        ...(config.importanceLevel === 'sequence' ? { policy_loss: { loss_mode: 'gspo' } } : {}),
        loss_agg_mode: verlLoss[config.aggregation],
        ...(config.aggregation === 'sequence-sum-norm' ? { loss_scale_factor: horizon(config) } : {}),
        entropy_coeff: config.entropyCoef,
        use_kl_loss: config.klCoef > 0 && !priced,
        kl_loss_coef: config.klCoef,
        kl_loss_type: klTypes[config.klEstimator],
        grad_clip: optimizer.max_grad_norm,
        optim: {
          lr: config.learningRate,
          lr_warmup_steps: settings.warmup_iterations * config.miniBatches,
          lr_scheduler_type: 'constant',
          betas: [optimizer.beta1, optimizer.beta2],
          weight_decay: optimizer.weight_decay,
        },
      },
      ref: { log_prob_micro_batch_size_per_gpu: 1 },
      rollout: {
        name: 'vllm',
        mode: 'async',
        n: config.groupSize,
        temperature: config.temperature,
        response_length: responseTokens(config),
        tensor_model_parallel_size: 1,
        log_prob_micro_batch_size_per_gpu: 1,
        multi_turn: { enable: true, max_assistant_turns: config.maxSteps },
        agent: { default_agent_loop: 'dreamgym_world', agent_loop_config_path: 'agent_loop.yaml' },
      },
    },
    ...(config.advantage === 'gae'
      ? {
          critic: {
            // biome-ignore lint/suspicious/noTemplateCurlyInString: as above.
            model: { path: '${oc.env:BASE_MODEL}' },
            optim: { lr: config.criticLearningRate },
            ppo_micro_batch_size_per_gpu: 1,
            cliprange_value: config.valueClip,
          },
        }
      : {}),
    trainer: {
      total_training_steps: config.iterations,
      total_epochs: config.iterations,
      project_name: 'dreamgym',
      // OmegaConf would fill in what a name holds in ${...}, environment variables included.
      experiment_name: record.runId.replace(/[^\w.-]+/g, '-').slice(0, 80),
      logger: ['console'],
      n_gpus_per_node: 1,
      nnodes: 1,
      save_freq: config.evalEvery,
      test_freq: config.evalEvery,
    },
  })}`;
}

/** Block style; every string is double-quoted JSON, which YAML reads as the same string. */
export function yaml(value: Yaml, indent = ''): string {
  if (Array.isArray(value)) return value.map((item) => `${indent}- ${nested(item, `${indent}  `)}`).join('');
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([key, item]) => {
        const inner = isBlock(item) ? `\n${yaml(item, `${indent}  `)}` : ` ${scalar(item)}\n`;
        return `${indent}${/^[a-z_]+$/.test(key) ? key : scalar(key)}:${inner}`;
      })
      .join('');
  return `${indent}${scalar(value)}\n`;
}

/** An item of a list: its first line stands behind the dash. */
const nested = (item: Yaml, indent: string): string =>
  isBlock(item) ? yaml(item, indent).slice(indent.length) : `${scalar(item)}\n`;

const isBlock = (value: Yaml): value is readonly Yaml[] | { readonly [key: string]: Yaml } =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;

function scalar(value: Yaml): string {
  if (typeof value === 'number') return number(value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[]' : '{}';
  if (typeof value !== 'string') return String(value);
  // JSON leaves these three alone, YAML would read them as line breaks or refuse them.
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** `1e-7` is text to a YAML 1.1 reader, `1.0e-07` is a number. */
function number(value: number): string {
  const [, whole, fraction, exponent] = /^(-?\d+)(\.\d+)?e([+-]?\d+)$/.exec(String(value)) ?? [];
  return exponent === undefined ? String(value) : `${whole}${fraction ?? '.0'}e${exponent.replace(/^(\d)/, '+$1')}`;
}

export const agentLoopConfig = yaml([{ name: 'dreamgym_world', _target_: 'dreamgym_agent_loop.WorldAgentLoop' }]);
