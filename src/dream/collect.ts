/** @file One iteration's experience: rollouts of every task's group, in the dream or in the real world. */
import type { Task } from '../envs/environment';
import type { DreamCounts } from './experience-model';
import type { LoopParts } from './loop';
import { deriveSeed } from './random';
import { type RolloutReport, rollOut } from './rollouts';
import type { RunState } from './run-state';
import { engineDreams } from './text-models/dreams';

/** Dream and real world differ in the environment and in nothing else. `dream` counts what the dream had to refuse. */
export async function collect(
  parts: LoopParts,
  { config, buffer }: Pick<RunState, 'config' | 'buffer'>,
  tasks: readonly Task[],
  seed: number,
  onTurn: (fraction: number, detail: string) => Promise<void>,
): Promise<{ rollouts: RolloutReport; dream: DreamCounts | null }> {
  const openDream = parts.openDream ?? engineDreams(parts.experience, parts.domain);
  const dream =
    config.rollouts === 'dream'
      ? openDream({
          buffer,
          topK: parts.kernels.topK,
          retrievalTopK: config.retrievalTopK,
          temperature: config.experienceTemperature,
          goalCheck: config.goalCheck,
          stepCheck: config.stepCheck,
        })
      : null;
  try {
    const rollouts = await rollOut({
      policy: parts.policy,
      domain: parts.domain,
      environment: dream ?? parts.domain.realWorld(),
      tasks: tasks.flatMap((task) => Array.from({ length: config.groupSize }, () => task)),
      groups: tasks.flatMap((_, group) => Array.from({ length: config.groupSize }, () => group)),
      maxSteps: config.maxSteps,
      temperature: config.temperature,
      seed: deriveSeed(seed, 'rollouts'),
      parallel: parts.parallel,
      onTurn: (fraction) => onTurn(fraction, dream ? 'dreaming' : 'acting in the real world'),
    });
    return { rollouts, dream: dream?.counts ?? null };
  } finally {
    dream?.dispose();
  }
}
