/** @file The one record type of an episode: rollouts, offline data, imports, exports and the viewer all share it. */
import type { Task } from '../envs/environment';

export type Source = 'real' | 'imagined' | 'offline';

export interface Turn {
  /** The agent's own reasoning before it acted, as text (may be empty). */
  thought: string;
  action: string;
  /** Token ids the policy sampled in this turn (thought and action), exactly as sampled. */
  actionTokens: number[];
  /** Log-probability of each of `actionTokens` under the full softmax at the rollout temperature 1. */
  actionLogProbs: number[];
  /** Abstract next observation. */
  observation: string;
  /** The experience model's reasoning; empty for a real world. */
  reasoning: string;
  reward: number;
  done: boolean;
  valid: boolean;
}

export interface Trajectory {
  task: Task;
  source: Source;
  firstObservation: string;
  turns: Turn[];
  /** Sum of rewards: 1 for success, 0 otherwise. */
  return: number;
  success: boolean;
  /** True when the step limit ended the episode. */
  truncated: boolean;
  /** True when the episode could not be finished (malformed output); never rewarded, never trained on. */
  lost: boolean;
  /** Rollouts of the same task in the same iteration share a group. */
  group: number;
  /** Filled in by the learner. */
  advantage?: number;
  /**
   * Filled in by the fidelity check: what the real world says of the same actions. `firstMismatch` is -1 where both agree;
   * `observation` and `reward` are the real ones there (absent where the real episode was over already).
   */
  replay?: { success: boolean; firstMismatch: number; observation?: string; reward?: number };
}
