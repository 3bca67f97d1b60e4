/**
 * @file Opens the database, and runs one transaction at a time through it with typed errors.
 *
 * A connection gets out of the way when another tab upgrades or deletes the database, and is opened anew when the
 * browser closed it (storage cleared, process killed).
 */
import { type IDBPDatabase, type IDBPTransaction, openDB, type StoreNames } from 'idb';
import { type DreamDatabase, databaseName, databaseVersion } from './schema';
import { storageDenied, storageError, storageInUse } from './storage-errors';

type Stores = StoreNames<DreamDatabase>[];
export type Transaction<Mode extends IDBTransactionMode> = IDBPTransaction<DreamDatabase, Stores, Mode>;

export class Database {
  private connection: Promise<IDBPDatabase<DreamDatabase>> | null = null;

  constructor(private readonly name = databaseName) {}

  /** Throws `storage-denied` when this page may keep nothing. */
  async open(): Promise<IDBPDatabase<DreamDatabase>> {
    this.connection ??= openConnection(this.name, () => this.forget());
    try {
      return await this.connection;
    } catch (error) {
      this.forget();
      throw storageError(error, 'opening');
    }
  }

  /**
   * All of `work` or nothing. It may await only requests of this transaction, else IndexedDB commits under its feet.
   * Throws DreamError.
   */
  async transact<Mode extends IDBTransactionMode, T>(
    stores: readonly StoreNames<DreamDatabase>[],
    mode: Mode,
    work: (transaction: Transaction<Mode>) => Promise<T>,
  ): Promise<T> {
    const transaction = await this.begin(stores, mode);
    const doing = mode === 'readonly' ? 'reading' : 'writing';
    // Both may reject, in either order; neither rejection may go unheard.
    const done = transaction.done.then(
      () => null,
      (error: unknown) => error ?? new DOMException('The transaction was aborted.', 'AbortError'),
    );
    let result: T;
    try {
      result = await work(transaction);
    } catch (error) {
      abort(transaction);
      await done;
      // When the disk is full the requests only say "aborted"; the transaction knows why.
      throw storageError(transaction.error ?? error, doing);
    }
    const failure = await done;
    if (failure) throw storageError(transaction.error ?? failure, doing);
    return result;
  }

  async close(): Promise<void> {
    const connection = this.connection;
    this.forget();
    (await connection?.catch(() => null))?.close();
  }

  private async begin<Mode extends IDBTransactionMode>(
    stores: readonly StoreNames<DreamDatabase>[],
    mode: Mode,
  ): Promise<Transaction<Mode>> {
    // 'strict': the browser answers only when the operating system has the bytes, so "saved" means saved.
    const options: IDBTransactionOptions = mode === 'readonly' ? {} : { durability: 'strict' };
    try {
      return (await this.open()).transaction([...stores], mode, options);
    } catch {
      // A connection that was closed under us throws InvalidStateError: open a new one, once.
      this.forget();
      try {
        return (await this.open()).transaction([...stores], mode, options);
      } catch (error) {
        throw storageError(error, 'opening');
      }
    }
  }

  private forget(): void {
    this.connection = null;
  }
}

/** Writes need not be awaited one by one: the transaction fails, and says why, when any of them does. */
export function enqueue(request: Promise<unknown>): void {
  request.catch(() => {});
}

function abort(transaction: { abort(): void }): void {
  try {
    transaction.abort();
  } catch {
    // Already aborted or committed.
  }
}

function openConnection(name: string, onClosed: () => void): Promise<IDBPDatabase<DreamDatabase>> {
  if (typeof indexedDB === 'undefined') return Promise.reject(storageDenied('there is no IndexedDB here'));
  return new Promise((resolve, reject) => {
    let refused = false;
    // Firefox throws, Chrome rejects: both arrive below.
    new Promise<IDBPDatabase<DreamDatabase>>((open) =>
      open(
        openDB<DreamDatabase>(name, databaseVersion, {
          upgrade: createStores,
          blocked() {
            refused = true;
            reject(storageInUse());
          },
          blocking(_current, _blocked, event) {
            (event.target as IDBDatabase).close();
            onClosed();
          },
          terminated: onClosed,
        }),
      ),
    ).then((database) => {
      // It opened after all, when the other tab went away: too late for the caller, and it must not block others.
      if (refused) database.close();
      else resolve(database);
    }, reject);
  });
}

function createStores(database: IDBPDatabase<DreamDatabase>): void {
  database.createObjectStore('runs', { keyPath: 'runId' });
  database.createObjectStore('snapshots', { keyPath: ['runId', 'iteration'] });
  const buffer = database.createObjectStore('buffer', { keyPath: ['runId', 'transition.id'] });
  buffer.createIndex('since', ['runId', 'since']);
  database.createObjectStore('tasks', { keyPath: ['runId', 'iteration'] });
  database.createObjectStore('metrics', { keyPath: ['runId', 'iteration'] });
  database.createObjectStore('rollouts', { keyPath: ['runId', 'iteration'] });
}
