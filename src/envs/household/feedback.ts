/**
 * @file What the world says: ALFWorld's exact sentence (alfworld/data/alfred.twl2, 0.4 wording) and, beside it, the
 * abstract form the models speak. Both are built from the state directly; abstract.ts maps between the two as text.
 */
import type { Room } from './rooms';
import { type HouseholdState, NONE } from './state';

export interface Feedback {
  raw: string;
  abstract: string;
}

export const NOTHING_HAPPENS: Readonly<Feedback> = { raw: 'Nothing happens.', abstract: 'nothing happens' };

export const HELP_TEXT = [
  '',
  'Available commands:',
  '  look:                             look around your current location',
  '  inventory:                        check your current inventory',
  '  go to (receptacle):               move to a receptacle',
  '  open (receptacle):                open a receptacle',
  '  close (receptacle):               close a receptacle',
  '  take (object) from (receptacle):  take an object from a receptacle',
  '  move (object) to (receptacle):  place an object in or on a receptacle',
  '  examine (something):              examine a receptacle or an object',
  '  use (object):                     use an object',
  '  heat (object) with (receptacle):  heat an object using a receptacle',
  '  clean (object) with (receptacle): clean an object using a receptacle',
  '  cool (object) with (receptacle):  cool an object using a receptacle',
  '  slice (object) with (object):     slice an object using a sharp object',
  '',
].join('\n');

/** `nothing` | `a x 1` | `a x 2, and a x 1` | `a x 2, a x 1, and a y 1`: always "a", always the comma before "and". */
export function englishList(names: readonly string[]): string {
  if (names.length === 0) return 'nothing';
  let text = `a ${names[0]}`;
  for (let i = 1; i < names.length; i++) text += `${i === names.length - 1 ? ', and a ' : ', a '}${names[i]}`;
  return text;
}

export function introSentence(receptacleNames: readonly string[]): string {
  return `You are in the middle of a room. Looking quickly around you, you see ${englishList(receptacleNames)}.`;
}

/** True when what is in receptacle r can be seen and reached from in front of it. */
export function isAccessible(room: Room, state: HouseholdState, r: number): boolean {
  return room.openable[r] === 0 || state.opened[r] === 1;
}

function contents(room: Room, state: HouseholdState, r: number): string[] {
  const names: string[] = [];
  for (let o = 0; o < state.objectAt.length; o++) if (state.objectAt[o] === r) names.push(room.objectNames[o]);
  return names;
}

function see(names: readonly string[]): string {
  return names.length === 0 ? 'see nothing' : `see ${names.join(' ')}`;
}

/** The text of `examine {r}`, which `go to` and `open` append too. */
export function examineReceptacle(room: Room, state: HouseholdState, r: number): Feedback {
  const name = room.receptacleNames[r];
  if (!isAccessible(room, state, r)) return { raw: `The ${name} is closed.`, abstract: `at ${name} closed` };
  const names = contents(room, state, r);
  const list = englishList(names);
  return room.openable[r] === 1
    ? { raw: `The ${name} is open. In it, you see ${list}.`, abstract: `at ${name} open ${see(names)}` }
    : { raw: `On the ${name}, you see ${list}.`, abstract: `at ${name} ${see(names)}` };
}

export function arriveFeedback(room: Room, state: HouseholdState, r: number): Feedback {
  const view = examineReceptacle(room, state, r);
  return { raw: `You arrive at ${room.receptacleNames[r]}. ${view.raw}`, abstract: view.abstract };
}

export function openFeedback(room: Room, state: HouseholdState, r: number): Feedback {
  const name = room.receptacleNames[r];
  return {
    raw: `You open the ${name}. ${examineReceptacle(room, state, r).raw}`,
    abstract: `open ${name} ${see(contents(room, state, r))}`,
  };
}

/** The first matching line of ALFWorld's table; a lone cool object is "cold". */
export function examineObject(room: Room, state: HouseholdState, o: number): Feedback {
  const name = room.objectNames[o];
  const properties = room.objectProperties[o];
  // ALFWorld describes dishes as containers, whatever their state.
  if (properties.dish)
    return { raw: `This is a normal ${name}. In it, you see nothing.`, abstract: `state ${name} plain` };
  const clean = state.clean[o] === 1;
  const sliced = state.sliced[o] === 1;
  const heat = state.hot[o] === 1 ? 'hot' : state.cool[o] === 1 ? 'cool' : '';
  if (heat !== '' || clean) {
    const both = heat !== '' && clean;
    const adjective = both ? `${heat} and clean` : clean ? 'clean' : heat === 'cool' && !sliced ? 'cold' : heat;
    const words = both ? `${heat} clean` : clean ? 'clean' : heat;
    return {
      raw: `This is a ${adjective} ${sliced ? 'sliced ' : ''}${name}.`,
      abstract: `state ${name} ${words}${sliced ? ' sliced' : ''}`,
    };
  }
  if (properties.toggleable) {
    const word = state.toggled[o] === 1 ? 'on' : 'off';
    return { raw: `This ${name} is ${word}.`, abstract: `state ${name} ${word}` };
  }
  if (sliced) return { raw: `This is a sliced ${name}.`, abstract: `state ${name} sliced` };
  return { raw: `There's nothing special about ${name}.`, abstract: `state ${name} plain` };
}

/**
 * In the middle of the room `look` repeats the intro. (TextWorld's engine lists only the receptacles of the place one
 * stands at there, that is: nothing; and it finds nothing special about a lamp that was never used.)
 */
export function lookFeedback(room: Room, state: HouseholdState): Feedback {
  if (state.location === NONE) {
    return { raw: introSentence(room.receptacleNames), abstract: `room ${room.receptacleNames.join(' ')}` };
  }
  const name = room.receptacleNames[state.location];
  // Every object of these rooms is in a receptacle, so nothing lies beside one.
  return {
    raw: `You are facing the ${name}. Next to it, you see nothing.`,
    abstract: `facing ${name} see nothing`,
  };
}

export function inventoryFeedback(room: Room, state: HouseholdState): Feedback {
  if (state.holding === NONE) return { raw: 'You are not carrying anything.', abstract: 'carry nothing' };
  const name = room.objectNames[state.holding];
  return { raw: `You are carrying: a ${name}.`, abstract: `carry ${name}` };
}
