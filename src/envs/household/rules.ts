/**
 * @file What is allowed when: the preconditions of alfworld/data/alfred.pddl, and the list of all commands they allow.
 */
import { formatCommand, type PutGrammar } from './commands';
import { isAccessible } from './feedback';
import type { Room } from './rooms';
import { type HouseholdState, NONE } from './state';
import { STATIONS } from './vocabulary';

const TREATMENTS = ['clean', 'heat', 'cool'] as const;

/** r is where the agent stands. */
export function canTake(room: Room, state: HouseholdState, o: number, r: number): boolean {
  return (
    state.holding === NONE &&
    state.objectAt[o] === r &&
    room.objectProperties[o].pickupable &&
    isAccessible(room, state, r)
  );
}

/** o is in the hand, r is where the agent stands. Nothing is ever full. */
export function canPut(room: Room, state: HouseholdState, o: number, r: number): boolean {
  return room.accepts[r * room.objectNames.length + o] === 1 && isAccessible(room, state, r);
}

/** o is in the hand, r is where the agent stands; a microwave or fridge need not even be open. */
export function canTreat(room: Room, verb: (typeof TREATMENTS)[number], o: number, r: number): boolean {
  if (room.receptacleTypes[r] !== STATIONS[verb]) return false;
  const properties = room.objectProperties[o];
  return verb === 'clean' ? properties.cleanable : verb === 'heat' ? properties.heatable : properties.coolable;
}

/** `knife` is in the hand. */
export function canSlice(room: Room, state: HouseholdState, o: number, knife: number): boolean {
  return (
    room.objectProperties[knife].knife &&
    room.objectProperties[o].sliceable &&
    state.location !== NONE &&
    state.objectAt[o] === state.location
  );
}

export function canUse(room: Room, state: HouseholdState, o: number): boolean {
  return state.location !== NONE && state.objectAt[o] === state.location && room.objectProperties[o].toggleable;
}

export function canExamine(room: Room, state: HouseholdState, o: number): boolean {
  if (state.holding === o) return true;
  const r = state.location;
  return r !== NONE && state.objectAt[o] === r && isAccessible(room, state, r);
}

/** Every command the world would accept now, sorted, without duplicates. */
export function admissibleCommands(room: Room, state: HouseholdState, putGrammar: PutGrammar): string[] {
  const commands = ['help', 'inventory', 'look'];
  for (const name of room.receptacleNames) commands.push(`go to ${name}`);
  const r = state.location;
  const held = state.holding;
  if (held !== NONE) commands.push(`examine ${room.objectNames[held]}`);
  if (r === NONE) return commands.sort();

  const place = room.receptacleNames[r];
  commands.push(`examine ${place}`);
  if (room.openable[r] === 1) commands.push(`${state.opened[r] === 1 ? 'close' : 'open'} ${place}`);
  if (held !== NONE) {
    const name = room.objectNames[held];
    if (canPut(room, state, held, r)) commands.push(formatCommand(putGrammar, name, place));
    for (const verb of TREATMENTS) {
      if (canTreat(room, verb, held, r)) commands.push(formatCommand(verb, name, place));
    }
  }
  for (let o = 0; o < room.objectNames.length; o++) {
    if (state.objectAt[o] !== r) continue;
    const name = room.objectNames[o];
    if (canExamine(room, state, o)) commands.push(`examine ${name}`);
    if (canTake(room, state, o, r)) commands.push(formatCommand('take', name, place));
    if (canUse(room, state, o)) commands.push(`use ${name}`);
    if (held !== NONE && canSlice(room, state, o, held)) {
      commands.push(formatCommand('slice', name, room.objectNames[held]));
    }
  }
  return commands.sort();
}
