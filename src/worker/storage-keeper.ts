/**
 * @file Where this tab keeps its runs: in the browser's storage, or in memory when a person chose to go on without it.
 */
import { asDreamError } from '../data/errors';
import type { RunStore, RunSummary } from '../dream/run-store';
import { IndexedDbRunStore } from '../store/indexeddb-run-store';
import { MemoryRunStore } from '../store/memory-run-store';
import { lockRun, type ReleaseLock } from '../store/run-lock';
import { storageUsage } from '../store/storage-usage';
import type { StorageReport } from './protocol';

export class StorageKeeper {
  private memory: MemoryRunStore | null = null;
  private denials = 0;

  /** @param notice tells the person something that needs no decision. */
  constructor(
    private readonly notice: (message: string) => void,
    private readonly browser = new IndexedDbRunStore({
      onRollBack: (_runId, from, to) =>
        notice(`Iteration ${from} could not be read back from the browser's storage: the run goes on from ${to}.`),
    }),
  ) {}

  get runs(): RunStore {
    return this.memory ?? this.browser;
  }

  /**
   * Before a new run. Throws `storage-denied` the first time the browser refuses; who starts again after having read that
   * gets a run that lives as long as the tab.
   */
  async prepare(): Promise<void> {
    if (this.memory) return;
    try {
      await this.browser.probe();
    } catch (error) {
      if (asDreamError(error).code !== 'storage-denied' || this.denials++ === 0) throw error;
      this.memory = new MemoryRunStore();
      this.notice('Nothing is saved: this run lives only in this tab. Export it before you close the tab.');
    }
  }

  lock(runId: string): Promise<ReleaseLock> {
    return this.memory ? Promise.resolve(() => {}) : lockRun(runId);
  }

  /** The newest run that can go on; null also when nothing may be kept here. */
  async lastUnfinished(): Promise<RunSummary | null> {
    try {
      const runs = await this.runs.list();
      return runs.find((run) => isUnfinished(run)) ?? null;
    } catch (error) {
      if (asDreamError(error).code === 'storage-denied') return null;
      throw error;
    }
  }

  async report(): Promise<StorageReport> {
    const usage = this.memory ? null : await storageUsage();
    const runs = (await this.runs.list()).map(({ runId, iteration, phase, config, created, savedAt }) => ({
      runId,
      iteration,
      phase,
      config,
      created,
      savedAt,
    }));
    return {
      kept: this.memory ? 'memory' : 'browser',
      usageBytes: usage?.usageBytes ?? null,
      quotaBytes: usage?.quotaBytes ?? null,
      persisted: usage?.persisted ?? false,
      runs,
    };
  }

  /** Throws `run-locked` when another tab is at it. */
  async remove(runId: string): Promise<void> {
    const release = await this.lock(runId);
    try {
      await this.runs.remove(runId);
    } finally {
      release();
    }
  }

  async removeEverything(): Promise<void> {
    for (const { runId } of await this.runs.list()) await this.remove(runId);
    await (this.memory ?? this.browser).removeEverything();
  }
}

export function isUnfinished({
  iteration,
  phase,
  config,
}: Pick<RunSummary, 'iteration' | 'phase' | 'config'>): boolean {
  return (phase === 'running' || phase === 'stopped') && iteration < config.iterations;
}
