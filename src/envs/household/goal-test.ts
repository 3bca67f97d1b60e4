/** @file Is the goal reached? The conditions of alfworld/gen/goal_library.py on the live state. */
import type { Goal } from './goals';
import type { Room } from './rooms';
import { type HouseholdState, NONE } from './state';

export function goalReached(room: Room, state: HouseholdState, goal: Goal): boolean {
  if (goal.family === 'look_at_obj_in_light') return looksAtInLight(room, state, goal);
  const needed = goal.family === 'pick_two_obj_and_place' ? 2 : 1;
  const treated = treatedFlags(state, goal);
  const { objectTypes, receptacleTypes } = room;
  for (let o = 0; o < objectTypes.length; o++) {
    const at = state.objectAt[o];
    if (at === NONE || objectTypes[o] !== goal.object || receptacleTypes[at] !== goal.receptacle) continue;
    if (treated !== null && treated[o] === 0) continue;
    if (needed === 1) return true;
    // Two different objects in the same instance: look for a partner further down the list.
    for (let other = o + 1; other < objectTypes.length; other++) {
      if (objectTypes[other] === goal.object && state.objectAt[other] === at) return true;
    }
  }
  return false;
}

function treatedFlags(state: HouseholdState, goal: Goal): Int8Array | null {
  switch (goal.family) {
    case 'pick_clean_then_place_in_recep':
      return state.clean;
    case 'pick_heat_then_place_in_recep':
      return state.hot;
    case 'pick_cool_then_place_in_recep':
      return state.cool;
    default:
      return null;
  }
}

function looksAtInLight(room: Room, state: HouseholdState, goal: Goal): boolean {
  if (state.holding === NONE || state.location === NONE || room.objectTypes[state.holding] !== goal.object)
    return false;
  for (let o = 0; o < room.objectTypes.length; o++) {
    if (room.objectTypes[o] === goal.toggle && state.toggled[o] === 1 && state.objectAt[o] === state.location)
      return true;
  }
  return false;
}
