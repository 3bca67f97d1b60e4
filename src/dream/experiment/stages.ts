/** @file The supervised stages, by kind. */
import { runDpo } from './dpo-stage';
import { runDreamSft } from './dream-sft';
import { runIwm, runSr } from './early-experience-stage';
import { runExperience } from './experience-stage';
import type { StageRunners } from './stage';
import { runSft } from './supervised';

export const stageRunners: StageRunners = {
  sft: runSft,
  dpo: runDpo,
  iwm: runIwm,
  sr: runSr,
  'dream-sft': runDreamSft,
  experience: runExperience,
};
