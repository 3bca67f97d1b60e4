/** @file The fields of the dream: what the experience model sees, and what it is held to. */
import { choice, type Field, numeric } from './field';

export const dreamFields: readonly Field[] = [
  numeric(
    'lambda',
    'dream',
    'Share of invented tasks',
    0.05,
    'At most this part of the tasks is invented by the model; the rest is given (the paper’s lambda).',
  ),
  choice(
    'taskSelection',
    'dream',
    'Invented tasks kept',
    [
      ['all', 'every good one'],
      ['most-challenging', 'the hardest that can be done'],
    ],
    'Whether every new task that passes the checks is kept, or of several variants only the most challenging feasible one.',
  ),
  numeric(
    'taskCandidates',
    'dream',
    'Variants weighed',
    1,
    'How many variants of a task are compared where only the most challenging one is kept.',
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
];
