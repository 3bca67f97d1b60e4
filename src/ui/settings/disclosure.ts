/**
 * @file Which settings a reader meets first, which on request, and which not at all, because they would change nothing.
 *
 * What has no effect is told from the rest of the configuration, as the learner itself reads it, not from the algorithm's
 * name: `dapo` with a critic's advantage is legal, and then the critic's settings are what matters. A changed setting is
 * always shown: what a link says must be seen.
 */
import type { RunConfig } from '../../worker/protocol';
import { type Field, fields, type GroupId, type Key } from './fields';

/** One fold down: what a first run does well without. */
const advanced: ReadonlySet<Key> = new Set<Key>([
  ...(['realIterations', 'realBudget'] as const),
  ...(['taskSelection', 'taskCandidates', 'goalCheck', 'stepCheck'] as const),
  ...(['refreshEvery', 'refreshTransitions', 'minReplayPrecision', 'bufferCapacity'] as const),
  ...(['clipLow', 'clipHigh', 'discount', 'entropyCoef', 'normalization', 'aggregation', 'sampleUnit'] as const),
  ...fields.filter(({ group, key }) => group === 'method' && key !== 'algorithm').map(({ key }) => key),
]);

type Reading = (config: RunConfig) => boolean;

const dreams: Reading = ({ rollouts }) => rollouts === 'dream';
const judgesTurns: Reading = ({ advantage }) =>
  advantage === 'whitened-returns' || advantage === 'anchor-groups' || advantage === 'gae';
const hasCritic: Reading = ({ advantage }) => advantage === 'gae';
const isPulled: Reading = ({ klCoef }) => klCoef > 0;

/** When a setting does something; one that is absent always does. */
const effective: Partial<Record<Key, Reading>> = {
  realIterations: dreams,
  realBudget: (config) => dreams(config) && config.realIterations > 0,
  taskSelection: ({ lambda }) => lambda > 0,
  taskCandidates: ({ lambda, taskSelection }) => lambda > 0 && taskSelection !== 'all',
  retrievalTopK: dreams,
  experienceTemperature: dreams,
  history: dreams,
  goalCheck: dreams,
  stepCheck: dreams,
  refreshEvery: dreams,
  refreshTransitions: (config) => dreams(config) && config.refreshEvery > 0,
  minReplayPrecision: dreams,
  normalization: ({ advantage }) => advantage === 'group' || advantage === 'anchor-groups',
  stepDiscount: judgesTurns,
  stepWeight: ({ advantage }) => advantage === 'anchor-groups',
  gaeLambda: hasCritic,
  valueLevel: hasCritic,
  valueClip: hasCritic,
  valueCoef: hasCritic,
  criticLearningRate: hasCritic,
  klEstimator: isPulled,
  klPlacement: isPulled,
  klTarget: isPulled,
  klHorizon: (config) => isPulled(config) && config.klTarget > 0,
  importanceCap: ({ importanceCorrection }) => importanceCorrection !== 'off',
};

/** False where no value of this setting would change the run. */
export const hasEffect = (key: Key, config: RunConfig): boolean => effective[key]?.(config) ?? true;

export interface Disclosed {
  first: readonly Field[];
  onRequest: readonly Field[];
  /** How many are left out because they would change nothing. */
  hidden: number;
}

export function disclose(group: GroupId, config: RunConfig, changed: ReadonlySet<Key>): Disclosed {
  const all = fields.filter((field) => field.group === group);
  const shown = all.filter(({ key }) => changed.has(key) || hasEffect(key, config));
  return {
    first: shown.filter(({ key }) => !advanced.has(key)),
    onRequest: shown.filter(({ key }) => advanced.has(key)),
    hidden: all.length - shown.length,
  };
}
