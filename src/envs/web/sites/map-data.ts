/** @file An invented city: places on a street grid, and how far it is between them. */
import { Random } from '../../household/random';

export interface Place {
  readonly id: number;
  readonly name: string;
  readonly kind: string;
  readonly street: string;
  readonly postcode: string;
  readonly phone: string;
  readonly hours: string;
  /** Metres east and north of the city's corner. */
  readonly x: number;
  readonly y: number;
}

export const CITY = 'Port Lyra';
export const KINDS = [
  'cafe',
  'hotel',
  'museum',
  'library',
  'pharmacy',
  'park',
  'school',
  'station',
  'bakery',
  'cinema',
] as const;
const WORDS = [
  'Anchor',
  'Beacon',
  'Cedar',
  'Dolphin',
  'Elm',
  'Falcon',
  'Granite',
  'Harbour',
  'Iris',
  'Juniper',
  'Keel',
  'Linden',
];
const STREETS = [
  'Quay Street',
  'Mill Lane',
  'Castle Road',
  'Orchard Way',
  'Bridge Street',
  'Tower Hill',
  'Canal Walk',
  'Market Square',
];

const random = new Random('web/map');

export const PLACES: readonly Place[] = KINDS.flatMap((kind) =>
  random
    .shuffle([...WORDS])
    .slice(0, 6)
    .map((word) => ({ kind, word })),
).map(({ kind, word }, index) => ({
  id: index + 1,
  name: `${word} ${kind[0].toUpperCase()}${kind.slice(1)}`,
  kind,
  street: `${random.between(1, 120)} ${random.pick(STREETS)}`,
  postcode: `410${random.between(10, 30)}`,
  phone: `555-02${random.between(1000, 9999)}`,
  hours: `${random.between(7, 10)}:00 to ${random.between(17, 22)}:00`,
  x: random.int(80) * 100,
  y: random.int(60) * 100,
}));

export const addressOf = (place: Place): string => `${place.street}, ${CITY}, ${place.postcode}`;

/** Degrees, five decimals: the city lies at 48.2 north, 3.1 west of nowhere in particular. */
export const coordinatesOf = (place: Place): string =>
  `${(48.2 + place.y / 111_000).toFixed(4)}, ${(-3.1 + place.x / 74_000).toFixed(4)}`;

export const MODES = ['walk', 'bike', 'drive'] as const;
export type Mode = (typeof MODES)[number];
/** Metres in a minute. */
const SPEED: Record<Mode, number> = { walk: 80, bike: 250, drive: 500 };

/** Along the streets of a grid; cars go round one block. */
export function distanceOf(from: Place, to: Place, mode: Mode): number {
  const metres = Math.abs(from.x - to.x) + Math.abs(from.y - to.y);
  return mode === 'drive' && metres > 0 ? metres + 400 : metres;
}

export const minutesOf = (from: Place, to: Place, mode: Mode): number =>
  Math.ceil(distanceOf(from, to, mode) / SPEED[mode]);

export const kilometres = (metres: number): string => `${(metres / 1000).toFixed(1)} km`;

export const placeNamed = (name: string): Place | undefined =>
  PLACES.find((place) => place.name.toLowerCase() === name.trim().toLowerCase());

/** Other places of a kind, nearest on foot first. */
export const nearest = (from: Place, kind: string): Place[] =>
  PLACES.filter((place) => place.kind === kind && place.id !== from.id).sort(
    (a, b) => distanceOf(from, a, 'walk') - distanceOf(from, b, 'walk') || a.id - b.id,
  );
