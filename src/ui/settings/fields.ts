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
  { id: 'method', title: 'The method', about: 'Which algorithm turns rewards into changes, and its own dials.' },
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
    'realIterations',
    'run',
    'Last iterations in the real world',
    1,
    'Sim-to-real: after the dream, a few iterations of real practice polish the agent; their turns are counted apart.',
  ),
  numeric(
    'realBudget',
    'run',
    'Real turns allowed',
    100,
    'The most real turns these iterations may take; 0 sets no limit.',
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
    key: 'history',
    group: 'dream',
    label: 'Remember the episode',
    help: 'Shows the dream everything that happened in the episode; off, it sees only where things stand (the paper’s ablation).',
  },
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
    'refreshEvery',
    'dream',
    'Refresh the dream every',
    1,
    'Every so many iterations the dream learns from a few real episodes of the agent as it is now; 0 never does.',
  ),
  numeric(
    'refreshTransitions',
    'dream',
    'Real turns of a refresh',
    10,
    'The most real turns one refresh may take; they count as real practice.',
  ),
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

  choice(
    'algorithm',
    'method',
    'Algorithm',
    [
      ['grpo', 'GRPO'],
      ['dr-grpo', 'Dr. GRPO'],
      ['dapo', 'DAPO'],
      ['gspo', 'GSPO'],
      ['rloo', 'RLOO'],
      ['reinforce++', 'REINFORCE++'],
      ['reinforce++-baseline', 'REINFORCE++ with baseline'],
      ['gigpo', 'GiGPO'],
      ['ppo', 'PPO with a critic'],
    ],
    'A named method; choosing one sets the dials that belong to it, and each of them can still be turned.',
  ),
  choice(
    'advantage',
    'method',
    'Compared with',
    [
      ['group', 'the other tries of the task'],
      ['leave-one-out', 'the mean of the others'],
      ['whitened-returns', 'what usually follows, token by token'],
      ['whitened-group', 'the task’s mean, scaled over the batch'],
      ['anchor-groups', 'the others, and turns from the same place'],
      ['gae', 'a critic’s expectation'],
    ],
    'What a try is held against to decide whether it went better than expected.',
  ),
  choice(
    'importanceLevel',
    'method',
    'Change measured',
    [
      ['token', 'token by token'],
      ['sequence', 'over the whole sample'],
    ],
    'Whether the clip looks at each token’s change of probability or at the mean change of the sample.',
  ),
  numeric(
    'dualClip',
    'method',
    'Cap on punishment',
    0.5,
    'Limits the loss of actions that became likely although they were bad; 0 is no limit.',
  ),
  numeric('epochs', 'method', 'Passes over the episodes', 1, 'How often the same episodes are learned from.'),
  numeric(
    'resampleRounds',
    'method',
    'Rounds for silent groups',
    1,
    'How often further tasks are tried in place of those where every try had the same outcome.',
  ),
  {
    kind: 'switch',
    key: 'maskTruncated',
    group: 'method',
    label: 'Ignore cut-off episodes',
    help: 'Episodes that ran out of turns are compared with but not learned from.',
  },
  numeric(
    'stepDiscount',
    'method',
    'Worth of later turns',
    0.01,
    'Discount per turn where turns are judged one by one (REINFORCE++, GiGPO, PPO).',
  ),
  numeric(
    'stepWeight',
    'method',
    'Weight of a turn',
    0.1,
    'How much a turn’s own judgement counts beside its episode’s (GiGPO).',
  ),
  numeric(
    'gaeLambda',
    'method',
    'Trust in what happened',
    0.01,
    'Between the critic’s guess (0) and the reward that really came (1): lambda of PPO’s advantage.',
  ),
  choice(
    'valueLevel',
    'method',
    'The critic judges',
    [
      ['token', 'every token'],
      ['turn', 'every turn'],
    ],
    'How often PPO’s critic says what it expects.',
  ),
  numeric(
    'valueClip',
    'method',
    'Clip of the critic',
    0.1,
    'How far the critic’s opinion may move in one lesson; 0 is no limit.',
  ),
  numeric(
    'valueCoef',
    'method',
    'Critic’s say in the model',
    0.05,
    'How much of the critic’s lesson reaches the model itself; 0 trains only the critic’s own output.',
  ),
  numeric('criticLearningRate', 'method', 'Critic’s learning rate', 1e-4, 'How fast the critic’s own output learns.'),
  choice(
    'klEstimator',
    'method',
    'Estimate of the pull',
    [
      ['k1', 'k1: plain difference'],
      ['k2', 'k2: half its square'],
      ['k3', 'k3: never negative'],
    ],
    'How the distance to the agent’s beginnings (KL) is estimated from the tokens.',
  ),
  choice(
    'klPlacement',
    'method',
    'The pull is',
    [
      ['loss', 'part of the loss'],
      ['reward', 'a price on the reward'],
    ],
    'Where the distance to the agent’s beginnings is charged.',
  ),
  numeric(
    'klTarget',
    'method',
    'Wanted distance',
    0.001,
    'Steers the pull so that the distance stays near this; 0 leaves the pull alone.',
  ),
  numeric('klHorizon', 'method', 'Patience of the steering', 100, 'Over how many episodes the pull is steered.'),
  choice(
    'importanceCorrection',
    'method',
    'Sampler’s rounding',
    [
      ['off', 'not corrected'],
      ['token-truncate', 'weighed per token, capped'],
      ['token-mask', 'weighed per token, outliers dropped'],
      ['sequence-truncate', 'weighed per episode, capped'],
      ['sequence-mask', 'weighed per episode, outliers dropped'],
    ],
    'What is done where training finds another probability for a token than the one it was drawn with.',
  ),
  numeric('importanceCap', 'method', 'Cap of that weight', 0.1, 'The largest weight such a correction may give.'),

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
