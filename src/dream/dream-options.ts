/** @file What a dream is told, and what it counts. */
import type { LanguageModel } from '../nn/language-model';
import type { Domain } from './domain';
import type { ReplayBuffer } from './replay-buffer';
import type { TopKKernel } from './retrieval';

export interface DreamOptions {
  model: LanguageModel;
  domain: Domain;
  buffer: ReplayBuffer;
  topK: TopKKernel;
  /** Memories per question; 0 switches retrieval off. */
  retrievalTopK: number;
  temperature: number;
  /** Reject a success that the dreamed transcript does not support. */
  goalCheck: boolean;
  /**
   * Hold an answer against the transcript before it: an action that the text rules out leads to the failure state; after
   * any other contradiction the model is asked once more, and the second answer stands.
   */
  stepCheck: boolean;
  /**
   * False: the model sees the state alone, that is the beginning and its own last answer, not what came before (the
   * paper's ablation "without history"). Absent = true.
   */
  history?: boolean;
}

/** What went wrong or was corrected since the environment was made. */
export interface DreamCounts {
  /** Answers that could not be parsed, first tries and retries alike. */
  malformed: number;
  /** Episodes given up after a malformed retry or a full context. */
  lost: number;
  /** Successes the goal check took back. */
  rejectedSuccesses: number;
  /** Answers that stand although they contradict their transcript. */
  contradictions: number;
  /** Successes that the text shows and the model did not claim (`goalCheck`). */
  grantedSuccesses: number;
  /** Accepted actions that the text rules out, answered by the failure state instead (`stepCheck`). */
  refusals: number;
  /** Questions for which at least one memory was found. */
  recalled: number;
  questions: number;
  generatedTokens: number;
}
