/** @file The fields of learning: how strongly the weights move, and how an episode counts. */
import { choice, type Field, numeric } from './field';

export const learningFields: readonly Field[] = [
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
];
