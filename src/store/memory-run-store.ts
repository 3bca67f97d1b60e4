/**
 * @file Runs kept only as long as the tab lives: what remains when the browser refuses to keep anything.
 *
 * A lost device or an error still resumes from the last finished iteration; a reload does not.
 */
import type { RunSnapshot, RunStore, RunSummary, StoredRun, Transition } from '../dream/run-store';

interface MemoryRun {
  snapshot: RunSnapshot;
  transitions: Map<number, Transition>;
  rollouts: StoredRun['rollouts'];
}

export class MemoryRunStore implements RunStore {
  private readonly runs = new Map<string, MemoryRun>();

  async save(iteration: number, snapshot: RunSnapshot): Promise<void> {
    // The loop goes on changing its arrays.
    const copy = structuredClone(snapshot);
    const before = iteration === 0 ? undefined : this.runs.get(copy.runId);
    const transitions = before?.transitions ?? new Map<number, Transition>();
    for (const transition of copy.buffer.added) transitions.set(transition.id, transition);
    for (const id of copy.buffer.removed) transitions.delete(id);
    const rollouts = before?.rollouts ?? [];
    if (copy.rollouts.length > 0) rollouts.push({ iteration, trajectories: copy.rollouts });
    // Deleted and set again: a Map remembers insertion order, and the newest stands last.
    this.runs.delete(copy.runId);
    this.runs.set(copy.runId, { snapshot: copy, transitions, rollouts });
  }

  async load(runId: string): Promise<StoredRun | null> {
    const run = this.runs.get(runId);
    if (!run) return null;
    const { snapshot, transitions, rollouts } = run;
    return structuredClone({
      ...snapshot,
      buffer: { transitions: [...transitions.values()], nextId: snapshot.buffer.nextId },
      rollouts,
    });
  }

  async latest(): Promise<RunSummary | null> {
    return (await this.list())[0] ?? null;
  }

  async list(): Promise<RunSummary[]> {
    return [...this.runs.values()]
      .reverse()
      .map(({ snapshot: { runId, iteration, phase, config, created, savedAt } }) => ({
        runId,
        iteration,
        phase,
        config,
        created,
        savedAt,
      }));
  }

  async remove(runId: string): Promise<void> {
    this.runs.delete(runId);
  }

  async removeEverything(): Promise<void> {
    this.runs.clear();
  }
}
