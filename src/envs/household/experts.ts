/**
 * @file The scripted expert: a sensible plan from what has been seen, never from what has not.
 *
 * It is a function of the world's state alone. `state.checked` says which receptacles' contents the agent has seen, and
 * since only the agent moves things, what was seen once is known for good. So the expert recovers from any detour, its
 * own or another player's. `choice` chooses among equally good places to search.
 */
import { formatCommand } from './commands';
import { isAccessible } from './feedback';
import { type Goal, treatmentOf } from './goals';
import { NONE } from './state';
import { mayStartIn, STATIONS } from './vocabulary';
import type { HouseholdWorld } from './world';

/** Decides among equally good places (receptacle indices, in the order of the room's list). `Random` is one. */
export interface Chooser {
  pick(candidates: readonly number[]): number;
}

/**
 * The next command towards `goal` (default: the task's own). Without `choice`, ties go to the first in the room's list.
 * When nothing is left to try it says `look`.
 */
export function expertAction(world: HouseholdWorld, choice?: Chooser, goal: Goal = world.goal): string {
  const { room, state } = world;
  const held = state.holding;
  if (held === NONE) {
    const object = wantedObject(world, goal);
    if (object === NONE) return search(world, goal.object, choice);
    const at = state.objectAt[object];
    return reach(world, at) ?? formatCommand('take', room.objectNames[object], room.receptacleNames[at]);
  }
  if (room.objectTypes[held] !== goal.object) return putAside(world, held);
  if (goal.family === 'look_at_obj_in_light') return lightUp(world, goal, choice);

  const treatment = treatmentOf(goal.family);
  if (treatment !== null && !isTreated(world, held, goal)) {
    const station = nearest(world, (r) => room.receptacleTypes[r] === STATIONS[treatment], choice);
    if (station === NONE) return 'look';
    if (state.location !== station) return `go to ${room.receptacleNames[station]}`;
    return formatCommand(treatment, room.objectNames[held], room.receptacleNames[station]);
  }
  const place = goalPlace(world, goal, choice);
  if (place === NONE) return 'look';
  return reach(world, place) ?? formatCommand(world.putGrammar, room.objectNames[held], room.receptacleNames[place]);
}

/**
 * The object instance the expert pursues or holds, e.g. `cup 1`; null while it has not seen one. With the object in hand
 * and only a lamp to find, it is still the object.
 */
export function expertTarget(world: HouseholdWorld, goal: Goal = world.goal): string | null {
  const { room, state } = world;
  const held = state.holding;
  if (held !== NONE && room.objectTypes[held] === goal.object) return room.objectNames[held];
  const object = wantedObject(world, goal);
  return object === NONE ? null : room.objectNames[object];
}

/** The best object the agent knows of: already treated first, then the one within reach, then the first in the list. */
function wantedObject(world: HouseholdWorld, goal: Goal): number {
  const { room, state } = world;
  // A pair grows where one of it already lies: what is there stays.
  const keep = goal.family === 'pick_two_obj_and_place' ? pairPlace(world, goal) : NONE;
  let best = NONE;
  let bestScore = -1;
  for (let o = 0; o < room.objectTypes.length; o++) {
    const at = state.objectAt[o];
    if (room.objectTypes[o] !== goal.object || at === NONE || state.checked[at] === 0 || at === keep) continue;
    const score = (isTreated(world, o, goal) ? 2 : 0) + (at === state.location ? 1 : 0);
    if (score > bestScore) {
      best = o;
      bestScore = score;
    }
  }
  return best;
}

function isTreated(world: HouseholdWorld, o: number, goal: Goal): boolean {
  const { state } = world;
  switch (treatmentOf(goal.family)) {
    case 'clean':
      return state.clean[o] === 1;
    case 'heat':
      return state.hot[o] === 1;
    case 'cool':
      return state.cool[o] === 1;
    default:
      return true;
  }
}

/** The instance of the goal's receptacle type known to hold most of its objects; -1 when none holds one. */
function pairPlace(world: HouseholdWorld, goal: Goal): number {
  const { room, state } = world;
  let best = NONE;
  let most = 0;
  for (let r = 0; r < room.receptacleTypes.length; r++) {
    if (room.receptacleTypes[r] !== goal.receptacle || state.checked[r] === 0) continue;
    let holds = 0;
    for (let o = 0; o < room.objectTypes.length; o++) {
      if (state.objectAt[o] === r && room.objectTypes[o] === goal.object) holds++;
    }
    if (holds > most) {
      most = holds;
      best = r;
    }
  }
  return best;
}

function goalPlace(world: HouseholdWorld, goal: Goal, choice?: Chooser): number {
  if (goal.family === 'pick_two_obj_and_place') {
    const pair = pairPlace(world, goal);
    if (pair !== NONE) return pair;
  }
  return nearest(world, (r) => world.room.receptacleTypes[r] === goal.receptacle, choice);
}

/** The current receptacle if it qualifies, else one that does (an open one is no better: the walk costs the same). */
function nearest(world: HouseholdWorld, qualifies: (r: number) => boolean, choice?: Chooser): number {
  const { room, state } = world;
  if (state.location !== NONE && qualifies(state.location)) return state.location;
  const candidates: number[] = [];
  for (let r = 0; r < room.receptacleNames.length; r++) if (qualifies(r)) candidates.push(r);
  if (candidates.length === 0) return NONE;
  return choice === undefined ? candidates[0] : choice.pick(candidates);
}

/** The step still needed before r's contents can be touched; null when the agent stands before it and it is open. */
function reach(world: HouseholdWorld, r: number): string | null {
  const { room, state } = world;
  if (state.location !== r) return `go to ${room.receptacleNames[r]}`;
  return isAccessible(room, state, r) ? null : `open ${room.receptacleNames[r]}`;
}

/**
 * Goes where an object of this type may still be hidden. In the larger worlds plausible places come first; the small
 * one is searched without prejudice, so that a policy warm-started on this expert has something left to discover.
 */
function search(world: HouseholdWorld, objectType: string, choice?: Chooser): string {
  const { room, state } = world;
  const unseen = (r: number) => state.checked[r] === 0;
  const plausible = (r: number) =>
    unseen(r) && (room.size === 'small' || mayStartIn(room.receptacleTypes[r], objectType));
  let place = nearest(world, plausible, choice);
  if (place === NONE) place = nearest(world, unseen, choice);
  return place === NONE ? 'look' : (reach(world, place) ?? `examine ${room.receptacleNames[place]}`);
}

function lightUp(world: HouseholdWorld, goal: Goal, choice?: Chooser): string {
  const { room, state } = world;
  for (let o = 0; o < room.objectTypes.length; o++) {
    const at = state.objectAt[o];
    if (room.objectTypes[o] !== goal.toggle || at === NONE || state.checked[at] === 0) continue;
    return state.location === at ? `use ${room.objectNames[o]}` : `go to ${room.receptacleNames[at]}`;
  }
  return search(world, goal.toggle ?? '', choice);
}

/** Frees the hand of an object the goal does not want: here if it fits, else at the first place that takes it. */
function putAside(world: HouseholdWorld, held: number): string {
  const { room, state } = world;
  const fits = (r: number) => room.accepts[r * room.objectNames.length + held] === 1;
  const open = nearest(world, (r) => fits(r) && isAccessible(room, state, r));
  const place = open !== NONE && state.location !== NONE && !fits(state.location) ? open : nearest(world, fits);
  if (place === NONE) return 'look';
  return reach(world, place) ?? formatCommand(world.putGrammar, room.objectNames[held], room.receptacleNames[place]);
}
