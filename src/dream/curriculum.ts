/**
 * @file The task pool: what may be dreamed of next, and what each task has taught so far.
 *
 * A task is worth what its group's rewards vary: V = p(1-p) (DreamGym, Eq. 7), largest where the agent wins half the
 * time, zero where there is nothing to learn. Valuable tasks become parents of new ones; lambda caps the share of
 * generated tasks in an iteration, so that the original distribution stays covered.
 */
import type { Task } from '../envs/environment';
import type { Draws } from './random';
import type { StoredTask } from './run-store';

/** Generated tasks kept at most; the least valuable leave first. */
export const generatedTaskLimit = 256;
/** Visits of a task that are remembered one by one. */
export const historyLimit = 24;

export class TaskPool {
  private readonly entries = new Map<string, StoredTask>();

  constructor(originals: readonly Task[]) {
    for (const task of originals) this.insert(task, null);
  }

  static restore(saved: readonly StoredTask[]): TaskPool {
    const pool = new TaskPool([]);
    for (const entry of saved) pool.entries.set(entry.id, { ...entry });
    return pool;
  }

  /** In order of arrival. */
  tasks(): StoredTask[] {
    return [...this.entries.values()];
  }

  get size(): number {
    return this.entries.size;
  }

  has(id: string): boolean {
    return this.entries.has(id);
  }

  get(id: string): StoredTask | undefined {
    return this.entries.get(id);
  }

  /** Adds a generated task; false when the pool knows it. */
  add(task: Task, parent: string): boolean {
    if (this.entries.has(task.id)) return false;
    this.insert(task, parent);
    this.trim();
    return true;
  }

  /**
   * Tasks of one iteration: at most floor(lambda * count) generated ones, the most promising first; the rest drawn
   * uniformly from the originals, without repetition while there are enough.
   */
  choose(count: number, lambda: number, draws: Draws): Task[] {
    const quota = Math.floor(lambda * count);
    const generated = this.tasks().filter((entry) => entry.generated && this.value(entry) > 0);
    // Shuffled first, so that equal values do not always favour the oldest.
    const promising = draws.shuffled(generated).sort((a, b) => this.value(b) - this.value(a));
    const chosen = promising.slice(0, quota);

    const originals = this.tasks().filter((entry) => !entry.generated);
    let order: StoredTask[] = [];
    while (chosen.length < count && originals.length > 0) {
      if (order.length === 0) order = draws.shuffled(originals);
      chosen.push(order.pop()!);
    }
    return chosen.map((entry) => entry.task);
  }

  /** What a group of rollouts showed. `variance`: of a wider group, where the task's own is a single rollout. */
  record(id: string, successRate: number, iteration?: number, variance = successRate * (1 - successRate)): void {
    const entry = this.entries.get(id);
    if (!entry) return;
    entry.visits++;
    entry.lastSuccess = successRate;
    entry.variance = variance;
    if (iteration === undefined) return;
    // A new list each time: what was handed out before does not change.
    entry.history = [...(entry.history ?? []), { iteration, success: successRate, variance }].slice(-historyLimit);
  }

  /** The given tasks whose rewards varied, most first. */
  parents(ids: Iterable<string>): StoredTask[] {
    return [...new Set(ids)]
      .map((id) => this.entries.get(id))
      .filter((entry) => entry !== undefined)
      .filter((entry) => (entry.variance ?? 0) > 0)
      .sort((a, b) => b.variance! - a.variance! || (a.id < b.id ? -1 : 1));
  }

  /** A task never visited is worth what its parent is; an infeasible or solved one proves worthless at its first visit. */
  private value(entry: StoredTask): number {
    if (entry.variance !== null) return entry.variance;
    return this.entries.get(entry.parent ?? '')?.variance ?? 0.125;
  }

  private insert(task: Task, parent: string | null): void {
    this.entries.set(task.id, {
      id: task.id,
      instruction: task.instruction,
      room: task.room,
      family: task.family,
      parent,
      generated: parent !== null,
      visits: 0,
      lastSuccess: null,
      variance: null,
      task,
    });
  }

  private trim(): void {
    const generated = this.tasks().filter((entry) => entry.generated);
    if (generated.length <= generatedTaskLimit) return;
    // Stable: among equals the oldest goes.
    const [worst] = [...generated].sort((a, b) => this.value(a) - this.value(b));
    this.entries.delete(worst.id);
  }
}
