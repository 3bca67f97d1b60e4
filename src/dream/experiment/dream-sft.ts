/**
 * @file Simulated trajectories as training data: the policy dreams, and imitates the dreams that ended well
 * (what UI-Simulator, arXiv 2510.14969, does with a simulator; a filtered behaviour cloning).
 */
import type { Stage } from './definition';
import { gather, imitationOf } from './gather';
import type { StageContext, StageReport } from './stage';
import { endless, learn } from './supervised';

const groupSize = 4;

export async function runDreamSft(
  context: StageContext,
  stage: Extract<Stage, { kind: 'dream-sft' }>,
): Promise<StageReport> {
  const dreamt = await gather(context, { tasks: stage.tasks, groupSize, world: 'dream' });
  const successes = dreamt.rollouts.filter(({ trajectory }) => trajectory.success);
  const { loss, tokens } = await learn(
    context.policy,
    endless(successes.map(imitationOf), context.seed, 'successful dreams'),
    stage,
    context.onProgress,
  );
  return {
    updates: stage.updates,
    realTransitions: 0,
    dreamedTransitions: dreamt.transitions,
    facts: { loss, tokens, dreams: dreamt.rollouts.length, successes: successes.length },
  };
}
