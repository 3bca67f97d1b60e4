/**
 * @file A built-in world as everything above sees it: tasks to draw, an environment to play, and a way back.
 *
 * `Environment` is the least that an agent needs. A built-in world offers more: it lists what it would accept now (for
 * people, constrained sampling and random players), and its episode can be snapshotted and restored in microseconds
 * (Early Experience tries several actions from one state, and a planner looks ahead, without replaying from the start).
 */
import type { Environment, StepResult, Task } from './environment';

/** What stands between two steps. Immutable, structured-clonable, valid in any environment of the same world. */
export interface Snapshot {
  readonly task: Task;
}

/** A built-in world: synchronous, deterministic, and able to go back. */
export interface PlayableEnvironment<S extends Snapshot = Snapshot> extends Environment {
  reset(task: Task): string;
  step(action: string): StepResult;
  /** The first text a person sees, the instruction included. */
  rawFirstObservation(): string;
  /**
   * Commands that would be accepted now, sorted. Where a command takes free text, a template with `<...>` for the text,
   * e.g. `search[<query>]`.
   */
  admissible(): string[];
  snapshot(): S;
  restore(snapshot: S): void;
}

export interface World {
  /** Stable, lower case: `household`, `shop`, `web`. */
  readonly name: string;
  /** One sentence for people. */
  readonly summary: string;
  /** Tasks the agent may train on, in a fixed order; `count` may be more than there are. */
  trainingTasks(count: number): readonly Task[];
  /** The fixed evaluation tasks: disjoint from training, the same list in every run. */
  heldOutTasks(count: number): readonly Task[];
  create(): PlayableEnvironment;
  /** A competent scripted player's next action in `environment`, or null where it knows none: demonstrations and hints. */
  expert(environment: PlayableEnvironment): string | null;
}
