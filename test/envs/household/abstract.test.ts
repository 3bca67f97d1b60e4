import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entityNames, toAbstract, toRaw, vocabularyOf } from '../../../src/envs/household';

const { receptacles, objects } = vocabularyOf('full');
const name = (types: { type: string }[]) =>
  fc
    .tuple(fc.constantFrom(...types.map(({ type }) => type)), fc.integer({ min: 1, max: 30 }))
    .map(([t, n]) => `${t} ${n}`);
const place = name(receptacles);
const thing = name(objects);
const seen = fc.array(thing, { maxLength: 6 }).map((names) => (names.length === 0 ? 'nothing' : names.join(' ')));

/** Abstract observations with the action they answer. */
const observation = fc.oneof(
  fc.array(place, { minLength: 1, maxLength: 12 }).map((names) => [`room ${names.join(' ')}`, 'look']),
  fc
    .tuple(place, seen, fc.constantFrom('go to', 'examine'))
    .map(([r, s, verb]) => [`at ${r} see ${s}`, `${verb} ${r}`]),
  fc.tuple(place, seen, fc.constantFrom('go to', 'examine')).map(([r, s, v]) => [`at ${r} open see ${s}`, `${v} ${r}`]),
  fc.tuple(place, fc.constantFrom('go to', 'examine')).map(([r, verb]) => [`at ${r} closed`, `${verb} ${r}`]),
  fc.tuple(place, seen).map(([r, s]) => [`open ${r} see ${s}`, `open ${r}`]),
  fc.tuple(place, seen).map(([r, s]) => [`facing ${r} see ${s}`, 'look']),
  fc.tuple(place, place, place).map(([a, b, c]) => [`facing ${a} ${b} ${c} see nothing`, 'look']),
  place.map((r) => [`close ${r}`, `close ${r}`]),
  fc.tuple(thing, place).map(([o, r]) => [`take ${o} ${r}`, `take ${o} from ${r}`]),
  fc.tuple(thing, place).map(([o, r]) => [`put ${o} ${r}`, `put ${o} in/on ${r}`]),
  fc.tuple(thing, place).map(([o, r]) => [`put ${o} ${r}`, `move ${o} to ${r}`]),
  fc
    .tuple(fc.constantFrom('clean', 'heat', 'cool'), thing, place)
    .map(([v, o, r]) => [`${v} ${o} ${r}`, `${v} ${o} with ${r}`]),
  fc.tuple(thing, thing).map(([o, k]) => [`slice ${o} ${k}`, `slice ${o} with ${k}`]),
  thing.map((o) => [`use ${o}`, `use ${o}`]),
  fc.constantFrom(['carry nothing', 'inventory'], ['nothing happens', 'dance'], ['help', 'help']),
  thing.map((o) => [`carry ${o}`, 'inventory']),
  fc
    .tuple(
      thing,
      fc.constantFrom(
        'plain',
        'on',
        'off',
        'clean',
        'hot',
        'cool',
        'sliced',
        'clean sliced',
        'hot sliced',
        'cool sliced',
      ),
    )
    .map(([o, how]) => [`state ${o} ${how}`, `examine ${o}`]),
  fc
    .tuple(thing, fc.constantFrom('hot clean', 'cool clean', 'hot clean sliced', 'cool clean sliced'))
    .map(([o, how]) => [`state ${o} ${how}`, `examine ${o}`]),
);

describe('the mapping', () => {
  it('goes round: abstract -> sentence -> abstract', () => {
    fc.assert(
      fc.property(observation, ([abstract, action]) => {
        const raw = toRaw(abstract, action);
        expect(raw).not.toBe(abstract);
        expect(toAbstract(raw)).toBe(abstract);
        expect(toRaw(toAbstract(raw), action)).toBe(raw);
      }),
      { numRuns: 3000, seed: 7 },
    );
  });

  it('is total: other text comes back as it was', () => {
    const words = fc.constantFrom(
      ...entityNames('small')
        .slice(0, 5)
        .flatMap((n) => n.split(' ')),
      'at',
      'see',
      'state',
      'room',
      'open',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(words, { maxLength: 9 }).map((w) => w.join(' ')),
    );
    fc.assert(
      fc.property(text, fc.string(), (any, action) => {
        expect(typeof toAbstract(any)).toBe('string');
        const raw = toRaw(any, action);
        // Either it is well-formed abstract text, which goes round, or it is left alone.
        if (raw !== any) expect(toAbstract(raw)).toBe(any);
      }),
      { numRuns: 3000, seed: 7 },
    );
    for (const text of [
      '',
      'at',
      'at shelf',
      'at shelf 1',
      'at shelf 1 see',
      'at shelf 1 see cup',
      'carry cup',
      'take cup 1',
    ]) {
      expect(toRaw(text, 'look')).toBe(text);
    }
    expect(toAbstract('OK.')).toBe('OK.');
  });

  it('reads the wordings of older versions', () => {
    expect(toAbstract('You arrive at loc 12. On the shelf 1, you see a cup 1.')).toBe('at shelf 1 see cup 1');
    expect(toAbstract('You arrive at the location. The safe 1 is closed.')).toBe('at safe 1 closed');
    expect(toAbstract('On the desk 2, you see a alarmclock 2, a bowl 1, a mug 1.')).toBe(
      'at desk 2 see alarmclock 2 bowl 1 mug 1',
    );
    expect(toAbstract('\nOn the desk 2, you see nothing. ')).toBe('at desk 2 see nothing');
  });

  it('survives hostile text in linear time', () => {
    const long = `On the desk 2, you see ${'a cup 1, '.repeat(20_000)}`;
    const start = performance.now();
    expect(toAbstract(long)).toBe(long);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});
