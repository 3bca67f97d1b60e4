import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { featureDimension, transitionFeatures } from '../../src/dream/features';
import { type NewTransition, ReplayBuffer } from '../../src/dream/replay-buffer';
import { retrieve } from '../../src/dream/retrieval';
import type { Transition } from '../../src/dream/run-store';
import { cpuTopK } from './cpu-top-k';

let counter = 0;
const transition = (changes: Partial<NewTransition> = {}): NewTransition => ({
  source: 'offline',
  episode: 'e',
  room: 'small-1',
  task: 'put a cup in shelf',
  state: 'room shelf 1',
  action: 'go to shelf 1',
  nextState: `at shelf 1 see cup ${counter++}`,
  reward: 0,
  ...changes,
});

const sources = (buffer: ReplayBuffer) => buffer.transitions().map((t) => t.source);

describe('the replay buffer', () => {
  it('evicts the oldest imagined first, then real, offline last', () => {
    const buffer = new ReplayBuffer(4);
    const add = (source: Transition['source']) => buffer.add([transition({ source })]);
    for (const source of ['offline', 'imagined', 'real', 'imagined', 'real'] as const) add(source);
    expect(sources(buffer)).toEqual(['offline', 'real', 'imagined', 'real']);
    expect(buffer.transitions().map((t) => t.id)).toEqual([0, 2, 3, 4]);
    add('offline');
    add('offline');
    expect(sources(buffer)).toEqual(['offline', 'real', 'offline', 'offline']);
    add('offline');
    add('offline');
    expect(sources(buffer)).toEqual(['offline', 'offline', 'offline', 'offline']);
    // Only offline data left: the oldest of it goes.
    expect(buffer.transitions()[0].id).toBe(5);
    // A newcomer that is worth least leaves at once.
    add('imagined');
    expect(buffer.count('imagined')).toBe(0);
    expect(buffer.size).toBe(4);
  });

  it('stores nothing twice, and again only after it was evicted', () => {
    const buffer = new ReplayBuffer(1);
    const once = transition();
    expect(buffer.add([once, { ...once, episode: 'another', source: 'imagined' }])).toBe(1);
    buffer.add([transition()]);
    expect(buffer.add([once])).toBe(1);
  });

  it('indices follow evictions', () => {
    const buffer = new ReplayBuffer(2);
    buffer.add([transition({ action: 'look' }), transition(), transition()]);
    expect(buffer.recall('small-1', 'look', '')).toEqual([]);
    expect(buffer.recall('small-1', 'go to shelf 1', '')).toHaveLength(2);
    expect(buffer.ofRoom('small-1').map((t) => t.id)).toEqual([1, 2]);
    expect(buffer.ofRoom('small-2')).toEqual([]);
  });

  it('is put together again from its changes, commit by commit', () => {
    const source = fc.constantFrom<Transition['source']>('offline', 'imagined', 'real');
    const step = fc.record({ source, n: fc.nat(12), commit: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 12 }), (steps, capacity) => {
        const buffer = new ReplayBuffer(capacity);
        const kept = new Map<number, Transition>();
        let nextId = 0;
        const commit = () => {
          const changes = buffer.takeChanges();
          for (const t of changes.added) kept.set(t.id, t);
          for (const id of changes.removed) kept.delete(id);
          nextId = changes.nextId;
        };
        for (const { source, n, commit: now } of steps) {
          buffer.add([transition({ source, nextState: `see ${n}` })]);
          if (now) commit();
        }
        commit();
        expect(buffer.size).toBeLessThanOrEqual(capacity);
        const restored = ReplayBuffer.restore(capacity, { transitions: [...kept.values()], nextId });
        expect(restored.transitions()).toEqual(buffer.transitions());
        // From here on both go the same way.
        for (const b of [buffer, restored])
          b.add([transition({ nextState: 'see 99' }), transition({ nextState: 'x' })]);
        expect(restored.transitions()).toEqual(buffer.transitions());
        expect(restored.takeChanges()).toEqual(buffer.takeChanges());
      }),
    );
  });
});

describe('features', () => {
  const cosine = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, i) => sum + x * b[i], 0);

  it('are unit vectors, equal for equal text, and order by likeness', () => {
    const a = transitionFeatures('at shelf 1 see cup 1', 'take cup 1 from shelf 1');
    const near = transitionFeatures('at shelf 1 see cup 1 mug 2', 'take cup 1 from shelf 1');
    const far = transitionFeatures('room desk 1', 'look');
    expect(a).toHaveLength(featureDimension);
    expect(cosine(a, a)).toBeCloseTo(1, 5);
    expect(cosine(a, near)).toBeGreaterThan(0.8);
    expect(cosine(a, far)).toBeLessThan(0.4);
    expect(transitionFeatures('', '').every((x) => x === 0)).toBe(true);
  });
});

describe('retrieval', () => {
  const query = { room: 'small-1', state: 'room shelf 1', action: 'go to shelf 1', episode: 'mine' };

  it('answers from the same room and action, most similar first, never from the own episode', async () => {
    const buffer = new ReplayBuffer(100);
    buffer.add([
      transition({ state: 'at desk 1 see nothing', nextState: 'other state' }),
      transition({ nextState: 'same state' }),
      transition({ room: 'small-2', nextState: 'other room' }),
      transition({ action: 'look', nextState: 'other action' }),
      transition({ episode: 'mine', nextState: 'own episode' }),
    ]);
    const [found] = await retrieve(buffer, [query], 3, cpuTopK);
    expect(found.map((m) => m.transition.nextState)).toEqual(['same state', 'other state']);
    expect(found[0].similarity).toBeCloseTo(1, 5);
  });

  it('prefers what was seen to what was dreamed, and what is fresh among equals', async () => {
    const buffer = new ReplayBuffer(100);
    buffer.add([
      transition({ nextState: 'seen', state: 'at desk 1 see nothing' }),
      transition({ nextState: 'dreamed', source: 'imagined' }),
      transition({ action: 'look', nextState: 'old dream', source: 'imagined' }),
      transition({ action: 'look', nextState: 'new dream', source: 'imagined' }),
    ]);
    const found = await retrieve(buffer, [query, { ...query, action: 'look' }], 1, cpuTopK);
    expect(found.map((memories) => memories.map((m) => m.transition.nextState))).toEqual([['seen'], ['new dream']]);
  });

  it('answers many queries at once and leaves those without a memory empty', async () => {
    const buffer = new ReplayBuffer(100);
    buffer.add([transition(), transition({ action: 'look' })]);
    const queries = [query, { ...query, action: 'open shelf 1' }, { ...query, action: 'look' }];
    const found = await retrieve(buffer, queries, 2, cpuTopK);
    expect(found.map((memories) => memories.length)).toEqual([1, 0, 1]);
    expect(found[2][0].transition.action).toBe('look');
    expect(await retrieve(buffer, queries, 0, cpuTopK)).toEqual([[], [], []]);
    expect(await retrieve(new ReplayBuffer(5), queries, 2, cpuTopK)).toEqual([[], [], []]);
  });
});
