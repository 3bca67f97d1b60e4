/**
 * @file What the loop must be told about a world: its tasks, its truth, and how its text becomes tokens.
 *
 * The loop, the rollouts and the experience model know neither rooms nor cups. household.ts binds the built-in world.
 */
import type { Trajectory, Turn } from '../data/trajectory';
import type { EnvironmentBatch, Task } from '../envs/environment';
import type { Fact } from './fidelity/household-facts';
import type { NewTransition } from './replay-buffer';
import type { Transition } from './run-store';

/** How one role speaks: when it must stop, and how long it may talk. */
export interface RoleLimits {
  stopTokens: readonly number[];
  maxNewTokens: number;
}

export interface PolicyAnswer {
  thought: string;
  action: string;
}

export interface DreamedAnswer {
  reasoning: string;
  /** What the model itself says of the action. */
  valid: boolean;
  observation: string;
  reward: number;
}

/** Which tokens may come next in one answer, given those drawn so far; null = any. See `SamplingOptions.allowed`. */
export type TurnGuide = (drawn: readonly number[]) => readonly number[] | null;

/** Prompts and parsers of the three roles. Parsers return null for anything malformed; they never throw. */
export interface Dialect {
  policy: RoleLimits & {
    /** From the very start up to the first thing the policy says. `actions`: what is possible, where the domain tells. */
    opening(task: Task, firstObservation: string, actions?: readonly string[]): number[];
    parse(tokens: readonly number[]): PolicyAnswer | null;
    /** What stands between the policy's words and its next turn. `words` are those it just spoke. */
    reply(words: readonly number[], observation: string, actions?: readonly string[]): number[];
    /** Leads one turn; absent: the policy speaks as it likes. */
    guide?(actions: readonly string[]): TurnGuide;
  };
  experience: RoleLimits & {
    opening(task: Task, firstObservation: string): number[];
    question(task: Task, action: string, memories: readonly Transition[]): number[];
    parse(tokens: readonly number[]): DreamedAnswer | null;
    /** Leads one answer; absent: the model answers as it likes. */
    guide?(
      firstObservation: string,
      turns: readonly Pick<Turn, 'action' | 'observation'>[],
      action: string,
      task: Task,
    ): TurnGuide;
    /** The same answer with another reward flag: the history must not remember a success that was rejected. */
    withoutReward(tokens: readonly number[]): number[];
    /** What stands between an answer and the next question. */
    reply(answer: readonly number[]): number[];
  };
  generator: RoleLimits & {
    /** `parents` share a room; `memories` of it tell what the room holds. */
    opening(parents: readonly Task[], memories: readonly Transition[]): number[];
    /** The new instruction, or null. */
    parse(tokens: readonly number[]): string | null;
    /** An instruction alone, for comparing tasks by meaning. Absent: an opening with this task stands for it. */
    instruction?(task: Task): number[];
    /** Asks which of several variants is the most challenging one that is still feasible; absent: a rule decides. */
    selection?: {
      maxNewTokens: number;
      opening(parent: Task, variants: readonly Task[], memories: readonly Transition[]): number[];
      /** The chosen variant (from 0) and why, or null for what cannot be read. */
      parse(tokens: readonly number[], variants: number): { index: number; reasoning: string } | null;
    };
  };
}

/** Tokens with their loss weights (0 = not learned). Plain numbers: it is kept with the run. */
export interface TaughtSequence {
  tokens: number[];
  weights: number[];
}

export interface Domain {
  /** Original tasks the policy may train on, in a fixed order. */
  trainingTasks(): readonly Task[];
  /** The fixed evaluation tasks, in rooms nobody trained on: the same list in every run. */
  heldOutTasks(count: number): readonly Task[];
  /** The truth. */
  realWorld(): EnvironmentBatch;
  /** What the replay buffer knows before the first iteration, at most `limit` transitions. */
  offlineTransitions(limit: number): readonly NewTransition[];
  /** A task in the parent's room from an instruction; null when it is not one of this world's (form). */
  taskFrom(parent: Task, instruction: string): Task | null;
  /** False when one of `others` asks for the same thing, in whatever words. */
  isNovel(task: Task, others: readonly Task[]): boolean;
  /** False when the room, as far as `memories` of it show, lacks what the task needs. */
  feasible(task: Task, memories: readonly Transition[]): boolean;
  /**
   * Did the text show what the goal needs (object taken, cleaned, placed)? The last turn is the claimed success. null: the
   * text cannot tell, so the model's claim stands.
   */
  supportsSuccess(
    task: Task,
    firstObservation: string,
    turns: readonly Pick<Turn, 'action' | 'observation' | 'valid'>[],
  ): boolean | null;
  /** Does this observation end an episode, whatever its reward? Absent: only success does. */
  isOver?(observation: string): boolean;
  /** The world exists in dreams alone: `realWorld` cannot be entered, nothing is replayed, and examinations are dreamed too. */
  readonly dreamedOnly?: true;
  /** Does the last turn contradict what the text before it showed (a thing in two places, an absent thing taken)? */
  contradicts(firstObservation: string, turns: readonly Pick<Turn, 'action' | 'observation'>[]): boolean;
  /**
   * The experience model's answer to an action that the text itself rules out (a place that is not in the room, a thing
   * that is elsewhere), as tokens: the failure state. null when the text allows the action.
   */
  refusal(
    task: Task,
    firstObservation: string,
    turns: readonly Pick<Turn, 'action' | 'observation'>[],
    action: string,
  ): number[] | null;
  /**
   * The actions that the text so far allows, for roles that are shown them or led along them; absent where no role asks.
   * A world that knows better (`EnvironmentBatch.admissible`) is asked first.
   */
  admissible?(firstObservation: string, turns: readonly Pick<Turn, 'observation'>[]): readonly string[];
  /** What an observation claims, and which of it could be so in the task's room; absent where the world does not tell. */
  facts?(task: Task, observation: string): readonly Fact[];
  /**
   * A step of the real world as the experience model would have told it, as tokens: for a dream that goes on from a true
   * history (planning). Absent: this domain's dreams begin at the beginning only.
   */
  told?(
    task: Task,
    firstObservation: string,
    turns: readonly Pick<Turn, 'action' | 'observation'>[],
    step: Pick<Turn, 'action' | 'observation' | 'reward'>,
  ): number[];
  /** How the experience model is taught, where it can be trained here (refresh.ts). */
  teaching?: {
    /** A real episode as the model's own transcript; `memories` are those of each turn's question. */
    tell(trajectory: Trajectory, memories: readonly (readonly Transition[])[]): TaughtSequence;
    /** So many episodes such as it learned from before. */
    rehearsal(episodes: number, seed: number): TaughtSequence[];
  };
  /** What the world says to an action it cannot parse, and what a dreamed failure state says. */
  readonly failureObservation: string;
  dialect: Dialect;
}
