/** @file The household as one of the built-in worlds: its fixed tasks, and the scripted expert as the one to ask. */
import type { World } from '../world';
import { expertAction } from './experts';
import { heldOutTasks, trainingTasks } from './tasks';
import type { WorldSize } from './vocabulary';
import { HouseholdWorld } from './world';

/** The size that the embedded model speaks; another one is a matter of `generateTask` and `heldOutTasks`. */
const SIZE: WorldSize = 'small';
/** The tasks are part of the world, not of a run. */
const SEED = 1;

export const householdWorld: World = {
  name: 'household',
  summary:
    'Rooms to tidy: find things, wash, heat or cool them, put them where they belong (ALFWorld, text-compatible).',
  trainingTasks: (count) => trainingTasks(SIZE, count, SEED),
  heldOutTasks: (count) => heldOutTasks(SIZE, count),
  create: () => new HouseholdWorld(),
  expert(environment) {
    if (!(environment instanceof HouseholdWorld) || environment.state.done) return null;
    const action = expertAction(environment);
    // It looks around where it has nothing left to try.
    return action === 'look' ? null : action;
  },
};
