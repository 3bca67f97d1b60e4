/** @file The curves of a run: where each value comes from, how it is written, and one sentence on how to read it. */
import type { IterationMetrics } from '../../worker/protocol';
import { bytes, number, percent } from '../text/format';

/** Which voice of the page a line belongs to; it decides the colour. */
export type Tone = 'real' | 'dream' | 'agent' | 'second';

export interface Line {
  label: string;
  tone: Tone;
  of(metrics: IterationMetrics): number | null;
}

export interface ChartDefinition {
  id: string;
  title: string;
  /** One sentence. */
  help: string;
  lines: readonly Line[];
  /** Axis and readout. */
  write(value: number): string;
  /** Fixed range of the axis; free when absent, but always from zero when `fromZero`. */
  range?: readonly [low: number, high: number];
  /** Distances allowed between the lines of the axis. */
  steps?: readonly number[];
  fromZero?: boolean;
}

const one = (label: string, tone: Tone, of: Line['of']): readonly Line[] => [{ label, tone, of }];

/** Powers of two from a mebibyte up: `256 MiB`, never `191 MiB`. */
const byteSteps = Array.from({ length: 24 }, (_, i) => 2 ** (20 + i));

/** The charts everyone should see. */
export function mainCharts(dreamed: boolean): readonly ChartDefinition[] {
  return [
    {
      id: 'reward',
      title: dreamed ? 'Dreamed success' : 'Training success',
      help: dreamed
        ? 'Share of practice episodes the dream itself calls successful: it should rise together with real success, not run away from it.'
        : 'Share of practice episodes that reached their goal in the real training rooms.',
      lines: one('success', dreamed ? 'dream' : 'real', (m) => m.trainReward),
      write: percent,
      range: [0, 1],
    },
    {
      id: 'precision',
      title: 'Are dreamed successes true?',
      help: 'Replay precision: dreamed successes are played again in the real world, and this share succeeds there too; when it falls, the agent is learning to fool the dream.',
      lines: one('true successes', 'real', (m) => m.replayPrecision),
      write: percent,
      range: [0, 1],
    },
    {
      id: 'reward-error',
      title: 'Reward error',
      help: 'Average difference between the dream’s reward and the real reward of the same actions: 0 means the dream judges like the world.',
      lines: one('error', 'dream', (m) => m.rewardError),
      write: number,
      fromZero: true,
    },
    {
      id: 'difficulty',
      title: 'Task difficulty',
      help: 'Average of p(1−p) over the tasks tried, where p is how often a task succeeds: highest (0.25) when tasks succeed half the time, which teaches most.',
      lines: one('p(1−p)', 'agent', (m) => m.taskDifficulty),
      write: number,
      range: [0, 0.25],
      steps: [0.05, 0.1, 0.25],
    },
    {
      id: 'entropy',
      title: 'Entropy',
      help: 'How undecided the agent is when it picks a word: it sinks as the agent becomes sure, and near zero it no longer explores.',
      lines: one('nats per token', 'agent', (m) => m.entropy),
      write: number,
      fromZero: true,
    },
    {
      id: 'kl',
      title: 'Step size (KL)',
      help: 'How far one iteration moved the agent from the one that practised: small steps are safe, a sudden jump is a warning.',
      lines: one('KL', 'agent', (m) => m.kl),
      write: number,
      fromZero: true,
    },
    {
      id: 'speed',
      title: 'Tokens per second',
      help: 'How many words your GPU writes while dreaming and reads while learning, each second.',
      lines: [
        { label: 'learning', tone: 'second', of: (m) => m.trainTokensPerSecond },
        { label: 'dreaming', tone: 'dream', of: (m) => m.generateTokensPerSecond },
      ],
      write: number,
      fromZero: true,
    },
    {
      id: 'memory',
      title: 'GPU memory',
      help: 'Bytes this page holds on the GPU: it should stay flat.',
      lines: one('held', 'second', (m) => m.gpuBytes),
      write: bytes,
      steps: byteSteps,
      fromZero: true,
    },
  ];
}

/** For those who want to look under the bonnet. */
export const moreCharts: readonly ChartDefinition[] = [
  {
    id: 'next-state',
    title: 'Dreamed states that are right',
    help: 'Share of dreamed answers equal to what the real world says after the same actions.',
    lines: one('equal', 'dream', (m) => m.nextStateAccuracy),
    write: percent,
    range: [0, 1],
  },
  {
    id: 'facts',
    title: 'Dreamed things',
    help: 'Of the places, things and contents the dream shows: how many this room could have at all, and how many are there.',
    lines: [
      { label: 'are there', tone: 'real', of: (m) => m.factTruth ?? null },
      { label: 'can be there', tone: 'dream', of: (m) => m.admissibility ?? null },
    ],
    write: percent,
    range: [0, 1],
  },
  {
    id: 'claims',
    title: 'Steps called a success',
    help: 'Share of valid dreamed steps the model calls a success, beside the share that really is one: a dream that praises everything is worthless.',
    lines: [
      { label: 'really are', tone: 'real', of: (m) => m.realSuccessesPerStep ?? null },
      { label: 'called', tone: 'dream', of: (m) => m.successClaims ?? null },
    ],
    write: percent,
    fromZero: true,
  },
  {
    id: 'contradictions',
    title: 'Contradictions',
    help: 'Share of dreamed steps that contradict their own story: a thing in two places, an impossible action accepted.',
    lines: one('steps', 'dream', (m) => m.contradictionRate ?? null),
    write: percent,
    fromZero: true,
  },
  {
    id: 'valid',
    title: 'Valid actions',
    help: 'Share of the agent’s actions that the world it practises in accepts.',
    lines: one('valid', 'agent', (m) => m.validActionRate),
    write: percent,
    range: [0, 1],
  },
  {
    id: 'turns',
    title: 'Turns per episode',
    help: 'Average length of an episode: a better agent needs fewer turns.',
    lines: one('turns', 'agent', (m) => m.meanTurns),
    write: number,
    fromZero: true,
  },
  {
    id: 'loss',
    title: 'Policy loss',
    help: 'The number the update minimises; unlike in supervised learning, it need not fall while the agent gets better.',
    lines: one('loss', 'agent', (m) => m.loss),
    write: number,
  },
  {
    id: 'clip',
    title: 'Clipped share',
    help: 'Share of tokens whose push was cut off because the update had already moved them far.',
    lines: one('clipped', 'agent', (m) => m.clipFraction),
    write: percent,
    fromZero: true,
  },
  {
    id: 'grad',
    title: 'Gradient norm',
    help: 'Length of the gradient before clipping: spikes mean an unusual batch.',
    lines: one('norm', 'agent', (m) => m.gradNorm),
    write: number,
    fromZero: true,
  },
  {
    id: 'zero-variance',
    title: 'Tasks without a lesson',
    help: 'Tasks whose tries all succeeded or all failed: nothing can be compared, so they are left out of the update.',
    lines: one('tasks', 'agent', (m) => m.zeroVarianceGroups),
    write: number,
    fromZero: true,
  },
  {
    id: 'malformed',
    title: 'Unreadable answers',
    help: 'Episodes lost because a model wrote something that is no sentence of this world; they are counted and never trained on.',
    lines: one('episodes', 'dream', (m) => m.malformed),
    write: number,
    fromZero: true,
  },
];
