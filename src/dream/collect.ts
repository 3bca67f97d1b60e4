/** @file One iteration's experience: rollouts of every task's group, in the dream or in the real world. */
import type { Task } from '../envs/environment';
import { missingGroups } from '../rl/dynamic-sampling';
import type { RunConfig } from '../worker/protocol';
import type { DreamCounts } from './dream-options';
import type { LoopParts } from './loop-parts';
import { deriveSeed } from './random';
import { type RolloutReport, rollOut } from './rollouts';
import type { RunState } from './run-state';
import { engineDreams } from './text-models/dreams';
import type { ExperienceEnvironment } from './text-models/experience';

export interface Collected {
  rollouts: RolloutReport;
  /** What the dream had to refuse; null in the real world. */
  dream: DreamCounts | null;
  /** The task of each group: those asked for, then those of further rounds. */
  tasks: Task[];
}

/**
 * Dream and real world differ in the environment and in nothing else. `redraw` names tasks for a further round when groups
 * all won or all lost (config.resampleRounds; see rl/dynamic-sampling.ts).
 */
export async function collect(
  parts: LoopParts,
  { config, buffer }: Pick<RunState, 'config' | 'buffer'>,
  asked: readonly Task[],
  seed: number,
  onTurn: (fraction: number, detail: string) => Promise<void>,
  redraw: (count: number, round: number) => Task[] = () => [],
  world: RunConfig['rollouts'] = config.rollouts,
): Promise<Collected> {
  const dream = world === 'dream' ? dreamOf(parts, { config, buffer }) : null;
  const doing = dream ? 'dreaming' : 'acting in the real world';
  const play = (tasks: readonly Task[], firstGroup: number, roundSeed: number): Promise<RolloutReport> =>
    rollOut({
      policy: parts.policy,
      domain: parts.domain,
      environment: dream ?? parts.domain.realWorld(),
      tasks: tasks.flatMap((task) => Array.from({ length: config.groupSize }, () => task)),
      groups: tasks.flatMap((_, group) => Array.from({ length: config.groupSize }, () => firstGroup + group)),
      maxSteps: config.maxSteps,
      temperature: config.temperature,
      seed: deriveSeed(roundSeed, 'rollouts'),
      parallel: parts.parallel,
      onTurn: (fraction) =>
        onTurn(fraction, firstGroup === 0 ? doing : `${doing}, once more for groups without signal`),
    });
  try {
    const tasks = [...asked];
    const rollouts = await play(tasks, 0, seed);
    for (let round = 1; round <= config.resampleRounds; round++) {
      const missing = missingGroups(rollouts.rollouts, asked.length, config.discount);
      const more = missing > 0 ? redraw(missing, round) : [];
      if (more.length === 0) break;
      add(rollouts, await play(more, tasks.length, deriveSeed(seed, 'round', round)));
      tasks.push(...more);
    }
    return { rollouts, dream: dream?.counts ?? null, tasks };
  } finally {
    dream?.dispose();
  }
}

/** A dream as the run dreams it now. Dispose it. */
export function dreamOf(
  parts: LoopParts,
  { config, buffer }: Pick<RunState, 'config' | 'buffer'>,
): ExperienceEnvironment {
  const openDream = parts.openDream ?? engineDreams(parts.experience, parts.domain);
  return openDream({
    buffer,
    topK: parts.kernels.topK,
    retrievalTopK: config.retrievalTopK,
    temperature: config.experienceTemperature,
    goalCheck: config.goalCheck,
    stepCheck: config.stepCheck,
    history: config.history,
  });
}

function add(all: RolloutReport, more: RolloutReport): void {
  all.rollouts.push(...more.rollouts);
  all.transitions += more.transitions;
  all.malformedActions += more.malformedActions;
  all.generatedTokens += more.generatedTokens;
  all.seconds += more.seconds;
}
