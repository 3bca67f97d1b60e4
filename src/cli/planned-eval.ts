/** @file `dream eval --plan`: the examination once more, with every action weighed in the dream before it is taken. */
import { DreamError } from '../data/errors';
import type { LoopParts } from '../dream/loop-parts';
import { evaluatePlanned, offlineBuffer, type PlannedEvaluation } from '../dream/planned-evaluation';
import type { ReplayBuffer } from '../dream/replay-buffer';
import type { Gpu } from '../gpu/device';
import type { LanguageModel } from '../nn/language-model';
import { gpuTopK } from '../rl/kernels/topk';
import type { RunConfig } from '../worker/protocol';
import type { CommandIo } from './command';
import type { OptionSpecs, OptionValues } from './options';

export const planOptions = {
  plan: {
    type: 'integer',
    help: 'weigh so many proposals in the dream before every action, and report that too; 0 = do not',
    default: 0,
    min: 0,
    max: 16,
  },
  lookahead: { type: 'integer', help: 'turns imagined behind each proposal (--plan)', default: 0, min: 0, max: 8 },
} as const satisfies OptionSpecs;

type Values = OptionValues<typeof planOptions> & {
  tasks: number;
  seed: number;
  'max-steps': number;
  temperature: number;
};

export interface PlannedResult extends PlannedEvaluation {
  candidates: number;
  lookahead: number;
}

/** Throws `no-true-history` before anything runs, where `planned` would. */
export function mayPlan({ plan }: Pick<Values, 'plan'>, domain: LoopParts['domain']): void {
  if (plan === 0 || (domain.told && !domain.dreamedOnly)) return;
  throw new DreamError(
    'no-true-history',
    'In this world no plan can be made: its dreams cannot go on from what really happened.',
    'Leave out --plan, or plan in the household.',
  );
}

/**
 * The held-out tasks with planning; null where none was asked for. Proposals are drawn at the first temperature.
 * @param run the settings and memories of the run that is examined; a new run's where `buffer` is null.
 */
export async function planned(
  io: CommandIo,
  gpu: Gpu,
  parts: Pick<LoopParts, 'policy' | 'domain' | 'parallel'> & { experience: LanguageModel },
  values: Values,
  run: { config: RunConfig; buffer: ReplayBuffer | null },
): Promise<PlannedResult | null> {
  if (values.plan === 0) return null;
  const { policy, experience, domain, parallel } = parts;
  const { retrievalTopK, experienceTemperature, goalCheck, stepCheck, history } = run.config;
  const bar = io.progress('planning');
  const found = await evaluatePlanned(
    {
      policy,
      dream: {
        model: experience,
        buffer: run.buffer ?? offlineBuffer(domain),
        topK: gpuTopK(gpu),
        retrievalTopK,
        temperature: experienceTemperature,
        goalCheck,
        stepCheck,
        history,
      },
      domain,
      tasks: domain.heldOutTasks(values.tasks),
      candidates: values.plan,
      lookahead: values.lookahead,
      maxSteps: values['max-steps'],
      temperature: values.temperature,
      seed: values.seed,
      onTurn: (fraction) => bar.update(fraction),
    },
    parallel,
  );
  bar.clear();
  const percent = (x: number) => `${(100 * x).toFixed(1)} %`;
  const { rate, low, high, episodes } = found.rate;
  io.print(
    `planned, ${values.plan} proposals at temperature ${values.temperature}, ${values.lookahead} turns ahead: ` +
      `${percent(rate)} [${percent(low)}, ${percent(high)}] of ${episodes} tasks; ` +
      `another action in ${percent(found.changed)} of ${found.realSteps} steps, ${found.imaginedSteps} steps imagined`,
  );
  return { candidates: values.plan, lookahead: values.lookahead, ...found };
}
