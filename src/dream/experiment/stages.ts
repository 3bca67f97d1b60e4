/** @file The supervised stages, by kind. */
import type { StageRunners } from './stage';
import { runSft } from './supervised';

export const stageRunners = { sft: runSft } as unknown as StageRunners;
