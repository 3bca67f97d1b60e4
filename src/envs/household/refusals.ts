/**
 * @file Why a command was refused, in words. ALFWorld itself says only `Nothing happens.`; its users asked for this
 * (alfworld issue 78). It never tells more than the agent could see for itself.
 */
import type { Command, PutGrammar } from './commands';
import { isAccessible } from './feedback';
import type { Room } from './rooms';
import { type HouseholdState, NONE } from './state';
import { STATIONS } from './vocabulary';

export function explainRefusal(
  room: Room,
  state: HouseholdState,
  command: Command | null,
  putGrammar: PutGrammar,
): string {
  if (command === null) return 'this is not a command; try "help"';
  const { verb, first, second } = command;
  const held = state.holding === NONE ? null : room.objectNames[state.holding];
  const here = state.location === NONE ? null : room.receptacleNames[state.location];
  const notHere = (name: string) =>
    room.receptacleIndex.has(name) ? `you are not at the ${name}` : `there is no ${name} in this room`;
  const objectMissing = (name: string) => `there is no ${name} within reach`;
  const closedHere = state.location !== NONE && !isAccessible(room, state, state.location);
  switch (verb) {
    case 'go':
      return `there is no ${first} in this room`;
    case 'open':
    case 'close': {
      if (here !== first) return notHere(first);
      if (room.openable[state.location] === 0) return `the ${first} cannot be opened or closed`;
      return `the ${first} is already ${verb === 'open' ? 'open' : 'closed'}`;
    }
    case 'take':
      if (here !== second) return notHere(second);
      if (held !== null) return `your hands are full with the ${held}`;
      if (closedHere) return `the ${second} is closed`;
      return room.objectIndex.has(first) && state.objectAt[room.objectIndex.get(first)!] === state.location
        ? `the ${first} cannot be carried`
        : objectMissing(first);
    case 'put':
    case 'move':
      if (verb !== putGrammar) {
        return putGrammar === 'put' ? 'say "put X in/on Y" in this world' : 'say "move X to Y" in this world';
      }
      if (held !== first) return `you are not carrying the ${first}`;
      if (here !== second) return notHere(second);
      return closedHere ? `the ${second} is closed` : `the ${first} does not belong in or on the ${second}`;
    case 'clean':
    case 'heat':
    case 'cool':
      if (held !== first) return `you are not carrying the ${first}`;
      if (here !== second) return notHere(second);
      return room.receptacleTypes[state.location] === STATIONS[verb]
        ? `the ${first} is nothing to ${verb}`
        : `you cannot ${verb} anything with the ${second}`;
    case 'slice':
      return held === second
        ? `you cannot slice the ${first} with the ${second} here`
        : `you are not carrying the ${second}`;
    case 'use':
      return room.objectIndex.has(first) &&
        state.objectAt[room.objectIndex.get(first)!] === state.location &&
        !closedHere
        ? `the ${first} has no switch`
        : objectMissing(first);
    case 'examine':
      return room.receptacleIndex.has(first) ? notHere(first) : objectMissing(first);
    default:
      return '';
  }
}
