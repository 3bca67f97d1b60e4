/**
 * @file Where an iteration practises: in the dream, or, towards the end of a sim-to-real run, in the real world.
 *
 * DreamGym-S2R (arXiv 2511.03773, section 4.3): train in the dream, then continue with few real transitions, same run. A
 * budget is dealt out in whole groups whose longest possible episodes fit, so that it is never exceeded.
 */
import type { IterationMetrics, RunConfig } from '../worker/protocol';

export interface Practice {
  world: RunConfig['rollouts'];
  /** Tasks of this iteration; 0 when the budget is spent. */
  mostTasks: number;
}

type Schedule = Pick<
  RunConfig,
  'rollouts' | 'iterations' | 'realIterations' | 'realBudget' | 'tasksPerIteration' | 'groupSize' | 'maxSteps'
>;

/** @param iteration from 1. @param before the metrics of the iteration before, for what was spent. */
export function practiceOf(
  config: Schedule,
  iteration: number,
  before: Pick<IterationMetrics, 'realTransitions'> | undefined,
): Practice {
  const { tasksPerIteration: mostTasks } = config;
  if (config.rollouts === 'real') return { world: 'real', mostTasks };
  if (iteration <= config.iterations - config.realIterations) return { world: 'dream', mostTasks };
  if (config.realBudget === 0) return { world: 'real', mostTasks };
  const left = config.realBudget - (before?.realTransitions ?? 0);
  // What is left is spread over the iterations that are left: one large update learns less than two.
  const share = left / (config.iterations - iteration + 1);
  const perTask = config.groupSize * config.maxSteps;
  const affordable = Math.max(Math.floor(share / perTask), left >= perTask ? 1 : 0);
  return { world: 'real', mostTasks: Math.min(mostTasks, affordable) };
}

/** All iterations are done, or the rest has no budget. */
export function isOver(
  config: Schedule,
  iteration: number,
  last: Pick<IterationMetrics, 'realTransitions'> | undefined,
): boolean {
  return iteration >= config.iterations || practiceOf(config, iteration + 1, last).mostTasks === 0;
}

/**
 * The learning rate rises and falls over a part of the run, not over both: at the end of the dream it is near zero, which
 * would leave the real transitions without effect. `iteration` counts finished iterations of the run.
 */
export function partOfRun(
  { rollouts, iterations, realIterations }: Pick<RunConfig, 'rollouts' | 'iterations' | 'realIterations'>,
  iteration: number,
): { iteration: number; iterations: number } {
  const dreamed = rollouts === 'real' ? iterations : iterations - realIterations;
  if (iteration < dreamed) return { iteration, iterations: dreamed };
  return { iteration: iteration - dreamed, iterations: realIterations };
}
