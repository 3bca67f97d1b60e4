/**
 * @file Annotators that are programs: what the household's text so far decides, said as the embedded model says it.
 * The shop and web worlds annotate their own offline episodes (`offlineTrajectories`).
 */
import type { Trajectory } from '../../data/trajectory';
import { type Goal, parseInstruction } from '../../envs/household';
import { Belief, experienceThought, failureObservation, thoughtText } from '../transcripts';

/**
 * The reasoning of every turn from the trajectory's text alone, so that it also serves imported ALFWorld episodes. Returns
 * null for a trajectory that is not the household's (its task cannot be read as a goal).
 */
export function annotateHousehold(trajectory: Trajectory): Trajectory | null {
  const goal: Goal | null = parseInstruction(trajectory.task.instruction);
  if (!goal) return null;
  const belief = new Belief(trajectory.firstObservation);
  const turns = trajectory.turns.map((turn) => {
    const reasoning = turn.reasoning || thoughtText(experienceThought(belief, goal, turn.action));
    if (turn.observation !== failureObservation) belief.observe(turn.observation);
    return { ...turn, reasoning };
  });
  return { ...trajectory, turns };
}
