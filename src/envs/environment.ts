/**
 * @file One interface for every world an agent can act in: real, dreamed or remote.
 *
 * An experience model is an environment (DreamGym, Eq. 4), so sim-to-real is a change of argument, not of code.
 * Observations are *abstract* text: the compact, rule-mapped form both the real world and the dream speak
 * (see household/abstract.ts). `raw` carries the world's own sentences for people and for exporters.
 */

/** A task: which world instance to enter and what to achieve there. JSON-serialisable. */
export interface Task {
  /** Unique and stable: equal tasks have equal ids. */
  id: string;
  /** The instruction, without a trailing full stop, e.g. `put a clean cup in cabinet`. */
  instruction: string;
  /** Which world instance (room) the task lives in; also the key for retrieval of similar memories. */
  room: string;
  /** Task family, e.g. `pick_clean_then_place_in_recep`. */
  family: string;
  /** The abstract first observation; a dream starts from it without entering the real world. */
  firstObservation: string;
  /** World-specific description (for household: world size, room seed, goal). */
  data: unknown;
}

export interface StepResult {
  /** Abstract next observation, e.g. `at shelf 1 see cup 1 mug 2`. */
  observation: string;
  /** Outcome reward: 1 at the step that achieves the task, else 0. */
  reward: number;
  done: boolean;
  /** False when the action changed nothing because it was not admissible (or could not be parsed). */
  valid: boolean;
  /** The world's own sentence, e.g. `You arrive at shelf 1. On the shelf 1, you see a cup 1, and a mug 2.` */
  raw?: string;
  /** What the experience model thought before it answered; absent in a real world. */
  reasoning?: string;
  /** True when the text was imagined by a model. */
  imagined: boolean;
  /** True when the episode was lost (malformed model output, broken connection): it must never be rewarded. */
  lost?: boolean;
}

/** One episode at a time. Implementations are synchronous where they can be; callers always await. */
export interface Environment {
  reset(task: Task): Promise<string> | string;
  step(action: string): Promise<StepResult> | StepResult;
}

/**
 * Many episodes in lock-step, because a model on a GPU answers 128 questions for the price of a few.
 * `active[i] === false` episodes are skipped by `step` (their slot in the result is `null`).
 */
export interface EnvironmentBatch {
  readonly imagined: boolean;
  /** Most episodes at once, where there is a limit: more are to be played in waves. */
  readonly capacity?: number;
  reset(tasks: readonly Task[], seed: number): Promise<string[]>;
  step(actions: readonly (string | null)[]): Promise<(StepResult | null)[]>;
  /** What the world would accept now in an episode that is under way; absent where it does not tell. */
  admissible?(slot: number): readonly string[];
}

/** Runs ordinary environments side by side behind the batch interface. */
export function batchOf(make: () => Environment): EnvironmentBatch {
  let slots: Environment[] = [];
  return {
    imagined: false,
    async reset(tasks) {
      slots = tasks.map(() => make());
      return Promise.all(tasks.map((task, i) => slots[i].reset(task)));
    },
    async step(actions) {
      return Promise.all(actions.map((action, i) => (action === null ? null : slots[i].step(action))));
    },
  };
}
