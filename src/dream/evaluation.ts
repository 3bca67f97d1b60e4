/**
 * @file The only number that counts: success in the real world on fixed held-out tasks. Never trained on.
 *
 * Every evaluation of a run uses the same tasks and the same sampling seeds, so two of them differ by the weights alone.
 * A success rate of 200 tasks has a standard error of about three points, which is why it never goes without interval.
 */
import { wilson } from '../data/statistics';
import type { EnvironmentBatch } from '../envs/environment';
import type { LanguageModel } from '../nn/language-model';
import type { Rate } from '../worker/protocol';
import type { Domain } from './domain';
import { deriveSeed } from './random';
import { rollOut } from './rollouts';

/** The second temperature: closer to how an agent would be used (verl-agent evaluates at 0.4). */
export const lowTemperature = 0.4;

export interface EvaluationRequest {
  policy: LanguageModel;
  domain: Domain;
  /** Where it acts. Default: the real world. */
  environment?: EnvironmentBatch;
  tasks: number;
  rolloutTemperature: number;
  maxSteps: number;
  seed: number;
  /** As in `RolloutRequest`. */
  parallel?: number;
  onTurn?: (fraction: number) => Promise<void> | void;
}

export interface EvaluationReport {
  atRolloutTemperature: Rate;
  atLowTemperature: Rate;
  /** Real steps taken; counted apart from training. */
  realSteps: number;
}

export async function evaluate(request: EvaluationRequest): Promise<EvaluationReport> {
  const high = await successRate(request, request.rolloutTemperature, 0);
  const low = await successRate(request, lowTemperature, 1);
  return { atRolloutTemperature: high.rate, atLowTemperature: low.rate, realSteps: high.realSteps + low.realSteps };
}

async function successRate(
  request: EvaluationRequest,
  temperature: number,
  part: 0 | 1,
): Promise<{ rate: Rate; realSteps: number }> {
  const tasks = request.domain.heldOutTasks(request.tasks);
  const { rollouts, transitions } = await rollOut({
    policy: request.policy,
    domain: request.domain,
    environment: request.environment ?? request.domain.realWorld(),
    tasks,
    groups: tasks.map((_, i) => i),
    maxSteps: request.maxSteps,
    temperature,
    seed: deriveSeed(request.seed, 'evaluation', part),
    parallel: request.parallel,
    onTurn: (fraction) => request.onTurn?.((part + fraction) / 2),
  });
  const successes = rollouts.filter((rollout) => rollout.trajectory.success).length;
  const imagined = request.environment?.imagined === true;
  return {
    rate: { ...wilson(successes, rollouts.length), episodes: rollouts.length },
    realSteps: imagined ? 0 : transitions,
  };
}
