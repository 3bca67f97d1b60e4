/**
 * @file Every setting of a run: its name, its bounds and one sentence that says what it does.
 *
 * The form, the link, the validation and the help all read this one table; the bounds are the trainer's own.
 */
import { numberRanges } from '../../dream/presets';
import { presetNames, type RunConfig } from '../../worker/protocol';

export type Key = keyof RunConfig;

interface FieldBase<K extends Key> {
  key: K;
  label: string;
  /** One sentence. */
  help: string;
  group: GroupId;
}

export interface NumberField extends FieldBase<Key> {
  kind: 'number';
  min: number;
  max: number;
  step: number;
  whole: boolean;
}

export interface ChoiceField extends FieldBase<Key> {
  kind: 'choice';
  options: readonly { value: string; label: string }[];
}

export interface SwitchField extends FieldBase<Key> {
  kind: 'switch';
}

export type Field = NumberField | ChoiceField | SwitchField;

export const groups = [
  { id: 'run', title: 'The run', about: 'What to train, for how long, and from which seed.' },
  { id: 'practice', title: 'Practice', about: 'How many episodes the agent plays before each lesson.' },
  { id: 'dream', title: 'The dream', about: 'How the imagined world answers, and when we stop believing it.' },
  { id: 'learning', title: 'Learning', about: 'How strongly the agent changes after each lesson.' },
  { id: 'checking', title: 'Checking', about: 'How often the real world is asked. Its answers are never trained on.' },
] as const;
export type GroupId = (typeof groups)[number]['id'];

const numeric = (
  key: keyof typeof numberRanges,
  group: GroupId,
  label: string,
  step: number,
  help: string,
): NumberField => {
  const { min, max, integer } = numberRanges[key];
  return { kind: 'number', key, group, label, min, max, step, whole: integer, help };
};

const choice = (
  key: Key,
  group: GroupId,
  label: string,
  options: readonly (readonly [value: string, label: string])[],
  help: string,
): ChoiceField => ({
  kind: 'choice',
  key,
  group,
  label,
  options: options.map(([value, text]) => ({ value, label: text })),
  help,
});

const presetLabels: Record<(typeof presetNames)[number], string> = {
  'household-tiny': 'Household, full length',
  'household-quick': 'Household, a quick taste',
};

export const fields: readonly Field[] = [
  choice(
    'preset',
    'run',
    'Preset',
    presetNames.map((name) => [name, presetLabels[name]] as const),
    'A tested set of all settings below; choosing one resets them.',
  ),
  numeric(
    'seed',
    'run',
    'Seed',
    1,
    'The number all chance is drawn from: same seed, same settings and same GPU give the same run.',
  ),
  numeric('iterations', 'run', 'Iterations', 1, 'How many times the agent practises and then learns from it.'),
  choice(
    'rollouts',
    'run',
    'Practise in',
    [
      ['dream', 'the dream'],
      ['real', 'the real world'],
    ],
    'Where training episodes happen: imagined by the model, or, for comparison, in the real world itself.',
  ),

  numeric(
    'tasksPerIteration',
    'practice',
    'Tasks per iteration',
    1,
    'How many different tasks the agent tries in one iteration.',
  ),
  numeric(
    'groupSize',
    'practice',
    'Tries per task',
    1,
    'How often each task is tried; the tries are compared with each other to see which went better than usual.',
  ),
  numeric('maxSteps', 'practice', 'Turns allowed', 1, 'An episode ends as a failure after this many turns.'),
  numeric(
    'temperature',
    'practice',
    'Agent temperature',
    0.05,
    'How adventurous the agent is while practising: low repeats its favourite action, high explores.',
  ),

  numeric(
    'lambda',
    'dream',
    'Share of invented tasks',
    0.05,
    'At most this part of the tasks is invented by the model; the rest is given (the paper’s lambda).',
  ),
  numeric(
    'retrievalTopK',
    'dream',
    'Memories per turn',
    1,
    'How many similar remembered steps the dream may look at before it answers.',
  ),
  numeric(
    'experienceTemperature',
    'dream',
    'Dream temperature',
    0.05,
    'How freely the dream imagines: 0 always gives its most likely answer.',
  ),
  {
    kind: 'switch',
    key: 'goalCheck',
    group: 'dream',
    label: 'Check dreamed successes',
    help: 'Lets the dreamed story decide: a success it does not contain is refused, one it contains is granted.',
  },
  {
    kind: 'switch',
    key: 'stepCheck',
    group: 'dream',
    label: 'Check dreamed steps',
    help: 'Holds an imagined step against what the dream showed before: what it ruled out fails, what else contradicts it is asked again.',
  },
  numeric(
    'minReplayPrecision',
    'dream',
    'Stop below precision',
    0.05,
    'Ends the run when too few dreamed successes turn out to be true in the real world; 0 never stops.',
  ),
  numeric(
    'bufferCapacity',
    'dream',
    'Memory size',
    1,
    'How many remembered steps are kept; the oldest are forgotten first.',
  ),

  numeric(
    'learningRate',
    'learning',
    'Learning rate',
    1e-5,
    'How far the weights move in one lesson: too low learns nothing, too high forgets.',
  ),
  numeric(
    'clipLow',
    'learning',
    'Clip below',
    0.01,
    'How much less likely one lesson may make an action before the push is cut off.',
  ),
  numeric(
    'clipHigh',
    'learning',
    'Clip above',
    0.01,
    'How much more likely one lesson may make an action before the push is cut off.',
  ),
  numeric(
    'klCoef',
    'learning',
    'Pull to the start',
    0.001,
    'Keeps the agent close to what it was before training (KL coefficient); 0 sets it free.',
  ),
  numeric(
    'discount',
    'learning',
    'Worth of a late reward',
    0.01,
    'Each turn multiplies the reward by this: below 1, a quick success counts more than a slow one.',
  ),
  numeric(
    'entropyCoef',
    'learning',
    'Reward for variety',
    0.001,
    'Pays the agent for staying undecided, so that it keeps exploring; 0 is usual.',
  ),
  choice(
    'normalization',
    'learning',
    'Advantage scale',
    [
      ['group-std', 'mean and spread of the task’s tries'],
      ['group-mean', 'mean of the task’s tries only'],
      ['batch-std', 'mean of the tries, spread of the batch'],
    ],
    'How a try is compared with the other tries of its task to decide what was better than usual.',
  ),
  choice(
    'aggregation',
    'learning',
    'Loss average',
    [
      ['sequence-mean', 'every episode counts the same'],
      ['token-mean', 'every token counts the same'],
      ['sequence-sum-norm', 'sum per episode, fixed scale'],
    ],
    'Whether long and short episodes have equal weight in a lesson.',
  ),
  choice(
    'sampleUnit',
    'learning',
    'Unit of learning',
    [
      ['episode', 'a whole episode'],
      ['step', 'a single turn'],
    ],
    'What is one training sample: an episode with all its turns, or each turn by itself.',
  ),
  numeric(
    'miniBatches',
    'learning',
    'Updates per iteration',
    1,
    'Into how many parts the episodes are split; the weights change after each part.',
  ),

  numeric(
    'evalEvery',
    'checking',
    'Check every',
    1,
    'The agent is tested in the real world after every so many iterations.',
  ),
  numeric(
    'evalTasks',
    'checking',
    'Test tasks',
    1,
    'How many unseen real tasks a test has: more make the interval narrower and the test longer.',
  ),
];

const byKey = new Map<string, Field>(fields.map((field) => [field.key, field]));

/** The field of a key from a link or a file, or undefined. */
export function fieldOf(key: string): Field | undefined {
  return byKey.get(key);
}
