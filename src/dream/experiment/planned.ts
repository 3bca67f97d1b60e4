/** @file The examination of a row that plans: the same held-out tasks, every action weighed in the dream first. */
import type { RunConfig } from '../../worker/protocol';
import type { Domain } from '../domain';
import { evaluatePlanned, offlineBuffer } from '../planned-evaluation';
import { deriveSeed } from '../random';
import type { ExperimentDefinition, PlannedRun } from './definition';
import type { ExperimentParts } from './run';

export async function examinePlanned(
  { policy, experience, kernels, parallel }: Pick<ExperimentParts, 'policy' | 'experience' | 'kernels' | 'parallel'>,
  domain: Domain,
  { tasks, temperature }: ExperimentDefinition['evaluation'],
  plan: NonNullable<PlannedRun['planning']>,
  settings: RunConfig,
  onTurn: (fraction: number) => void,
): Promise<{ outcomes: string; transitions: number; facts: Record<string, number> }> {
  const { outcomes, realSteps, imaginedSteps, changed } = await evaluatePlanned(
    {
      policy,
      dream: {
        model: experience,
        buffer: offlineBuffer(domain),
        topK: kernels.topK,
        retrievalTopK: settings.retrievalTopK,
        temperature: settings.experienceTemperature,
        goalCheck: settings.goalCheck,
        stepCheck: settings.stepCheck,
        history: settings.history,
      },
      domain,
      tasks: domain.heldOutTasks(tasks),
      candidates: plan.candidates,
      lookahead: plan.lookahead,
      maxSteps: settings.maxSteps,
      temperature: plan.temperature ?? temperature,
      seed: deriveSeed(1, 'examination', 'planned'),
      onTurn,
    },
    parallel,
  );
  return { outcomes, transitions: realSteps, facts: { imaginedSteps, planOverruled: changed } };
}
