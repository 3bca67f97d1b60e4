/** @file Easier tasks: those that the scripted expert, which knows no more than an agent could, fulfils in a few actions. */
import { DreamError } from '../../data/errors';
import type { Task } from '../../envs/environment';
import { expertAction, HouseholdWorld, heldOutTasks, type WorldSize } from '../../envs/household';

/** Held-out tasks that are looked through for a fixed set of easy ones. */
const mostLookedThrough = 4000;

/** The expert's actions from the start to the goal; null when it needs more than `most`. */
export function expertLength(task: Task, most: number, world = new HouseholdWorld()): number | null {
  world.reset(task);
  for (let steps = 1; steps <= most; steps++) if (world.step(expertAction(world)).done) return steps;
  return null;
}

/** Throws DreamError `no-task`. */
export function easyTasks(tasks: readonly Task[], expertSteps: number): readonly Task[] {
  const world = new HouseholdWorld();
  const easy = tasks.filter((task) => expertLength(task, expertSteps, world) !== null);
  if (easy.length === 0) throw tooEasy(expertSteps);
  return easy;
}

/** The first `count` of the fixed evaluation tasks that are easy: the same list in every run. */
export function easyHeldOutTasks(size: WorldSize, count: number, expertSteps: number): readonly Task[] {
  const world = new HouseholdWorld();
  for (let looked = count * 4; ; looked *= 2) {
    const among = Math.min(looked, mostLookedThrough);
    const easy = heldOutTasks(size, among).filter((task) => expertLength(task, expertSteps, world) !== null);
    if (easy.length >= count) return easy.slice(0, count);
    if (among === mostLookedThrough) throw tooEasy(expertSteps);
  }
}

function tooEasy(expertSteps: number): DreamError {
  return new DreamError(
    'no-task',
    `There are not enough tasks that the expert fulfils in ${expertSteps} actions.`,
    'Allow more actions; most tasks of the household need 4 to 12.',
  );
}
