/** @file What a supervised stage is given and gives back; each kind is a function in its own file. */
import type { LanguageModel } from '../../nn/language-model';
import type { DpoKernel } from '../../rl/dpo';
import type { Domain } from '../domain';
import type { TopKKernel } from '../retrieval';
import type { SupervisedStage } from './definition';

export interface StageContext {
  /** Learns (except in `experience` stages); holds the weights that the stage before left. */
  policy: LanguageModel;
  /** Dreams. Only `experience` stages change it. */
  experience: LanguageModel;
  domain: Domain;
  topK: TopKKernel;
  dpo: DpoKernel;
  /** Settings shared by the rows that a stage needs to gather episodes as the `rl` stages do. */
  rollout: { maxSteps: number; temperature: number; experienceTemperature: number; retrievalTopK: number };
  /** Every draw is a function of it. */
  seed: number;
  /** Called between updates: the place to stop (throws) and to report. */
  onProgress(fraction: number, detail: string): Promise<void> | void;
}

export interface StageReport {
  updates: number;
  /** Transitions of the real world that were learned from, and dreamed ones. */
  realTransitions: number;
  dreamedTransitions: number;
  /** What else is worth keeping: losses, sizes of data sets, leaks found. Numbers only. */
  facts: Record<string, number>;
}

export type StageRunner<K extends SupervisedStage['kind']> = (
  context: StageContext,
  stage: Extract<SupervisedStage, { kind: K }>,
) => Promise<StageReport>;

export type StageRunners = { [K in SupervisedStage['kind']]: StageRunner<K> };
