/** @file The fields of the run itself, of practice, and of the checks in the real world. */
import { presetNames } from '../../../worker/protocol';
import { choice, type Field, numeric } from './field';

const presetLabels: Record<(typeof presetNames)[number], string> = {
  'household-tiny': 'Household, full length',
  'household-quick': 'Household, a quick taste',
};

export const runFields: readonly Field[] = [
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
];

export const practiceFields: readonly Field[] = [
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
];

export const checkingFields: readonly Field[] = [
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
