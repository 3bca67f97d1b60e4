import { describe, expect, it } from 'vitest';
import { lockRun } from '../../src/store/run-lock';
import { askToPersist, storageUsage } from '../../src/store/storage-usage';

/** A lock manager as the standard describes it, for exclusive locks. */
function lockManager(): LockManager {
  const tails = new Map<string, Promise<void>>();
  const request = async (name: string, options: LockOptions, work: (lock: Lock) => Promise<void>) => {
    const before = tails.get(name) ?? Promise.resolve();
    let finish = () => {};
    tails.set(
      name,
      before.then(
        () =>
          new Promise<void>((resolve) => {
            finish = resolve;
          }),
      ),
    );
    const aborted = new Promise<never>((_, reject) => {
      options.signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
    });
    await Promise.race([before, aborted]).catch((error) => {
      void before.then(() => finish());
      throw error;
    });
    await Promise.resolve();
    await work({ name, mode: 'exclusive' });
    finish();
  };
  return { request, query: async () => ({}) } as unknown as LockManager;
}

describe('one tab a run', () => {
  it('the second tab is refused with advice; after the first lets go it may', async () => {
    const locks = lockManager();
    const release = await lockRun('a', locks, 20);
    await expect(lockRun('a', locks, 20)).rejects.toMatchObject({ name: 'DreamError', code: 'run-locked' });
    (await lockRun('b', locks, 20))();
    release();
    (await lockRun('a', locks, 200))();
  });

  it('waits a moment for a tab that is just closing', async () => {
    const locks = lockManager();
    const release = await lockRun('a', locks, 20);
    setTimeout(release, 30);
    (await lockRun('a', locks, 500))();
  });

  it('goes on without locks where there are none or they are forbidden', async () => {
    (await lockRun('a', undefined))();
    const forbidden = { request: () => Promise.reject(new DOMException('no', 'SecurityError')) };
    (await lockRun('a', forbidden as unknown as LockManager))();
  });
});

describe('storage usage', () => {
  it('reports bytes and persistence, and null where the browser is silent', async () => {
    const storage = {
      estimate: async () => ({ usage: 5, quota: 10 }),
      persisted: async () => true,
      persist: async () => true,
    };
    expect(await storageUsage(storage as unknown as StorageManager)).toEqual({
      usageBytes: 5,
      quotaBytes: 10,
      persisted: true,
    });
    expect(await askToPersist(storage as unknown as StorageManager)).toBe(true);
    expect(await storageUsage({} as StorageManager)).toBeNull();
    expect(await askToPersist({} as StorageManager)).toBe(false);
    const broken = {
      estimate: async () => {
        throw new Error('no');
      },
    };
    expect(await storageUsage(broken as unknown as StorageManager)).toBeNull();
  });
});
