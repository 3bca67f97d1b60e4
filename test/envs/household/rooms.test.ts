import { describe, expect, it } from 'vitest';
import {
  canContain,
  entityNames,
  FAMILIES,
  feasibleGoals,
  generateRoom,
  hashKey,
  Random,
  vocabularyOf,
  WORLD_SIZES,
} from '../../../src/envs/household';
import { mayStartIn } from '../../../src/envs/household/vocabulary';

describe('random numbers', () => {
  it('are a function of seed and counter', () => {
    const a = new Random('seed');
    const first = [a.uint32(), a.uint32(), a.uint32()];
    const resumed = new Random('seed', 2);
    expect(resumed.uint32()).toBe(first[2]);
    expect(new Random('seed').split('x', 1).uint32()).toBe(new Random('seed').split('x', 1).uint32());
    expect(new Random(1).uint32()).not.toBe(new Random(2).uint32());
    expect(hashKey(2 ** 40)).not.toBe(hashKey(0));
  });

  it('are uniform enough', () => {
    const random = new Random(5);
    const counts = new Array(10).fill(0);
    for (let i = 0; i < 100_000; i++) counts[random.int(10)]++;
    // Chi-square with 9 degrees of freedom: 33.7 is the 0.9999 quantile.
    expect(counts.reduce((sum, n) => sum + (n - 10_000) ** 2 / 10_000, 0)).toBeLessThan(33.7);
  });

  it('keep the same values for ever: stored tasks depend on them', () => {
    const random = new Random(7);
    expect([random.uint32(), random.uint32(), random.uint32()]).toMatchInlineSnapshot(`
      [
        1373699972,
        1728462693,
        3332669600,
      ]
    `);
    expect(generateRoom('small', 17).objectNames.join(' ')).toMatchInlineSnapshot(
      `"apple 3 apple 2 apple 1 book 1 bowl 1 cloth 1 desklamp 1 egg 1 knife 1 pen 2 pen 1 potato 2 potato 1"`,
    );
  });
});

describe.each(WORLD_SIZES)('%s rooms', (size) => {
  const seeds = Array.from({ length: 60 }, (_, i) => i + 1).concat([100_000, 100_001, 2 ** 33 + 5]);
  const known = new Set(entityNames(size));

  it('name everything in the order of ALFWorld, from the vocabulary', () => {
    for (const seed of seeds) {
      const room = generateRoom(size, seed);
      for (const names of [room.receptacleNames, room.objectNames]) {
        expect(new Set(names).size).toBe(names.length);
        for (const name of names) expect(known).toContain(name);
        for (let i = 1; i < names.length; i++) {
          const [type, number] = names[i].split(' ');
          const [before, numberBefore] = names[i - 1].split(' ');
          if (type === before) expect(Number(numberBefore)).toBe(Number(number) + 1);
          else {
            expect(before < type).toBe(true);
            expect(numberBefore).toBe('1');
          }
        }
      }
    }
  });

  it('put every object where such a thing may stand, and some behind closed doors', () => {
    let hidden = 0;
    for (const seed of seeds) {
      const room = generateRoom(size, seed);
      room.startAt.forEach((r, o) => {
        expect(mayStartIn(room.receptacleTypes[r], room.objectTypes[o])).toBe(true);
        if (room.objectProperties[o].pickupable) {
          expect(canContain(room.receptacleTypes[r], room.objectTypes[o])).toBe(true);
        }
        hidden += room.openable[r];
      });
    }
    expect(hidden).toBeGreaterThan(seeds.length);
  });

  it('offer several task families', () => {
    for (const seed of seeds) {
      const families = [...feasibleGoals(generateRoom(size, seed)).keys()];
      expect(families.length).toBeGreaterThanOrEqual(size === 'full' ? 3 : FAMILIES.length);
    }
  });

  it('differ by seed and have unique keys', () => {
    const rooms = seeds.map((seed) => generateRoom(size, seed));
    expect(new Set(rooms.map((room) => room.key)).size).toBe(seeds.length);
    expect(new Set(rooms.map((room) => JSON.stringify([room.receptacleNames, room.objectNames]))).size).toBe(
      seeds.length,
    );
  });
});

describe('sizes', () => {
  it('keep the small world as small as the embedded model needs it', () => {
    const { receptacles, objects } = vocabularyOf('small');
    expect(receptacles).toHaveLength(12);
    expect(objects).toHaveLength(20);
    expect(Math.max(...receptacles.map(({ most }) => most))).toBe(3);
    for (let seed = 1; seed <= 200; seed++) {
      const room = generateRoom('small', seed);
      expect(room.receptacleNames.length).toBeGreaterThanOrEqual(8);
      expect(room.receptacleNames.length).toBeLessThanOrEqual(12);
      expect(room.objectNames.length).toBeGreaterThanOrEqual(8);
      expect(room.objectNames.length).toBeLessThanOrEqual(13);
      for (const type of ['sinkbasin', 'microwave', 'fridge']) expect(room.receptacleTypes).toContain(type);
      expect(room.objectTypes).toContain('desklamp');
    }
  });

  it('nest: what a smaller world names, the full one names too', () => {
    const full = vocabularyOf('full');
    for (const size of ['small', 'medium'] as const) {
      const part = vocabularyOf(size);
      for (const { type } of part.receptacles) expect(full.receptacles.map((r) => r.type)).toContain(type);
      for (const { type } of part.objects) expect(full.objects.map((o) => o.type)).toContain(type);
    }
  });
});
