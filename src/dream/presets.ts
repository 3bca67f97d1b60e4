/**
 * @file The named settings of a run, and the gate every setting passes: from the page, a link, a file or a terminal.
 *
 * Values are the recipe's where it measured, else ours: the paper publishes neither k nor group size nor lambda
 * (dreamgym.md, 1.5), so those are labelled as our defaults in the page.
 */
import * as v from 'valibot';
import { DreamError } from '../data/errors';
import {
  type AlgorithmName,
  advantageEstimators,
  algorithmNames,
  needsGroups,
  neutralSettings,
  settingsOf,
} from '../rl/algorithms';
import { type PresetName, presetNames, type RunConfig } from '../worker/protocol';

const householdTiny: RunConfig = {
  ...neutralSettings,
  preset: 'household-tiny',
  algorithm: 'grpo',
  seed: 1,
  iterations: 50,
  rollouts: 'dream',
  tasksPerIteration: 16,
  groupSize: 8,
  maxSteps: 16,
  temperature: 1,
  learningRate: 3e-4,
  clipLow: 0.2,
  clipHigh: 0.28,
  klCoef: 0,
  discount: 1,
  entropyCoef: 0,
  normalization: 'group-std',
  aggregation: 'sequence-mean',
  sampleUnit: 'episode',
  miniBatches: 2,
  realIterations: 0,
  realBudget: 0,
  lambda: 0.25,
  taskSelection: 'all',
  taskCandidates: 4,
  retrievalTopK: 1,
  experienceTemperature: 0.3,
  history: true,
  goalCheck: true,
  stepCheck: true,
  refreshEvery: 0,
  refreshTransitions: 200,
  minReplayPrecision: 0.4,
  evalEvery: 10,
  evalTasks: 200,
  bufferCapacity: 40_000,
};

export const presets: Readonly<Record<PresetName, RunConfig>> = {
  'household-tiny': householdTiny,
  /** Same method, a third of the work: for a first look, weak machines and tests. */
  'household-quick': {
    ...householdTiny,
    preset: 'household-quick',
    iterations: 10,
    tasksPerIteration: 8,
    groupSize: 6,
    evalEvery: 5,
    evalTasks: 60,
    bufferCapacity: 20_000,
  },
};

type NumericKey = { [K in keyof RunConfig]: RunConfig[K] extends number ? K : never }[keyof RunConfig];

export interface NumberRange {
  min: number;
  max: number;
  integer: boolean;
}

/** What each number may be. The page builds its fields from the same table. */
export const numberRanges: Readonly<Record<NumericKey, NumberRange>> = {
  seed: { min: 0, max: 0xffff_ffff, integer: true },
  iterations: { min: 1, max: 1000, integer: true },
  tasksPerIteration: { min: 1, max: 64, integer: true },
  groupSize: { min: 1, max: 32, integer: true },
  maxSteps: { min: 1, max: 20, integer: true },
  temperature: { min: 0.05, max: 2, integer: false },
  learningRate: { min: 0, max: 0.01, integer: false },
  clipLow: { min: 0.0001, max: 0.99, integer: false },
  clipHigh: { min: 0.0001, max: 5, integer: false },
  klCoef: { min: 0, max: 1, integer: false },
  discount: { min: 0.5, max: 1, integer: false },
  entropyCoef: { min: 0, max: 0.1, integer: false },
  miniBatches: { min: 1, max: 16, integer: true },
  epochs: { min: 1, max: 16, integer: true },
  stepDiscount: { min: 0, max: 1, integer: false },
  stepWeight: { min: 0, max: 10, integer: false },
  gaeLambda: { min: 0, max: 1, integer: false },
  dualClip: { min: 0, max: 100, integer: false },
  klTarget: { min: 0, max: 10, integer: false },
  klHorizon: { min: 1, max: 1_000_000, integer: false },
  importanceCap: { min: 1, max: 100, integer: false },
  valueClip: { min: 0, max: 10, integer: false },
  valueCoef: { min: 0, max: 10, integer: false },
  criticLearningRate: { min: 0, max: 0.1, integer: false },
  resampleRounds: { min: 0, max: 10, integer: true },
  realIterations: { min: 0, max: 1000, integer: true },
  realBudget: { min: 0, max: 10_000_000, integer: true },
  lambda: { min: 0, max: 1, integer: false },
  taskCandidates: { min: 2, max: 16, integer: true },
  retrievalTopK: { min: 0, max: 4, integer: true },
  experienceTemperature: { min: 0, max: 2, integer: false },
  refreshEvery: { min: 0, max: 1000, integer: true },
  refreshTransitions: { min: 1, max: 100_000, integer: true },
  minReplayPrecision: { min: 0, max: 1, integer: false },
  evalEvery: { min: 1, max: 1000, integer: true },
  evalTasks: { min: 10, max: 1000, integer: true },
  bufferCapacity: { min: 100, max: 200_000, integer: true },
};

export const choices = {
  preset: presetNames,
  rollouts: ['dream', 'real'],
  normalization: ['group-std', 'group-mean', 'batch-std'],
  aggregation: ['token-mean', 'sequence-mean', 'sequence-sum-norm'],
  sampleUnit: ['episode', 'step'],
  taskSelection: ['all', 'most-challenging'],
  algorithm: algorithmNames,
  advantage: advantageEstimators,
  importanceLevel: ['token', 'sequence'],
  valueLevel: ['token', 'turn'],
  klEstimator: ['k1', 'k2', 'k3'],
  klPlacement: ['loss', 'reward'],
  importanceCorrection: ['off', 'token-truncate', 'token-mask', 'sequence-truncate', 'sequence-mask'],
} as const;

const number = ({ min, max, integer }: NumberRange) => {
  const message = `must be ${integer ? 'a whole number' : 'a number'} from ${min} to ${max}`;
  return v.pipe(
    v.number(message),
    v.check((x) => Number.isFinite(x) && x >= min && x <= max && (!integer || Number.isInteger(x)), message),
  );
};
const choice = <const T extends readonly string[]>(options: T) =>
  v.picklist(options, `must be one of ${options.join(', ')}`);

const numbers = Object.fromEntries(
  Object.entries(numberRanges).map(([key, range]) => [key, number(range)]),
) as unknown as Record<NumericKey, v.GenericSchema<number>>;

export const runConfigSchema = v.strictObject({
  ...numbers,
  preset: choice(choices.preset),
  rollouts: choice(choices.rollouts),
  normalization: choice(choices.normalization),
  aggregation: choice(choices.aggregation),
  sampleUnit: choice(choices.sampleUnit),
  taskSelection: choice(choices.taskSelection),
  algorithm: choice(choices.algorithm),
  advantage: choice(choices.advantage),
  importanceLevel: choice(choices.importanceLevel),
  valueLevel: choice(choices.valueLevel),
  klEstimator: choice(choices.klEstimator),
  klPlacement: choice(choices.klPlacement),
  importanceCorrection: choice(choices.importanceCorrection),
  maskTruncated: v.boolean('must be true or false'),
  history: v.boolean('must be true or false'),
  goalCheck: v.boolean('must be true or false'),
  stepCheck: v.boolean('must be true or false'),
});

const isAlgorithm = (name: unknown): name is AlgorithmName =>
  typeof name === 'string' && (algorithmNames as readonly string[]).includes(name);

/** A preset with what an algorithm brings: what a setting falls back to. The preset's own algorithm changes nothing. */
export function baseConfig(preset: PresetName, algorithm: AlgorithmName = presets[preset].algorithm): RunConfig {
  const base = presets[preset];
  return algorithm === base.algorithm ? base : { ...base, ...settingsOf(algorithm), algorithm };
}

/** What each setting goes back to: the preset's value, or the chosen algorithm's. */
export function settingsBase({ preset, algorithm }: Pick<RunConfig, 'preset' | 'algorithm'>): RunConfig {
  return { ...baseConfig(preset, algorithm), algorithm: presets[preset].algorithm };
}

/** The same configuration under another algorithm: what was changed by hand stays, the rest is the algorithm's. */
export function withAlgorithm(config: RunConfig, algorithm: AlgorithmName): RunConfig {
  const before = baseConfig(config.preset, config.algorithm);
  const own = Object.entries(config).filter(([key, value]) => value !== before[key as keyof RunConfig]);
  return { ...baseConfig(config.preset, algorithm), ...Object.fromEntries(own), algorithm };
}

/** A configuration with changes to it, as for a run that is continued: another algorithm brings its settings. */
export function changedConfig(config: RunConfig, changes: Partial<RunConfig>): RunConfig {
  const { algorithm } = changes;
  const brought = isAlgorithm(algorithm) && algorithm !== config.algorithm ? settingsOf(algorithm) : {};
  return checkConfig({ ...config, ...brought, ...changes });
}

/**
 * A whole, checked configuration from a few settings: those given override their algorithm's, and these their preset's.
 * Throws DreamError `config-invalid`, naming each wrong setting and what it may be.
 */
export function resolveConfig(settings: unknown): RunConfig {
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings))
    throw invalid(['the settings must be an object']);
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
  const name = given.preset ?? 'household-tiny';
  const preset = typeof name === 'string' && Object.hasOwn(presets, name) ? presets[name as PresetName] : null;
  if (!preset) throw invalid([`preset must be one of ${presetNames.join(', ')}`]);
  const algorithm = given.algorithm ?? preset.algorithm;
  return checkConfig({ ...(isAlgorithm(algorithm) ? baseConfig(preset.preset, algorithm) : preset), ...given });
}

/** Checks a whole configuration, e.g. one read from a file. Throws DreamError `config-invalid`. */
export function checkConfig(config: unknown): RunConfig {
  // Runs of before a setting existed did what its neutral value does.
  const earlier = {
    discount: 1,
    algorithm: 'grpo',
    realIterations: 0,
    realBudget: 0,
    history: true,
    taskSelection: 'all',
    taskCandidates: 4,
    refreshEvery: 0,
    refreshTransitions: 200,
    ...neutralSettings,
  };
  const whole = typeof config === 'object' && config !== null ? { ...earlier, ...config } : config;
  const result = v.safeParse(runConfigSchema, whole);
  if (result.success) return checkTogether(result.output as RunConfig);
  throw invalid(
    result.issues.map((issue) => {
      const key = v.getDotPath(issue) ?? '';
      if (issue.type !== 'strict_object') return `${key} ${issue.message}`;
      return issue.received === 'undefined' ? `${key} is missing` : `"${key}" is not a setting`;
    }),
  );
}

/** What each setting allows and the whole does not. */
function checkTogether(config: RunConfig): RunConfig {
  const problems: string[] = [];
  if (needsGroups(config.advantage) && config.groupSize < 2)
    problems.push(
      `groupSize must be at least 2 for the advantage "${config.advantage}" (a rollout alone has nothing to be compared with; ` +
        'ppo and reinforce++ can do with one)',
    );
  if (config.klTarget > 0 && config.klCoef === 0)
    problems.push('klCoef must be above 0 where klTarget steers it (a coefficient of 0 stays 0)');
  if (config.realIterations > config.iterations)
    problems.push('realIterations must be at most iterations (they are the last ones)');
  if (config.realBudget > 0 && config.realBudget < config.groupSize * config.maxSteps)
    problems.push(
      `realBudget must be at least groupSize x maxSteps = ${config.groupSize * config.maxSteps} (one group), or 0 for no limit`,
    );
  if (config.refreshEvery > 0 && config.refreshTransitions < config.maxSteps)
    problems.push(`refreshTransitions must be at least maxSteps = ${config.maxSteps} (one episode)`);
  if (problems.length > 0) throw invalid(problems);
  return config;
}

function invalid(problems: string[]): DreamError {
  return new DreamError(
    'config-invalid',
    `These settings cannot be used: ${problems.join('; ')}.`,
    'Correct the named settings, or leave them out to take the preset’s value.',
  );
}
