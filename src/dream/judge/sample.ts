/** @file Which dreamed transitions are judged: drawn without repetition, the same ones for the same run and seed. */
import type { Trajectory, Turn } from '../../data/trajectory';
import { Draws, deriveSeed } from '../random';

/** One imagined step with what its judge may know. */
export interface JudgedTransition {
  /** Where it stands: iteration of the run, episode within it, turn within that. */
  iteration: number;
  episode: number;
  turn: number;
  task: string;
  /** The steps before, oldest first. */
  history: Pick<Turn, 'action' | 'observation'>[];
  state: string;
  action: string;
  /** What the experience model imagined. */
  nextState: string;
  valid: boolean;
  reward: number;
}

/** Turns of history a judge is shown; an episode of ours has 16. */
const longestHistory = 16;

/** All imagined transitions; lost episodes and turns that never reached the dream are left out. */
export function dreamedTransitions(
  rollouts: readonly { iteration: number; trajectories: readonly Trajectory[] }[],
): JudgedTransition[] {
  return rollouts.flatMap(({ iteration, trajectories }) =>
    trajectories.flatMap((trajectory, episode) =>
      trajectory.source === 'imagined' && !trajectory.lost ? transitionsOf(trajectory, iteration, episode) : [],
    ),
  );
}

function transitionsOf(
  { task, firstObservation, turns }: Trajectory,
  iteration: number,
  episode: number,
): JudgedTransition[] {
  return turns.flatMap(({ action, observation, valid, reward }, turn) => {
    if (action === '') return [];
    const before = turns.slice(0, turn);
    return {
      ...{ iteration, episode, turn, task: task.instruction, action, valid, reward },
      history: before.slice(-longestHistory).map((step) => ({ action: step.action, observation: step.observation })),
      state: before.at(-1)?.observation ?? firstObservation,
      nextState: observation,
    };
  });
}

/** `count` of them, in the order in which they happened; all when there are fewer. */
export function sampleTransitions<T>(all: readonly T[], count: number, seed: number): T[] {
  if (all.length <= count) return [...all];
  const chosen = new Draws(deriveSeed(seed, 'judge'))
    .shuffled(all.map((_, i) => i))
    .slice(0, count)
    .sort((a, b) => a - b);
  return chosen.map((i) => all[i]);
}
