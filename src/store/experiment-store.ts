/**
 * @file Experiments in IndexedDB: what a finished stage left, and the results. A database of its own, so that a grid of
 * forty runs is neither listed as the reader's last run nor deleted with it by mistake; the loops' iterations lie in a
 * second one, of the runs' own form.
 */
import { type DBSchema, type IDBPDatabase, openDB } from 'idb';
import type { PlannedRun } from '../dream/experiment/definition';
import type { RunResult } from '../dream/experiment/results';
import type { FinishedStage, RunKeeper } from '../dream/experiment/run';
import type { RunStore } from '../dream/run-store';
import { Database } from './database';
import { IndexedDbRunStore } from './indexeddb-run-store';
import { type PackedTensors, pack, unpack } from './packed-tensors';
import { storageError } from './storage-errors';

type Key = [experiment: string, run: string];

interface StageRow extends Omit<FinishedStage, 'policy' | 'experience'> {
  policy: PackedTensors;
  experience: PackedTensors | null;
}

interface ExperimentDatabase extends DBSchema {
  /** By run: its definition as of then. Rows of another definition are another run's. */
  plans: { key: Key; value: { fingerprint: string; result: RunResult | null } };
  stages: { key: [...Key, index: number]; value: StageRow };
}

export class ExperimentStore {
  private connection: Promise<IDBPDatabase<ExperimentDatabase>> | null = null;
  private readonly loops = new IndexedDbRunStore({ database: new Database('dreamgym-experiment-runs') });

  private async open(): Promise<IDBPDatabase<ExperimentDatabase>> {
    this.connection ??= openDB<ExperimentDatabase>('dreamgym-experiments', 1, {
      upgrade(database) {
        database.createObjectStore('plans');
        database.createObjectStore('stages');
      },
      terminated: () => {
        this.connection = null;
      },
    });
    try {
      return await this.connection;
    } catch (error) {
      this.connection = null;
      throw storageError(error, 'opening');
    }
  }

  /** Results of the runs as they are defined now. */
  async results(experiment: string, runs: readonly PlannedRun[]): Promise<RunResult[]> {
    const database = await this.open();
    const plans = await Promise.all(runs.map(({ id }) => database.get('plans', [experiment, id])));
    return plans.flatMap((plan, i) => (plan?.result && plan.fingerprint === runs[i].fingerprint ? [plan.result] : []));
  }

  /** The keeper of a run; what an earlier definition of it left is forgotten. */
  async keeper(experiment: string, run: PlannedRun): Promise<RunKeeper> {
    const database = await this.open();
    const key: Key = [experiment, run.id];
    const plan = await database.get('plans', key);
    if (plan?.fingerprint !== run.fingerprint) {
      await this.forget(experiment, run);
      await database.put('plans', { fingerprint: run.fingerprint, result: null }, key);
    }
    return {
      finished: async () => {
        const rows = await database.getAll('stages', stagesOf(key));
        return rows.map(({ policy, experience, ...rest }) => ({
          ...rest,
          policy: { step: 0, weights: unpack(policy) },
          ...(experience ? { experience: { step: 0, weights: unpack(experience) } } : {}),
        }));
      },
      finish: async (index, { policy, experience, ...rest }) => {
        const row: StageRow = {
          ...rest,
          policy: pack(policy.weights),
          experience: experience ? pack(experience.weights) : null,
        };
        try {
          await database.put('stages', row, [...key, index]);
        } catch (error) {
          throw storageError(error, 'writing');
        }
        // The stage is kept; its iterations have served.
        await this.loops.remove(loopId(experiment, run, index));
      },
      store: (index) => this.loopStore(loopId(experiment, run, index)),
    };
  }

  async keep(experiment: string, run: PlannedRun, result: RunResult): Promise<void> {
    const database = await this.open();
    await database.put('plans', { fingerprint: run.fingerprint, result }, [experiment, run.id]);
    // Weights of forty runs would fill the disk; what is shown is the result.
    await database.delete('stages', stagesOf([experiment, run.id]));
  }

  async forget(experiment: string, run: PlannedRun): Promise<void> {
    const database = await this.open();
    await database.delete('plans', [experiment, run.id]);
    await database.delete('stages', stagesOf([experiment, run.id]));
    for (const index of run.stages.keys()) await this.loops.remove(loopId(experiment, run, index));
  }

  async close(): Promise<void> {
    (await this.connection?.catch(() => null))?.close();
    this.connection = null;
    await this.loops.close();
  }

  /** The runs' store under an id that no other experiment has. */
  private loopStore(id: string): RunStore {
    const { loops } = this;
    return {
      save: (iteration, snapshot) => loops.save(iteration, { ...snapshot, runId: id }),
      load: async (runId) => {
        const stored = await loops.load(id);
        return stored && { ...stored, runId };
      },
      latest: () => loops.latest(),
      list: () => loops.list(),
      remove: () => loops.remove(id),
    };
  }
}

const stagesOf = (key: Key) => IDBKeyRange.bound([...key, 0], [...key, Number.POSITIVE_INFINITY]);
const loopId = (experiment: string, run: PlannedRun, index: number) => `${experiment}/${run.id}/${index}`;
