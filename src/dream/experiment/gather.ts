/** @file Episodes that a supervised stage learns from: the policy's own, real or dreamed, in groups of a task. */
import type { Rollout } from '../../rl/rollout';
import { DreamedEnvironment } from '../experience-model';
import { Draws, deriveSeed } from '../random';
import { ReplayBuffer } from '../replay-buffer';
import { type RolloutReport, rollOut } from '../rollouts';
import type { StageContext } from './stage';
import type { WeightedSequence } from './supervised';

/** Memories a dream starts with, as in a run. */
const memories = 20_000;

/** `groupSize` rollouts of each of `tasks` training tasks, drawn without repetition. */
export async function gather(
  { policy, experience, domain, topK, rollout, seed, onProgress }: StageContext,
  { tasks, groupSize, world }: { tasks: number; groupSize: number; world: 'real' | 'dream' },
): Promise<RolloutReport> {
  const all = domain.trainingTasks();
  const drawn = new Draws(deriveSeed(seed, 'tasks')).shuffled(all).slice(0, tasks);
  const buffer = new ReplayBuffer(2 * memories);
  if (world === 'dream') buffer.add(domain.offlineTransitions(memories));
  const dream =
    world === 'dream'
      ? new DreamedEnvironment({
          model: experience,
          domain,
          buffer,
          topK,
          retrievalTopK: rollout.retrievalTopK,
          temperature: rollout.experienceTemperature,
          goalCheck: true,
          stepCheck: true,
        })
      : null;
  try {
    return await rollOut({
      policy,
      domain,
      environment: dream ?? domain.realWorld(),
      tasks: drawn.flatMap((task) => Array.from({ length: groupSize }, () => task)),
      groups: drawn.flatMap((_, group) => Array.from({ length: groupSize }, () => group)),
      maxSteps: rollout.maxSteps,
      temperature: rollout.temperature,
      seed: deriveSeed(seed, 'rollouts'),
      onTurn: (fraction) => onProgress(fraction, world === 'dream' ? 'dreaming' : 'acting in the real world'),
    });
  } finally {
    dream?.dispose();
  }
}

/** The rollout as something to imitate: loss on the policy's own tokens. */
export function imitationOf({ stream }: Rollout): WeightedSequence {
  return { tokens: stream.tokens, weights: stream.turns.map((turn) => (turn < 0 ? 0 : 1)) };
}
