/**
 * @file Step-level anchor groups (GiGPO, Feng et al. 2025): turns of one task's rollouts that began from the same observation
 * are each other's baseline, as if the world had been rewound there.
 *
 * States here are abstract text, so "the same" is equality of strings; no similarity threshold is needed.
 */
import type { Trajectory } from '../data/trajectory';

/** What the policy saw before turn `turn`. */
export function observationBefore({ firstObservation, turns }: Trajectory, turn: number): string {
  return turn === 0 ? firstObservation : turns[turn - 1].observation;
}

/** The anchor of every turn of every trajectory, end to end: equal keys are comparable turns. */
export function anchorKeys(trajectories: readonly Trajectory[]): string[] {
  return trajectories.flatMap((trajectory) =>
    trajectory.turns.map((_, turn) => `${trajectory.group}\n${observationBefore(trajectory, turn)}`),
  );
}
