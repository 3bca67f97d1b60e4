/** @file The supervised stages, by kind. */
import { runDreamSft } from './dream-sft';
import { runExperience } from './experience-stage';
import type { StageRunners } from './stage';
import { runSft } from './supervised';

export const stageRunners = {
  sft: runSft,
  'dream-sft': runDreamSft,
  experience: runExperience,
} as unknown as StageRunners;
