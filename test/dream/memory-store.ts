/** @file A RunStore in memory: clones what it is given, replays buffer changes on load, can be told to fail. */
import { DreamError } from '../../src/data/errors';
import type { RunSnapshot, RunStore, RunSummary, StoredRun, Transition } from '../../src/dream/run-store';

export class MemoryStore implements RunStore {
  readonly commits: RunSnapshot[] = [];
  /** Saving this iteration fails, once, as a full disk would. */
  failAt = -1;

  async save(iteration: number, snapshot: RunSnapshot): Promise<void> {
    if (iteration === this.failAt) {
      this.failAt = -1;
      throw new DreamError('storage-full', 'No space is left.', 'Free some space.');
    }
    if (iteration === 0) this.commits.length = 0;
    this.commits.push(structuredClone(snapshot));
  }

  async load(runId: string): Promise<StoredRun | null> {
    const last = this.commits.at(-1);
    if (last?.runId !== runId) return null;
    const transitions = new Map<number, Transition>();
    for (const { buffer } of this.commits) {
      for (const t of buffer.added) transitions.set(t.id, t);
      for (const id of buffer.removed) transitions.delete(id);
    }
    const { buffer, rollouts: _, ...rest } = structuredClone(last);
    return {
      ...rest,
      buffer: { transitions: [...transitions.values()].sort((a, b) => a.id - b.id), nextId: buffer.nextId },
      rollouts: this.commits
        .filter((c) => c.rollouts.length > 0)
        .map((c) => ({ iteration: c.iteration, trajectories: structuredClone(c.rollouts) })),
    };
  }

  async latest(): Promise<RunSummary | null> {
    return this.commits.at(-1) ?? null;
  }

  async list(): Promise<RunSummary[]> {
    return this.commits.slice(-1);
  }

  async remove(): Promise<void> {
    this.commits.length = 0;
  }
}
