/**
 * @file Rooms: which receptacles stand in a room, which objects lie where. A pure function of (size, seed).
 *
 * Indices follow ALFWorld's internal order (type ascending, number DESCENDING), so every list in a sentence is a plain
 * walk over indices.
 */
import { hashKey, Random } from './random';
import type { Scene } from './scenes';
import {
  canContain,
  MOST_COPIES,
  mayStartIn,
  OBJECT_TYPES,
  type ObjectType,
  RECEPTACLE_TYPES,
  SCENES,
  STATIONS,
  type WorldSize,
} from './vocabulary';

export interface Room {
  /** Unique key, e.g. `small-17`: two rooms with the same receptacle list still have different keys. */
  readonly key: string;
  readonly size: WorldSize;
  readonly seed: number;
  readonly scene: string;
  /** `shelf 1`; index = position in every list of receptacles. */
  readonly receptacleNames: readonly string[];
  readonly receptacleTypes: readonly string[];
  /** 1 where the receptacle can be opened and closed. */
  readonly openable: Uint8Array;
  /** `cup 1`; index = position in every list of objects. */
  readonly objectNames: readonly string[];
  readonly objectTypes: readonly string[];
  readonly objectProperties: readonly ObjectType[];
  /** Receptacle index of each object at the start. */
  readonly startAt: Int8Array;
  /** accepts[r * objects + o] = 1 where receptacle r can take object o. */
  readonly accepts: Uint8Array;
  readonly receptacleIndex: ReadonlyMap<string, number>;
  readonly objectIndex: ReadonlyMap<string, number>;
}

/** Room seeds the trainer may use; evaluation in unseen rooms starts at `UNSEEN_ROOM_SEED`. */
export const TRAINING_ROOM_SEEDS: readonly number[] = Array.from({ length: 120 }, (_, i) => i + 1);
export const UNSEEN_ROOM_SEED = 100_000;

export function roomKey(size: WorldSize, seed: number): string {
  return `${size}-${seed}`;
}

const cache = new Map<string, Room>();
/** Rooms are immutable and cheap to rebuild; the bound only keeps a long evaluation from growing without end. */
const CACHE_LIMIT = 2048;

export function generateRoom(size: WorldSize, seed: number): Room {
  const key = roomKey(size, seed);
  let room = cache.get(key);
  if (room === undefined) {
    room = buildRoom(size, seed);
    if (cache.size >= CACHE_LIMIT) cache.delete(cache.keys().next().value as string);
    cache.set(key, room);
  }
  return room;
}

function buildRoom(size: WorldSize, seed: number): Room {
  const random = new Random(hashKey('room', size, seed));
  const scene = random.pick(SCENES[size]);
  const lamp = scene.lamps.length > 0 ? random.pick(scene.lamps) : null;
  const receptacles = instances(chooseReceptacles(scene, random.split('receptacles')));
  const receptacleTypes = receptacles.map(({ type }) => type);
  const objects = instances(chooseObjects(size, scene, lamp, receptacleTypes, random.split('objects')));

  const fronts = random.split('fronts');
  const openable = Uint8Array.from(receptacleTypes, (type) => {
    const fixed = (type === 'cabinet' || type === 'drawer') && fronts.chance(scene.fixedFrontShare);
    return RECEPTACLE_TYPES.get(type)!.openable && !fixed ? 1 : 0;
  });
  const places = random.split('places');
  const startAt = Int8Array.from(objects, ({ type }) => {
    const candidates = receptacleTypes.map((r, i) => (mayStartIn(r, type) ? i : -1)).filter((i) => i >= 0);
    return places.pick(candidates);
  });
  const receptacleNames = receptacles.map(({ name }) => name);
  const objectNames = objects.map(({ name }) => name);
  return {
    key: roomKey(size, seed),
    size,
    seed,
    scene: scene.name,
    receptacleNames,
    receptacleTypes,
    openable,
    objectNames,
    objectTypes: objects.map(({ type }) => type),
    objectProperties: objects.map(({ type }) => OBJECT_TYPES.get(type)!),
    startAt,
    accepts: Uint8Array.from(receptacles.flatMap((r) => objects.map((o) => (canContain(r.type, o.type) ? 1 : 0)))),
    receptacleIndex: new Map(receptacleNames.map((name, i) => [name, i])),
    objectIndex: new Map(objectNames.map((name, i) => [name, i])),
  };
}

/** How many of each type; type name -> number. */
type Counts = Map<string, number>;

/** Type ascending, number descending: the order ALFWorld's naming produces. */
function instances(counts: Counts): { type: string; name: string }[] {
  return [...counts]
    .filter(([, count]) => count > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([type, count]) => Array.from({ length: count }, (_, i) => ({ type, name: `${type} ${count - i}` })));
}

function total(counts: Counts): number {
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
}

function chooseReceptacles(scene: Scene, random: Random): Counts {
  const counts: Counts = new Map(scene.receptacles.map(([type, least]) => [type, least]));
  if (scene.lampCarriers.length > 0 && !scene.lampCarriers.some((type) => counts.get(type)! > 0)) {
    counts.set(random.pick(scene.lampCarriers), 1);
  }
  const target = random.between(...scene.receptacleCount);
  while (total(counts) < target) {
    const room = scene.receptacles.filter(([type, , most]) => counts.get(type)! < most);
    if (room.length === 0) break;
    const [type] = random.pick(room);
    counts.set(type, counts.get(type)! + 1);
  }
  return counts;
}

/**
 * Draws types until the room is full, and sees to it that every task family its receptacles allow has something to
 * work on: one heatable, coolable and cleanable object each, and one type that exists twice.
 */
function chooseObjects(
  size: WorldSize,
  scene: Scene,
  lamp: string | null,
  receptacleTypes: readonly string[],
  random: Random,
): Counts {
  const counts: Counts = new Map();
  const housed = scene.objects.filter((type) => receptacleTypes.filter((r) => mayStartIn(r, type)).length >= 2);
  if (lamp !== null) {
    const lampStands = receptacleTypes.some((type) => mayStartIn(type, lamp));
    counts.set(lampStands ? lamp : scene.lamps[0], 1);
  }
  for (const fixture of scene.fixtures) {
    if (receptacleTypes.some((type) => mayStartIn(type, fixture)) && random.chance(0.7)) counts.set(fixture, 1);
  }
  const add = (type: string) => counts.set(type, Math.min(MOST_COPIES[size], (counts.get(type) ?? 0) + 1));
  const properties = [
    [STATIONS.heat, 'heatable'],
    [STATIONS.cool, 'coolable'],
    [STATIONS.clean, 'cleanable'],
  ] as const;
  for (const [station, property] of properties) {
    if (!receptacleTypes.includes(station)) continue;
    if ([...counts.keys()].some((type) => OBJECT_TYPES.get(type)![property])) continue;
    add(random.pick(housed.filter((type) => OBJECT_TYPES.get(type)![property])));
  }
  add(random.pick(housed.filter((type) => counts.has(type)).concat(random.pick(housed))));
  const target = random.between(...scene.objectCount);
  // A new type twice as often as another copy, so that "which one?" and "is there a second?" both matter.
  while (total(counts) < target) {
    const present = housed.filter((type) => counts.has(type) && counts.get(type)! < MOST_COPIES[size]);
    const absent = housed.filter((type) => !counts.has(type));
    if (present.length === 0 && absent.length === 0) break;
    // The last free place goes to the pair that "put two" needs, if chance has made none.
    const pairDue = total(counts) === target - 1 && !housed.some((type) => (counts.get(type) ?? 0) >= 2);
    const copy = absent.length === 0 || pairDue || (present.length > 0 && random.chance(1 / 3));
    add(random.pick(copy ? present : absent));
  }
  return counts;
}
