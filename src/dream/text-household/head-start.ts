/**
 * @file Episodes that begin a few actions before their goal: the scripted expert has done the rest (Salimans & Chen 2018,
 * "Learning Montezuma's Revenge from a single demonstration"). A weak policy then meets rewards at all, in the real world and
 * in a dream alike; evaluations always begin at the beginning.
 *
 * What was done before stands in the task's first observation, a line an action and a line an observation behind the
 * room's own, so that whoever reads a transcript from its start (the dream, the checks, the belief) reads it too.
 */
import type { Task } from '../../envs/environment';
import { expertAction, HouseholdWorld } from '../../envs/household';

export interface Beginning {
  /** The sight of the room: `room cabinet 2 cabinet 1 ...`. */
  room: string;
  turns: { action: string; observation: string; valid: true }[];
}

export function readBeginning(firstObservation: string): Beginning {
  const [room, ...lines] = firstObservation.split('\n');
  const turns: Beginning['turns'] = [];
  for (let i = 0; i + 1 < lines.length; i += 2)
    turns.push({ action: lines[i], observation: lines[i + 1], valid: true });
  return { room, turns };
}

/** Longer plans are wanderings. */
const longestPlan = 24;

/** The same tasks, each begun so that the expert would need `left` more actions; those it cannot do are left out. */
export function begunTasks(tasks: readonly Task[], left: number): Task[] {
  const world = new HouseholdWorld();
  return tasks.flatMap((task) => {
    const room = world.reset(task);
    const lines: string[][] = [];
    for (let step = 0; step < longestPlan; step++) {
      const action = expertAction(world);
      const { observation, done } = world.step(action);
      lines.push([action, observation]);
      if (!done) continue;
      const before = lines.slice(0, Math.max(0, lines.length - left));
      if (before.length === 0) return [task];
      const firstObservation = [room, ...before.flat()].join('\n');
      return [{ ...task, id: `${task.id} (begun, ${left} left)`, firstObservation }];
    }
    return [];
  });
}
