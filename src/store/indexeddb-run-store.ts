/**
 * @file Runs in IndexedDB: one transaction commits an iteration, so a crash leaves the last finished one intact.
 */
import { asDreamError, DreamError } from '../data/errors';
import type { RunSnapshot, RunStore, RunSummary, StoredRun } from '../dream/run-store';
import { weightsHash } from '../dream/weights-hash';
import type { ModelState } from '../nn/language-model';
import { Database, enqueue, type Transaction } from './database';
import { pack, unpack } from './packed-tensors';
import {
  iterationStores,
  ofRun,
  type RunRow,
  type SnapshotHeader,
  type SnapshotRow,
  snapshotsKept,
  storeNames,
} from './schema';
import { corruptStoredRun } from './storage-errors';

export interface IndexedDbRunStoreOptions {
  database?: Database;
  /** Told when a run had to be taken back to an earlier iteration because the last one could not be read. */
  onRollBack?: (runId: string, from: number, to: number) => void;
}

export class IndexedDbRunStore implements RunStore {
  private readonly database: Database;
  private readonly onRollBack: NonNullable<IndexedDbRunStoreOptions['onRollBack']>;

  constructor(options: IndexedDbRunStoreOptions = {}) {
    this.database = options.database ?? new Database();
    this.onRollBack = options.onRollBack ?? (() => {});
  }

  /** Throws `storage-denied` when nothing can be kept here; better before a run than after its first iteration. */
  async probe(): Promise<void> {
    await this.database.open();
  }

  async save(iteration: number, snapshot: RunSnapshot): Promise<void> {
    const row = snapshotRow(snapshot);
    await this.database.transact(storeNames, 'readwrite', async (transaction) => {
      const { runId } = snapshot;
      const runs = transaction.objectStore('runs');
      let stored = await runs.get(runId);
      if (iteration === 0 && stored) {
        removeRows(transaction, runId);
        stored = undefined;
      }
      if (stored && iteration !== stored.iteration && iteration !== stored.iteration + 1)
        throw conflict(stored.iteration, iteration);
      const evicted = writeBuffer(transaction, snapshot, stored);
      writeRecords(transaction, snapshot, stored?.iteration ?? -1);
      enqueue(transaction.objectStore('tasks').put({ runId, iteration, pool: snapshot.pool }));
      enqueue(transaction.objectStore('snapshots').put(row));
      if (iteration >= snapshotsKept) {
        const outdated = ofRun(runId, 0, iteration - snapshotsKept);
        enqueue(transaction.objectStore('snapshots').delete(outdated));
        enqueue(transaction.objectStore('tasks').delete(outdated));
      }
      enqueue(runs.put({ runId, iteration, header: row.header, evicted }));
    });
  }

  async load(runId: string): Promise<StoredRun | null> {
    const run = await this.database.transact(['runs'], 'readonly', (transaction) =>
      transaction.objectStore('runs').get(runId),
    );
    if (!run) return null;
    try {
      return await this.readAt(runId, 0);
    } catch (error) {
      if (asDreamError(error).code !== 'corrupt-run' || run.iteration === 0) throw error;
      const earlier = await this.readAt(runId, 1);
      await this.rollBack(runId, earlier.iteration);
      this.onRollBack(runId, run.iteration, earlier.iteration);
      return earlier;
    }
  }

  async latest(): Promise<RunSummary | null> {
    return (await this.list())[0] ?? null;
  }

  async list(): Promise<RunSummary[]> {
    const rows = await this.database.transact(['runs'], 'readonly', (transaction) =>
      transaction.objectStore('runs').getAll(),
    );
    return rows
      .map(({ runId, iteration, header }) => ({
        runId,
        iteration,
        phase: header.phase,
        config: header.config,
        created: header.created,
        savedAt: header.savedAt,
      }))
      .sort((a, b) => (a.savedAt < b.savedAt ? 1 : a.savedAt > b.savedAt ? -1 : 0));
  }

  async remove(runId: string): Promise<void> {
    await this.database.transact(storeNames, 'readwrite', async (transaction) => removeRows(transaction, runId));
  }

  /** Everything this page ever kept. */
  async removeEverything(): Promise<void> {
    await this.database.transact(storeNames, 'readwrite', async (transaction) => {
      for (const name of storeNames) enqueue(transaction.objectStore(name).clear());
    });
  }

  async close(): Promise<void> {
    await this.database.close();
  }

  /** The run as of its last iteration, or `back` iterations earlier. Throws `corrupt-run`. */
  private async readAt(runId: string, back: number): Promise<StoredRun> {
    const read = await this.database.transact(storeNames, 'readonly', async (transaction) => {
      const run = await transaction.objectStore('runs').get(runId);
      if (!run) throw corruptStoredRun('it was deleted meanwhile');
      const iteration = run.iteration - back;
      const upToHere = ofRun(runId, 0, iteration);
      const [snapshot, tasks, rows, metrics, rollouts] = await Promise.all([
        transaction.objectStore('snapshots').get([runId, iteration]),
        transaction.objectStore('tasks').get([runId, iteration]),
        transaction.objectStore('buffer').getAll(ofRun(runId)),
        transaction.objectStore('metrics').getAll(upToHere),
        transaction.objectStore('rollouts').getAll(upToHere),
      ]);
      if (!snapshot || !tasks) throw corruptStoredRun(`iteration ${iteration} has no weights or no tasks`);
      const evicted = new Set(back === 0 ? run.evicted : []);
      const transitions = rows
        .filter(({ since, transition }) => since <= iteration && !evicted.has(transition.id))
        .map(({ transition }) => transition);
      return { snapshot, pool: tasks.pool, transitions, metrics, rollouts };
    });
    const { snapshot, pool, transitions, metrics, rollouts } = read;
    return {
      ...snapshot.header,
      policy: await policyOf(snapshot),
      buffer: { transitions, nextId: snapshot.bufferNextId },
      pool,
      metrics: metrics.flatMap((row) => row.metrics ?? []),
      evaluations: metrics.flatMap((row) => row.evaluation ?? []),
      rollouts: rollouts.map(({ iteration, trajectories }) => ({ iteration, trajectories })),
    };
  }

  /** Forgets everything after `iteration`, whose snapshot must still exist. */
  private async rollBack(runId: string, iteration: number): Promise<void> {
    await this.database.transact(storeNames, 'readwrite', async (transaction) => {
      const snapshot = await transaction.objectStore('snapshots').get([runId, iteration]);
      if (!snapshot) throw corruptStoredRun(`iteration ${iteration} is gone`);
      const later = ofRun(runId, iteration + 1);
      for (const name of iterationStores) enqueue(transaction.objectStore(name).delete(later));
      const buffer = transaction.objectStore('buffer');
      for (const key of await buffer.index('since').getAllKeys(later)) enqueue(buffer.delete(key));
      enqueue(transaction.objectStore('runs').put({ runId, iteration, header: snapshot.header, evicted: [] }));
    });
  }
}

function snapshotRow({
  policy,
  buffer,
  pool: _p,
  metrics: _m,
  evaluations: _e,
  rollouts: _r,
  ...header
}: RunSnapshot): SnapshotRow {
  return {
    runId: header.runId,
    iteration: header.iteration,
    header: header satisfies SnapshotHeader,
    step: policy.step,
    weights: pack(policy.weights),
    moments1: policy.moments1 ? pack(policy.moments1) : null,
    moments2: policy.moments2 ? pack(policy.moments2) : null,
    bufferNextId: buffer.nextId,
  };
}

async function policyOf({ header, step, weights, moments1, moments2 }: SnapshotRow): Promise<ModelState> {
  let policy: ModelState;
  try {
    policy = { step, weights: unpack(weights) };
    if (moments1) policy.moments1 = unpack(moments1);
    if (moments2) policy.moments2 = unpack(moments2);
  } catch (error) {
    throw corruptStoredRun('its weights are damaged', error);
  }
  if ((await weightsHash(policy.weights)) !== header.weightsHash)
    throw corruptStoredRun('its weights do not match their checksum');
  return policy;
}

/** Writes what was added, deletes what the commit before evicted. Returns what this commit evicts. */
function writeBuffer(
  transaction: Transaction<'readwrite'>,
  { runId, iteration, buffer }: RunSnapshot,
  stored: RunRow | undefined,
): number[] {
  const rows = transaction.objectStore('buffer');
  const again = stored?.iteration === iteration;
  if (stored && !again) for (const id of stored.evicted) enqueue(rows.delete([runId, id]));
  const removed = new Set(buffer.removed);
  for (const transition of buffer.added) {
    // What came and went within one iteration leaves no trace.
    if (removed.delete(transition.id)) continue;
    enqueue(rows.put({ runId, transition, since: iteration }));
  }
  return [...(again ? (stored?.evicted ?? []) : []), ...removed];
}

/** Metrics, evaluations and rollouts that are not stored yet; those of `known`, the last stored iteration, again. */
function writeRecords(
  transaction: Transaction<'readwrite'>,
  { runId, iteration, metrics, evaluations, rollouts }: RunSnapshot,
  known: number,
): void {
  const iterations = new Set([...metrics, ...evaluations].map((entry) => entry.iteration));
  for (const i of iterations) {
    if (i < known) continue;
    enqueue(
      transaction.objectStore('metrics').put({
        runId,
        iteration: i,
        metrics: metrics.find((entry) => entry.iteration === i) ?? null,
        evaluation: evaluations.find((entry) => entry.iteration === i) ?? null,
      }),
    );
  }
  if (rollouts.length > 0)
    enqueue(transaction.objectStore('rollouts').put({ runId, iteration, trajectories: rollouts }));
}

function removeRows(transaction: Transaction<'readwrite'>, runId: string): void {
  enqueue(transaction.objectStore('runs').delete(runId));
  enqueue(transaction.objectStore('buffer').delete(ofRun(runId)));
  for (const name of iterationStores) enqueue(transaction.objectStore(name).delete(ofRun(runId)));
}

function conflict(stored: number, saving: number): DreamError {
  return new DreamError(
    'run-conflict',
    `Iteration ${saving} cannot follow the stored iteration ${stored}: another tab has gone on with this run.`,
    'Close the other tab, reload this one and choose Resume.',
  );
}
