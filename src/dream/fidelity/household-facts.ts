/**
 * @file What a household observation claims, fact by fact, and which of it could be so in the task's room.
 *
 * A whole observation is right or wrong; its facts tell how wrong. A fact is *admissible* when the room has the place or
 * the thing, and the place can hold it: things move, so more cannot be asked of a claim without its history. Inventions
 * (a shelf 4 in a room of two shelves, a pan in the fridge) were the first holes that a policy found (recipe.md).
 */
import type { Task } from '../../envs/environment';
import { generateRoom, householdData, RECEPTACLE_TYPES, type Room } from '../../envs/household';

export interface Fact {
  /** Equal facts have equal texts: `cup 1`, `cup 1 in shelf 1`. */
  text: string;
  /** Could be so in this room. */
  admissible: boolean;
}

/** The facts of an abstract observation; none for a failure state and for text that names nothing. */
export function householdFacts(task: Task, observation: string): Fact[] {
  const { size, roomSeed } = householdData(task);
  const room = generateRoom(size, roomSeed);
  const words = observation.split(' ');
  const named = namesIn(words);
  const facts = new Map<string, boolean>();
  for (const name of named) facts.set(name, room.receptacleIndex.has(name) || room.objectIndex.has(name));
  for (const [object, place] of containments(words, named))
    facts.set(`${object} in ${place}`, canHold(room, place, object));
  return [...facts].map(([text, admissible]) => ({ text, admissible }));
}

/** Every `type number` pair, in order. */
function namesIn(words: readonly string[]): string[] {
  const names: string[] = [];
  for (let i = 0; i + 1 < words.length; i++) {
    if (!/^[a-z]\w*$/.test(words[i]) || !/^\d+$/.test(words[i + 1])) continue;
    names.push(`${words[i]} ${words[i + 1]}`);
    i++;
  }
  return names;
}

/** What the text says is in or on what: a view of a place, or a thing put there. */
function containments([verb]: readonly string[], names: readonly string[]): [object: string, place: string][] {
  const [first, ...rest] = names;
  if (verb === 'put' && rest.length === 1) return [[first, rest[0]]];
  if ((verb !== 'at' && verb !== 'open') || first === undefined || !isPlace(first)) return [];
  return rest.filter((name) => !isPlace(name)).map((name) => [name, first]);
}

function isPlace(name: string): boolean {
  return RECEPTACLE_TYPES.has(name.slice(0, name.lastIndexOf(' ')));
}

function canHold(room: Room, place: string, object: string): boolean {
  const r = room.receptacleIndex.get(place);
  const o = room.objectIndex.get(object);
  if (r === undefined || o === undefined) return false;
  // A lamp stands on a desk that would take no lamp.
  return room.accepts[r * room.objectNames.length + o] === 1 || room.startAt[o] === r;
}
