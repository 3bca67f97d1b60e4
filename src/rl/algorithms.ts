/**
 * @file The named algorithms as what they are: a choice of advantage, of ratio and loss, and of aggregation.
 *
 * Nothing in the learner asks for a name. A name fills in settings, between the preset's and those a person gives, and each of
 * them can be given otherwise: `dapo` with `normalization: 'group-mean'` is a legal thing to try.
 */
import type { CorrectionMode, GroupBaseline } from './advantage-kernels';
import type { Aggregation, SampleUnit } from './aggregation';
import type { KlEstimator } from './kernels/kl';
import type { ImportanceLevel } from './kernels/policy-loss';

export const algorithmNames = [
  'grpo',
  'dr-grpo',
  'dapo',
  'gspo',
  'rloo',
  'reinforce++',
  'reinforce++-baseline',
  'gigpo',
  'ppo',
] as const;
export type AlgorithmName = (typeof algorithmNames)[number];

/**
 * Who is praised for a reward:
 *   group                  the episode, against its group (GRPO and its kin)
 *   leave-one-out          the episode, against the mean of the others of its group (RLOO)
 *   whitened-returns       every token, by the return that follows it, whitened over the batch (REINFORCE++)
 *   whitened-group         the episode against its group's mean, whitened over the batch's tokens (REINFORCE++ with baseline)
 *   anchor-groups          the episode against its group, and each turn against the turns that saw the same (GiGPO)
 *   gae                    every token or turn, against a critic (PPO)
 */
export const advantageEstimators = [
  'group',
  'leave-one-out',
  'whitened-returns',
  'whitened-group',
  'anchor-groups',
  'gae',
] as const;
export type AdvantageEstimator = (typeof advantageEstimators)[number];

export type Normalization = Exclude<GroupBaseline, 'leave-one-out'>;

/** Everything the learner is told. A run's settings are a superset of it. */
export interface LearnerSettings {
  // Advantage.
  advantage: AdvantageEstimator;
  /** Of `group` and `anchor-groups`. */
  normalization: Normalization;
  /** Of the rewards, per turn, in the return of a whole episode. */
  discount: number;
  /** Per turn, where turns or tokens are credited one by one (whitened-returns, anchor-groups, gae). */
  stepDiscount: number;
  /** Weight of the turn's own advantage beside its episode's (GiGPO's omega). */
  stepWeight: number;
  gaeLambda: number;
  /** What the critic values: every token's state, or only the one before each turn. */
  valueLevel: 'token' | 'turn';
  /** Episodes that the step limit cut off count for the others' baseline but bear no loss. */
  maskTruncated: boolean;

  // Loss.
  importanceLevel: ImportanceLevel;
  clipLow: number;
  clipHigh: number;
  /** Caps the loss of unlikely tokens with negative advantage (verl's c); 0 = off. */
  dualClip: number;
  entropyCoef: number;
  /** 0 = no reference is asked. */
  klCoef: number;
  klEstimator: KlEstimator;
  /** A term of the loss, or a price subtracted from the reward. */
  klPlacement: 'loss' | 'reward';
  /** KL that the coefficient is steered to; 0 = it stays as it is. */
  klTarget: number;
  /** Episodes over which the steering works. */
  klHorizon: number;
  importanceCorrection: 'off' | CorrectionMode;
  importanceCap: number;
  valueClip: number;
  /** Share of the value loss' gradient that reaches the trunk. */
  valueCoef: number;
  criticLearningRate: number;

  // Aggregation and schedule.
  aggregation: Aggregation;
  sampleUnit: SampleUnit;
  miniBatches: number;
  /** Passes over one iteration's episodes. */
  epochs: number;
  /** Peak rate; see `scheduledRate`. */
  learningRate: number;
}

/** Settings that an algorithm may bring, and one that belongs to the collection of experience. */
export type AlgorithmSettings = Partial<Omit<LearnerSettings, 'learningRate' | 'miniBatches'>> & {
  /** Further rounds of rollouts for groups that all won or all lost (DAPO's dynamic sampling). */
  resampleRounds?: number;
};

/** What every algorithm starts from: GRPO as this program has always run it. A setting absent here is the preset's. */
export const neutralSettings = {
  advantage: 'group',
  stepDiscount: 1,
  stepWeight: 1,
  gaeLambda: 1,
  valueLevel: 'token',
  maskTruncated: false,
  importanceLevel: 'token',
  dualClip: 3,
  klEstimator: 'k3',
  klPlacement: 'loss',
  klTarget: 0,
  klHorizon: 10_000,
  importanceCorrection: 'off',
  importanceCap: 3,
  valueClip: 0.5,
  valueCoef: 0.1,
  criticLearningRate: 3e-3,
  epochs: 1,
  resampleRounds: 0,
} as const satisfies AlgorithmSettings;

/** The table. Values are the papers' where they name one, else verl's. */
export const algorithms: Readonly<Record<AlgorithmName, AlgorithmSettings>> = {
  /** Shao et al. 2024. */
  grpo: {},
  /** Liu et al. 2025: neither the spread of a group nor the length of an answer may scale the step. */
  'dr-grpo': { normalization: 'group-mean', aggregation: 'sequence-sum-norm' },
  /** Yu et al. 2025: clip-higher, every token counts alike, groups without signal are drawn again. */
  dapo: { clipLow: 0.2, clipHigh: 0.28, aggregation: 'token-mean', resampleRounds: 3 },
  /** Zheng et al. 2025: one ratio per answer; a mean log-ratio moves little, hence the narrow clip. */
  gspo: { importanceLevel: 'sequence', clipLow: 3e-4, clipHigh: 4e-4, dualClip: 0, aggregation: 'sequence-mean' },
  /** Ahmadian et al. 2024; the KL, where it costs something, is a price on the reward. */
  rloo: { advantage: 'leave-one-out', klPlacement: 'reward', klEstimator: 'k1' },
  /** Hu 2025: no groups at all. */
  'reinforce++': {
    advantage: 'whitened-returns',
    klPlacement: 'reward',
    klEstimator: 'k1',
    clipHigh: 0.2,
    aggregation: 'token-mean',
  },
  'reinforce++-baseline': {
    advantage: 'whitened-group',
    klEstimator: 'k2',
    clipHigh: 0.2,
    aggregation: 'token-mean',
  },
  /** Feng et al. 2025. */
  gigpo: { advantage: 'anchor-groups', stepDiscount: 0.95, clipHigh: 0.2 },
  /** Schulman et al. 2017, as verl runs it. */
  ppo: { advantage: 'gae', clipHigh: 0.2, klPlacement: 'reward', klEstimator: 'k1', aggregation: 'token-mean' },
};

/** What choosing a name changes against a preset. */
export function settingsOf(name: AlgorithmName): AlgorithmSettings {
  return { ...neutralSettings, ...algorithms[name] };
}

/** Whether rollouts are compared within a group: such a group needs two. */
export function needsGroups(advantage: AdvantageEstimator): boolean {
  return advantage !== 'gae' && advantage !== 'whitened-returns';
}
