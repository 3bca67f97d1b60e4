/** @file Runs read back from storage to be looked at: the last one is kept, so that a panel's every question is not a read. */
import { writeRunRecord } from '../data/exporters/run-record';
import type { StoredRun } from '../dream/run-store';
import { nothingToExport } from './refusals';
import type { StorageKeeper } from './storage-keeper';
import { recordOf } from './stored-record';

export class RunShelf {
  private last: StoredRun | null = null;

  constructor(private readonly keeper: StorageKeeper) {}

  /**
   * The last *finished* iteration of a run; without an id, of the latest.
   * @param isGrowing The run is under way: what was read before is out of date.
   */
  async read(runId: string | null, isGrowing: boolean): Promise<StoredRun | null> {
    const id = runId ?? (await this.keeper.runs.latest().catch(() => null))?.runId;
    if (!id) return null;
    if (isGrowing) return this.keeper.runs.load(id);
    if (this.last?.runId !== id) this.last = await this.keeper.runs.load(id);
    return this.last;
  }

  clear(): void {
    this.last = null;
  }

  forget(runId: string): void {
    if (this.last?.runId === runId) this.last = null;
  }
}

/** Throws `nothing-to-export`. */
export function exported(run: StoredRun | null): Uint8Array {
  if (!run) throw nothingToExport();
  return writeRunRecord(recordOf(run));
}
