/**
 * @file The two methods of Early Experience as stages. Both spend the budget of plain imitation: world modelling takes half
 * of the updates and imitation the rest; reflections are mixed into the demonstrations.
 */
import { exploreBranches, reflectionSequences, worldModellingSequences } from '../early-experience';
import { deriveSeed } from '../random';
import type { Stage } from './definition';
import type { StageContext, StageReport } from './stage';
import { demonstrations, endless, learn, transitionsIn, type WeightedSequence } from './supervised';

/** Of the updates, for next observations; the rest imitates. */
const modellingShare = 0.5;
/** Tokens of a branch's sequence and of a demonstration, about. */
const branchTokens = 110;
const demonstrationTokens = 150;
/** Of the sequences of an update, reflections. */
const reflectionShare = 0.5;

export async function runIwm(context: StageContext, stage: Extract<Stage, { kind: 'iwm' }>): Promise<StageReport> {
  const { policy, domain, seed, onProgress } = context;
  const updates = Math.max(1, Math.round(stage.updates * modellingShare));
  const outcomes = (updates * stage.tokensPerUpdate) / branchTokens;
  const { branches, realSteps } = await exploreBranches({
    policy,
    domain,
    branches: Math.max(8, Math.ceil(outcomes / (stage.alternatives + 1))),
    alternatives: stage.alternatives,
    seed,
    onProgress,
  });
  const modelling = worldModellingSequences(branches);
  const modelled = await learn(policy, endless(modelling, seed, 'outcomes'), { ...stage, updates }, onProgress);
  const rest = { ...stage, updates: stage.updates - updates };
  const demos = enough(rest, seed);
  const imitated =
    rest.updates > 0
      ? await learn(policy, endless(demos, deriveSeed(seed, 'imitation'), 'demonstrations'), rest, onProgress)
      : { loss: 0, tokens: 0 };
  return {
    updates: stage.updates,
    realTransitions: realSteps + branches.length + transitionsIn(demos),
    dreamedTransitions: 0,
    facts: {
      modellingLoss: modelled.loss,
      loss: imitated.loss,
      tokens: modelled.tokens + imitated.tokens,
      branches: branches.length,
      outcomes: modelling.length,
    },
  };
}

export async function runSr(context: StageContext, stage: Extract<Stage, { kind: 'sr' }>): Promise<StageReport> {
  const { policy, domain, seed, onProgress } = context;
  const wanted = Math.ceil((stage.updates * stage.tokensPerUpdate * reflectionShare) / branchTokens);
  const { branches, realSteps } = await exploreBranches({
    policy,
    domain,
    // About half of the states have an alternative that is clearly worse.
    branches: Math.max(8, 2 * wanted),
    alternatives: stage.alternatives,
    seed,
    onProgress,
  });
  const reflections = reflectionSequences(branches);
  const demos = enough({ ...stage, updates: Math.ceil(stage.updates * (1 - reflectionShare)) }, seed);
  const nextReflection = endless(reflections, seed, 'reflections');
  const nextDemonstration = endless(demos, deriveSeed(seed, 'imitation'), 'demonstrations');
  let count = 0;
  const next = (): WeightedSequence => (count++ % 2 === 0 ? nextReflection() : nextDemonstration());
  const { loss, tokens } = await learn(policy, next, stage, onProgress);
  return {
    updates: stage.updates,
    realTransitions: realSteps + branches.length + transitionsIn(demos),
    dreamedTransitions: 0,
    facts: { loss, tokens, branches: branches.length, reflections: reflections.length },
  };
}

function enough({ updates, tokensPerUpdate }: { updates: number; tokensPerUpdate: number }, seed: number) {
  return demonstrations(Math.max(8, Math.ceil((updates * tokensPerUpdate) / demonstrationTokens)), seed);
}
