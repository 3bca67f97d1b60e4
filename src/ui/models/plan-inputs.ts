/** @file The plan's inputs as steps of a slider, and what they mean. Pure. */
import type { ModelFacts, PlanAnswer, PlanInputs } from '../../worker/models/protocol';

const GIB = 2 ** 30;
/** The engine's own default; longer contexts are asked for by hand. */
const usualContext = 2048;
const shortest = 64;

export type SliderKey = 'rank' | 'contextLength' | 'streams' | 'passTokens';

export interface Slider {
  key: SliderKey;
  label: string;
  help: string;
  /** As the value is read out and shown. */
  words(value: number): string;
}

export const sliders: readonly Slider[] = [
  {
    key: 'rank',
    label: 'LoRA rank',
    help: 'How much the adapter can learn. 0: the model is only used, not trained.',
    words: (value) => (value === 0 ? '0 (no training)' : String(value)),
  },
  {
    key: 'contextLength',
    label: 'Context',
    help: 'The longest text, prompt and answer together.',
    words: (value) => `${value.toLocaleString('en-US')} tokens`,
  },
  {
    key: 'streams',
    label: 'Episodes at once',
    help: 'How many attempts are generated together; each needs its own cache.',
    words: (value) => String(value),
  },
  {
    key: 'passTokens',
    label: 'Tokens per pass',
    help: 'How much is read in one forward and backward pass of training.',
    words: (value) => `${value.toLocaleString('en-US')} tokens`,
  },
];

/** The steps of a slider for this model. */
export function stepsOf(key: SliderKey, longest: number): readonly number[] {
  if (key === 'rank') return [0, 4, 8, 16, 32, 64, 128];
  if (key === 'streams') return [1, 2, 4, 8, 16, 32, 64];
  if (key === 'passTokens') return [256, 512, 1024, 2048, 4096, 8192];
  const steps: number[] = [];
  for (let tokens = shortest; tokens < Math.min(longest, 131_072); tokens *= 2) steps.push(tokens);
  return [...steps, Math.min(longest, 131_072)];
}

export const defaultInputs: PlanInputs = {
  rank: 0,
  contextLength: usualContext,
  streams: 1,
  passTokens: 2048,
  budgetBytes: 4 * GIB,
};

/** What was set for another model, as far as this one allows it. */
export function inputsFor({ config }: Pick<ModelFacts, 'config'>, inputs: PlanInputs): PlanInputs {
  const steps = stepsOf('contextLength', config.contextLength);
  const fitting = steps.filter((step) => step <= Math.max(inputs.contextLength, steps[0]));
  return { ...inputs, contextLength: fitting[fitting.length - 1] };
}

export const budgetGib = ({ budgetBytes }: PlanInputs): number => budgetBytes / GIB;

/** Null for what is no amount of memory. */
export function budgetOf(text: string): number | null {
  const gib = Number(text.replace(',', '.'));
  return text.trim() !== '' && gib >= 0.1 && gib <= 1024 ? gib * GIB : null;
}

export interface Bar {
  label: string;
  bytes: number;
  /** 0..1 of the scale shared by all bars. */
  share: number;
  /** The smaller of the two phases that never meet: not part of the sum. */
  spare: boolean;
}

/** Generating and training take turns; only the larger of the two counts. */
export function barsOf(plan: PlanAnswer, budgetBytes: number): { bars: Bar[]; budgetShare: number } {
  const scale = Math.max(budgetBytes, plan.plannedGpuBytes, plan.generation, plan.training);
  const trains = plan.training > plan.generation;
  const rows: [label: string, bytes: number, spare: boolean][] = [
    ['Weights', plan.weights, false],
    ['Adapter', plan.adapter, false],
    ['Tables', plan.tables, false],
    ['Generating: cache', plan.keyValueCache, trains],
    ['Generating: the rest', Math.max(0, plan.generation - plan.keyValueCache), trains],
    ['Training pass', plan.training, !trains],
  ];
  const bars = rows.map(([label, bytes, spare]) => ({ label, bytes, share: bytes / scale, spare }));
  return { bars: bars.filter(({ bytes }) => bytes > 0), budgetShare: budgetBytes / scale };
}

export const verdictWords: Record<PlanAnswer['verdict'], string> = {
  fits: 'fits',
  tight: 'tight',
  no: 'does not fit',
};
