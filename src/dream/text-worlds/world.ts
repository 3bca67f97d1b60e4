/**
 * @file What the loop must be told about a world so that a real language model can play it, dream it and invent tasks for
 * it: its tasks, its truth, its words. Nothing here knows tokens; domain.ts adds those.
 */
import type { Trajectory, Turn } from '../../data/trajectory';
import type { EnvironmentBatch, Task } from '../../envs/environment';
import type { NewTransition } from '../replay-buffer';
import type { ScriptWords, Step } from '../text-household/script';
import type { TextWorld } from '../text-models/world';

/** What has been said of an episode so far. */
export interface Told {
  task: Task;
  firstObservation: string;
  turns: readonly Pick<Turn, 'action' | 'observation'>[];
}

/**
 * What stands behind an observation: a reward that the model is asked for, none (the task cannot have been fulfilled by this),
 * or none whose label was given already.
 */
export type Imagined = Generator<Step, 'asked' | 'none' | 'begun', string>;

export interface SpokenWorld {
  /** `shop`, `web`, or the name of a world of one's own. */
  readonly name: string;
  trainingTasks(): readonly Task[];
  /** Never trained on: the same list in every run. */
  heldOutTasks(count: number): readonly Task[];
  /** null: the world exists in dreams alone. */
  readonly truth: (() => EnvironmentBatch) | null;
  /** What the replay buffer knows before the first dream, in the rooms of `trainingTasks`. */
  memories(limit: number): readonly NewTransition[];
  /** Successful episodes to imitate, without end; null where nobody can demonstrate. */
  readonly demonstrations: ((seed: number) => Generator<Trajectory, void>) | null;
  /** For the experience model, and what the text alone can prove. */
  readonly words: TextWorld;
  /** For the policy: what this is and how one acts in it. */
  readonly rules: string;
  /** An action of this world, as an example of the form. */
  readonly exampleAction: string;
  /** What a new task looks like, for the task generator. */
  readonly taskForm: string;
  /** A task of this world that asks for what the sentence says, or null. */
  taskFrom(parent: Task, instruction: string): Task | null;
  /**
   * What could be done now, as far as the text shows: actions, and templates with `<...>` for free text. Absent: only the
   * real world itself could tell.
   */
  readonly admissible?: (firstObservation: string, turns: Told['turns']) => readonly string[];
  /** Templates whose text may be left out, by the words in their brackets. */
  readonly optionalText?: ReadonlySet<string>;
  /** Does this observation end an episode, whatever its reward? */
  isOver?(observation: string): boolean;
  /**
   * Leads the experience model through the observation that follows a possible action: ` `, then all of it, then `\n`.
   * Absent: one line of the model's own words.
   */
  readonly imagine?: (words: ScriptWords, told: Told, action: string) => Imagined;
  /** The room whose memories may answer for an imported episode (its own room's name, its first observation). */
  roomOf(room: string, firstObservation: string): string;
}
