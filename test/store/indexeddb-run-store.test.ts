import 'fake-indexeddb/auto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BufferChanges, RunStore, StoredRun } from '../../src/dream/run-store';
import { Database } from '../../src/store/database';
import { IndexedDbRunStore } from '../../src/store/indexeddb-run-store';
import { MemoryRunStore } from '../../src/store/memory-run-store';
import { databaseVersion } from '../../src/store/schema';
import { range, snapshotAt, steadyChanges, transition } from './snapshots';

let databaseCount = 0;
let database: Database;
let name: string;
let store: IndexedDbRunStore;

beforeEach(() => {
  name = `test-${databaseCount++}`;
  database = new Database(name);
  store = new IndexedDbRunStore({ database });
});

afterEach(async () => {
  vi.restoreAllMocks();
  await store.close();
});

async function saveUpTo(last: number, target: RunStore = store): Promise<void> {
  for (let i = 0; i <= last; i++) await target.save(i, await snapshotAt(i, steadyChanges(i)));
}

/** What must come back: the contract of the interface, written with the plain store. */
async function expectedAt(last: number): Promise<StoredRun | null> {
  const memory = new MemoryRunStore();
  await saveUpTo(last, memory);
  return memory.load('run-a');
}

const keysOf = (storeName: 'snapshots' | 'tasks' | 'buffer' | 'metrics' | 'rollouts') =>
  database.transact([storeName], 'readonly', (t) => t.objectStore(storeName).getAllKeys());

describe('a run in IndexedDB', () => {
  it('comes back whole, buffer and rollouts put together from all commits', async () => {
    await saveUpTo(4);
    const run = await store.load('run-a');
    expect(run).toEqual(await expectedAt(4));
    expect(run?.buffer.transitions.map((t) => t.id)).toEqual(range(3, 15));
    expect(run?.rollouts.map((r) => r.iteration)).toEqual([1, 2, 3, 4]);
    expect(run?.policy.weights.get('layers.0.q')).toEqual(
      (await snapshotAt(4, steadyChanges(4))).policy.weights.get('layers.0.q'),
    );
  });

  it('is null when nobody saved it', async () => {
    expect(await store.load('nobody')).toBeNull();
    expect(await store.latest()).toBeNull();
  });

  it('keeps weights of the last two iterations only, and metrics of all', async () => {
    await saveUpTo(5);
    expect(await keysOf('snapshots')).toEqual([
      ['run-a', 4],
      ['run-a', 5],
    ]);
    expect(await keysOf('tasks')).toEqual([
      ['run-a', 4],
      ['run-a', 5],
    ]);
    expect((await keysOf('metrics')).length).toBe(6);
    expect((await keysOf('rollouts')).length).toBe(5);
  });

  it('writes only what changed in the buffer', async () => {
    await saveUpTo(3);
    const put = vi.spyOn(IDBObjectStore.prototype, 'put');
    await store.save(4, await snapshotAt(4, steadyChanges(4)));
    const written = put.mock.contexts.map((objectStore) => (objectStore as IDBObjectStore).name);
    expect(written.filter((storeName) => storeName === 'buffer').length).toBe(3);
    expect(written.filter((storeName) => storeName === 'metrics').length).toBeLessThanOrEqual(2);
    expect(written.length).toBeLessThan(12);
  });

  it('asks for strict durability and uses one transaction an iteration', async () => {
    await store.probe();
    const begin = vi.spyOn(IDBDatabase.prototype, 'transaction');
    await store.save(0, await snapshotAt(0, steadyChanges(0)));
    expect(begin).toHaveBeenCalledTimes(1);
    expect(begin.mock.calls[0].slice(1)).toEqual(['readwrite', { durability: 'strict' }]);
  });

  it('survives a crash after any request of a commit: the last finished iteration is intact', async () => {
    const before = await expectedAt(3);
    const after = await expectedAt(4);
    let crashes = 0;
    for (let crashAt = 1; ; crashAt++) {
      name = `crash-${databaseCount++}`;
      const crashed = new IndexedDbRunStore({ database: new Database(name) });
      await saveUpTo(3, crashed);
      let requests = 0;
      const crash = function (this: IDBObjectStore) {
        if (++requests === crashAt) this.transaction.abort();
      };
      for (const method of ['put', 'delete'] as const) {
        const original = IDBObjectStore.prototype[method] as (...args: unknown[]) => IDBRequest;
        vi.spyOn(IDBObjectStore.prototype, method).mockImplementation(function (
          this: IDBObjectStore,
          ...args: unknown[]
        ) {
          const request = original.apply(this, args);
          crash.call(this);
          return request as never;
        });
      }
      const saved = await crashed.save(4, await snapshotAt(4, steadyChanges(4))).then(
        () => true,
        (error: { code: string }) => {
          expect(error.code).toBe('storage-failed');
          return false;
        },
      );
      vi.restoreAllMocks();
      await crashed.close();
      const reopened = new IndexedDbRunStore({ database: new Database(name) });
      expect(await reopened.load('run-a')).toEqual(saved ? after : before);
      if (saved) {
        await reopened.close();
        break;
      }
      crashes++;
      // And the run goes on as if nothing had happened.
      await reopened.save(4, await snapshotAt(4, steadyChanges(4)));
      expect(await reopened.load('run-a')).toEqual(after);
      await reopened.close();
    }
    expect(crashes).toBeGreaterThan(8);
  });

  it('falls back one iteration when the newest weights are damaged, says so, and goes on from there', async () => {
    const rolledBack: unknown[] = [];
    store = new IndexedDbRunStore({ database, onRollBack: (...what) => rolledBack.push(what) });
    await saveUpTo(4);
    await database.transact(['snapshots'], 'readwrite', async (t) => {
      const row = await t.objectStore('snapshots').get(['run-a', 4]);
      row!.weights.data[3] += 1;
      await t.objectStore('snapshots').put(row!);
    });
    expect(await store.load('run-a')).toEqual(await expectedAt(3));
    expect(rolledBack).toEqual([['run-a', 4, 3]]);
    expect((await store.latest())?.iteration).toBe(3);
    await store.save(4, await snapshotAt(4, steadyChanges(4)));
    expect(await store.load('run-a')).toEqual(await expectedAt(4));
  });

  it('says corrupt-run when both snapshots are gone', async () => {
    await saveUpTo(2);
    await database.transact(['snapshots'], 'readwrite', (t) => t.objectStore('snapshots').clear());
    await expect(store.load('run-a')).rejects.toMatchObject({ name: 'DreamError', code: 'corrupt-run' });
  });

  it('replaces a run that begins again, and refuses an iteration that does not follow', async () => {
    await saveUpTo(3);
    await expect(store.save(5, await snapshotAt(5, steadyChanges(5)))).rejects.toMatchObject({ code: 'run-conflict' });
    await expect(store.save(2, await snapshotAt(2, steadyChanges(2)))).rejects.toMatchObject({ code: 'run-conflict' });
    expect(await store.load('run-a')).toEqual(await expectedAt(3));
    await store.save(0, await snapshotAt(0, steadyChanges(0)));
    expect(await store.load('run-a')).toEqual(await expectedAt(0));
    expect(await keysOf('buffer')).toHaveLength(3);
  });

  it('lets the same iteration be saved again, on top', async () => {
    await saveUpTo(2);
    const again = { ...(await snapshotAt(2, { added: [], removed: [3], nextId: 9 })), phase: 'finished' as const };
    await store.save(2, again);
    const run = await store.load('run-a');
    expect(run?.phase).toBe('finished');
    expect(run?.buffer.transitions.map((t) => t.id)).toEqual([1, 2, 4, 5, 6, 7, 8]);
  });

  it('lists newest first, removes one run without touching another, and can remove everything', async () => {
    await saveUpTo(2);
    await store.save(0, await snapshotAt(0, steadyChanges(0), { runId: 'run-b', savedAt: '2027-01-01T00:00:00.000Z' }));
    expect((await store.list()).map((run) => run.runId)).toEqual(['run-b', 'run-a']);
    expect((await store.latest())?.runId).toBe('run-b');
    await store.remove('run-b');
    expect(await store.load('run-b')).toBeNull();
    expect(await store.load('run-a')).toEqual(await expectedAt(2));
    await store.removeEverything();
    expect(await store.list()).toEqual([]);
    expect(await keysOf('buffer')).toEqual([]);
  });

  it('agrees with the plain store for any sequence of commits', async () => {
    const commit = fc.record({ add: fc.nat(6), remove: fc.array(fc.nat(40), { maxLength: 5 }), again: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(commit, { minLength: 1, maxLength: 8 }), async (commits) => {
        const memory = new MemoryRunStore();
        const indexed = new IndexedDbRunStore({ database: new Database(`agree-${databaseCount++}`) });
        let nextId = 0;
        let iteration = -1;
        const alive = new Set<number>();
        for (const { add, remove, again } of commits) {
          const added = range(nextId, nextId + add).map(transition);
          nextId += add;
          for (const { id } of added) alive.add(id);
          const removed = [...new Set(remove)].filter((id) => alive.delete(id));
          const changes: BufferChanges = { added, removed, nextId };
          if (!again || iteration < 1) iteration++;
          const snapshot = await snapshotAt(iteration, changes);
          if (again && iteration > 0) snapshot.rollouts = [];
          await memory.save(iteration, snapshot);
          await indexed.save(iteration, snapshot);
        }
        expect(await indexed.load('run-a')).toEqual(await memory.load('run-a'));
        await indexed.close();
      }),
      { numRuns: 25 },
    );
  });
});

describe('a browser that refuses', () => {
  const failing = (errorName: string) => {
    const original = IDBObjectStore.prototype.put;
    vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (this: IDBObjectStore, ...args) {
      const request = original.apply(this, args as [unknown]);
      // As browsers do: the requests say "aborted", the transaction says why.
      if (this.name === 'snapshots') (this.transaction as unknown as { _abort(n: string): void })._abort(errorName);
      return request;
    });
  };

  it('storage full: typed, with advice, nothing lost', async () => {
    await saveUpTo(2);
    failing('QuotaExceededError');
    await expect(store.save(3, await snapshotAt(3, steadyChanges(3)))).rejects.toMatchObject({
      name: 'DreamError',
      code: 'storage-full',
      advice: expect.stringMatching(/Delete old runs/),
    });
    vi.restoreAllMocks();
    expect(await store.load('run-a')).toEqual(await expectedAt(2));
    await store.save(3, await snapshotAt(3, steadyChanges(3)));
    expect(await store.load('run-a')).toEqual(await expectedAt(3));
  });

  it.each(['SecurityError', 'InvalidStateError', 'UnknownError'])(
    'open fails with %s: storage-denied',
    async (errorName) => {
      vi.spyOn(indexedDB, 'open').mockImplementation(() => {
        throw new DOMException('The operation is insecure.', errorName);
      });
      await expect(store.probe()).rejects.toMatchObject({ code: 'storage-denied' });
      vi.restoreAllMocks();
      await store.probe();
    },
  );

  it('no IndexedDB at all: storage-denied', async () => {
    vi.stubGlobal('indexedDB', undefined);
    await expect(store.probe()).rejects.toMatchObject({ code: 'storage-denied' });
    vi.unstubAllGlobals();
  });

  it('a newer version of the page used the storage: storage-denied', async () => {
    const newer = indexedDB.open(name, databaseVersion + 1);
    await new Promise((resolve) => {
      newer.onsuccess = resolve;
    });
    newer.result.close();
    await expect(store.probe()).rejects.toMatchObject({ code: 'storage-denied', message: /version/ });
  });

  it('an older tab that does not let go: storage-denied instead of waiting forever', async () => {
    const older = await new Promise<IDBDatabase>((resolve) => {
      const request = indexedDB.open(`old-${name}`, 1);
      request.onsuccess = () => resolve(request.result);
    });
    // The stubborn connection holds version 1; ours asks for a newer one through the same code path.
    const open = indexedDB.open.bind(indexedDB);
    vi.spyOn(indexedDB, 'open').mockImplementation((_name, version) => open(`old-${name}`, (version ?? 1) + 1));
    await expect(store.probe()).rejects.toMatchObject({ code: 'storage-denied', message: /Another tab/ });
    older.close();
  });

  it('gets out of the way when another tab deletes the database, and comes back', async () => {
    await saveUpTo(1);
    await new Promise((resolve, reject) => {
      const request = indexedDB.deleteDatabase(name);
      request.onsuccess = resolve;
      request.onblocked = reject;
    });
    expect(await store.load('run-a')).toBeNull();
    await saveUpTo(1);
    expect(await store.load('run-a')).toEqual(await expectedAt(1));
  });
});
