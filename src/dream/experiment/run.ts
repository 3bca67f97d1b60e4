/**
 * @file One run of an experiment: its stages one after the other, then the examination that all rows share.
 *
 * A stage that is done is kept (its weights and what it counted), and an `rl` stage keeps every iteration besides, so a
 * killed experiment goes on where it was and ends with the numbers it would have had.
 */
import type { LanguageModel, ModelState } from '../../nn/language-model';
import type { DpoKernel } from '../../rl/dpo';
import type { IterationMetrics, RunConfig } from '../../worker/protocol';
import type { RunControl } from '../control';
import type { Domain } from '../domain';
import { fidelityNumbers, fidelityOf } from '../fidelity';
import { DreamLoop } from '../loop';
import type { LoopParts } from '../loop-parts';
import { resolveConfig } from '../presets';
import { deriveSeed } from '../random';
import { rollOut } from '../rollouts';
import type { RunStore } from '../run-store';
import { weightsHash } from '../weights-hash';
import { type ExperimentDefinition, type PlannedRun, runConfig, type Stage } from './definition';
import { examinePlanned } from './planned';
import type { RunResult } from './results';
import type { StageReport, StageRunners } from './stage';
import { outcomesByFamily } from './transfer';

/** What a finished stage leaves. `experience` only where the stage changed it. */
export interface FinishedStage {
  policy: ModelState;
  experience?: ModelState;
  report: StageReport;
  curve: RunResult['curve'];
  metrics: IterationMetrics[];
  measurementSteps: number;
  seconds: number;
}

/** Where one run keeps what it has. */
export interface RunKeeper {
  /** Stages that are done, from the first on; empty for a new run. */
  finished(): Promise<FinishedStage[]>;
  finish(index: number, stage: FinishedStage): Promise<void>;
  /** For the iterations of the `rl` stage number `index`. */
  store(index: number): RunStore;
}

export type ExperimentParts = Pick<
  LoopParts,
  'policy' | 'experience' | 'domain' | 'kernels' | 'adapter' | 'gpuBytes' | 'parallel' | 'model'
> & {
  stages: StageRunners;
  dpo: DpoKernel;
  /** The warm start that every run begins with. */
  warmStart: { policy: ModelState; experience: ModelState };
};

export interface RunHooks {
  onProgress(stage: number, stages: number, fraction: number, detail: string): void;
  /** The control of the loop under way, to stop it at a safe point. */
  onControl?(control: RunControl | null): void;
  /** Throws to stop between supervised updates. */
  check?(): void;
}

/** Runs what is left of `run`. Resolves to null when it was stopped at a safe point. */
export async function runOne(
  parts: ExperimentParts,
  experiment: ExperimentDefinition,
  run: PlannedRun,
  keeper: RunKeeper,
  hooks: RunHooks,
): Promise<RunResult | null> {
  const done = await keeper.finished();
  const last = done.at(-1);
  await load(parts.policy, last?.policy ?? parts.warmStart.policy);
  const dreamer = done.findLast((stage) => stage.experience)?.experience;
  await load(parts.experience, dreamer ?? parts.warmStart.experience);
  try {
    for (const [index, stage] of run.stages.entries()) {
      if (index < done.length) continue;
      const finished = await runStage(parts, experiment, run, stage, index, keeper, hooks);
      if (!finished) return null;
      await keeper.finish(index, finished);
      done.push(finished);
    }
    return await examine(parts, experiment, run, done, hooks);
  } finally {
    hooks.onControl?.(null);
    await load(parts.policy, parts.warmStart.policy);
    await load(parts.experience, parts.warmStart.experience);
  }
}

/** Weights with a fresh optimiser: no stage inherits another one's moments. */
async function load(model: LanguageModel, { weights }: ModelState): Promise<void> {
  await model.importState({ step: 0, weights });
}

async function runStage(
  parts: ExperimentParts,
  experiment: ExperimentDefinition,
  run: PlannedRun,
  stage: Stage,
  index: number,
  keeper: RunKeeper,
  hooks: RunHooks,
): Promise<FinishedStage | null> {
  const start = performance.now();
  const progress = (fraction: number, detail: string) => hooks.onProgress(index, run.stages.length, fraction, detail);
  if (stage.kind === 'rl') {
    const config = runConfig(experiment, stage, run.seed);
    const loopParts = {
      ...parts,
      domain: stage.families
        ? onlyFamilies(parts.domain, stage.families, experiment.evaluation.families)
        : parts.domain,
    };
    return runLoop(loopParts, config, `${run.id}-${index + 1}`, keeper.store(index), progress, hooks);
  }
  const shared = resolveConfig(experiment.settings as Partial<RunConfig>);
  const context = {
    policy: parts.policy,
    experience: parts.experience,
    domain: parts.domain,
    topK: parts.kernels.topK,
    dpo: parts.dpo,
    rollout: shared,
    seed: deriveSeed(run.seed, 'stage', index),
    onProgress: (fraction: number, detail: string) => {
      hooks.check?.();
      progress(fraction, detail);
    },
  };
  // The kinds and their runners are one table; TypeScript cannot see that both sides agree.
  const runner = parts.stages[stage.kind] as (given: typeof context, what: typeof stage) => Promise<StageReport>;
  const report = await runner(context, stage);
  return {
    policy: await parts.policy.exportState(false),
    ...(stage.kind === 'experience' ? { experience: await parts.experience.exportState(false) } : {}),
    report,
    curve: [],
    metrics: [],
    measurementSteps: 0,
    seconds: (performance.now() - start) / 1000,
  };
}

async function runLoop(
  parts: ExperimentParts,
  config: RunConfig,
  runId: string,
  store: RunStore,
  progress: (fraction: number, detail: string) => void,
  hooks: RunHooks,
): Promise<FinishedStage | null> {
  const loopParts: LoopParts = {
    ...parts,
    store,
    emit(event) {
      if (event.type !== 'progress') return;
      const { iteration, iterations, phase, fraction } = event.progress;
      progress(Math.min(1, (iteration + (phase === 'rolling-out' ? 0.7 * fraction : 0)) / iterations), phase);
    },
  };
  const stored = await store.load(runId);
  const loop = stored ? await DreamLoop.restore(loopParts, stored) : DreamLoop.fresh(loopParts, config, runId);
  hooks.onControl?.(loop.control);
  await loop.run();
  // A run that ended because its dream could no longer be believed has ended, and that is its result.
  if (loop.control.isStopped) return null;
  const { state } = loop;
  const last = state.metrics.at(-1);
  return {
    policy: await parts.policy.exportState(false),
    report: {
      updates: state.metrics.length * config.miniBatches,
      realTransitions: last?.realTransitions ?? 0,
      dreamedTransitions: last?.dreamedTransitions ?? 0,
      facts: { iterations: state.iteration, tasksGenerated: last?.tasksGenerated ?? 0 },
    },
    curve: state.evaluations.map(({ iteration, atRolloutTemperature, atLowTemperature }) => ({
      iteration,
      realSuccess: atLowTemperature.rate,
      atRolloutTemperature: atRolloutTemperature.rate,
    })),
    metrics: state.metrics,
    measurementSteps: state.measurementSteps,
    seconds: state.metrics.reduce((sum, m) => sum + m.seconds, 0),
  };
}

async function examine(
  parts: ExperimentParts,
  { evaluation, settings }: ExperimentDefinition,
  run: PlannedRun,
  done: readonly FinishedStage[],
  hooks: RunHooks,
): Promise<RunResult> {
  const shared = resolveConfig(settings as Partial<RunConfig>);
  const domain = evaluation.families ? onlyFamilies(parts.domain, null, evaluation.families) : parts.domain;
  const at = async (temperature: number, part: number) => {
    const tasks = domain.heldOutTasks(evaluation.tasks);
    const { rollouts, transitions } = await rollOut({
      policy: parts.policy,
      domain,
      environment: domain.realWorld(),
      tasks,
      groups: tasks.map((_, i) => i),
      maxSteps: shared.maxSteps,
      temperature,
      // The same draws for every row and every seed: what differs is the weights.
      seed: deriveSeed(1, 'examination', part),
      parallel: parts.parallel,
      onTurn: (fraction) =>
        hooks.onProgress(run.stages.length, run.stages.length, fraction, 'examined in the real world'),
    });
    return { outcomes: rollouts.map(({ trajectory }) => (trajectory.success ? '1' : '0')).join(''), transitions };
  };
  const start = performance.now();
  const imagining = (fraction: number) =>
    hooks.onProgress(run.stages.length, run.stages.length, fraction, 'planning in the real world');
  const planned = run.planning
    ? await examinePlanned(parts, domain, evaluation, run.planning, shared, imagining)
    : undefined;
  const chosen = planned ?? (await at(evaluation.temperature, 0));
  const second = await at(shared.temperature, 1);
  const rate = (outcomes: string) => [...outcomes].filter((o) => o === '1').length / Math.max(1, outcomes.length);
  const sum = (pick: (stage: FinishedStage) => number) => done.reduce((total, stage) => total + pick(stage), 0);
  const { weights } = await parts.policy.exportState(false);
  const dreamt = done.flatMap((stage) => stage.metrics).findLast((m) => m.rewardError !== null);
  return {
    row: run.row,
    seed: run.seed,
    realSuccess: rate(chosen.outcomes),
    atRolloutTemperature: rate(second.outcomes),
    outcomes: chosen.outcomes,
    byFamily: outcomesByFamily(domain.heldOutTasks(evaluation.tasks), chosen.outcomes),
    realTransitions: sum((stage) => stage.report.realTransitions),
    dreamedTransitions: sum((stage) => stage.report.dreamedTransitions),
    measurementSteps: sum((stage) => stage.measurementSteps) + chosen.transitions + second.transitions,
    rewardError: dreamt?.rewardError ?? null,
    fidelity: fidelityIn(done, shared),
    curve: joined(done),
    updates: sum((stage) => stage.report.updates),
    facts: Object.assign({}, ...done.map((stage) => stage.report.facts), planned?.facts) as Record<string, number>,
    seconds: sum((stage) => stage.seconds) + (performance.now() - start) / 1000,
    weightsHash: await weightsHash(weights),
    adapter: parts.adapter,
    date: new Date().toISOString().slice(0, 10),
  };
}

/** The fidelity of the last stage that dreamed. */
function fidelityIn(done: readonly FinishedStage[], config: RunConfig): RunResult['fidelity'] {
  const stage = done.findLast(({ metrics }) => metrics.some((m) => m.rewardError !== null));
  if (!stage) return null;
  const evaluations = stage.curve.map(({ iteration, atRolloutTemperature: rate }) => ({
    iteration,
    atRolloutTemperature: { rate },
  }));
  const summary = fidelityOf({ metrics: stage.metrics, evaluations, config });
  return summary && fidelityNumbers(summary);
}

/** One curve over all stages; a later stage's zero is the former one's end. */
function joined(done: readonly FinishedStage[]): RunResult['curve'] {
  const curve: RunResult['curve'] = [];
  let before = 0;
  for (const stage of done) {
    for (const point of stage.curve) {
      if (point.iteration === 0 && curve.length > 0) continue;
      curve.push({ ...point, iteration: before + point.iteration });
    }
    before += stage.report.facts.iterations ?? 0;
  }
  return curve;
}

/** The domain with training and held-out tasks of some families only; null = all. */
function onlyFamilies(domain: Domain, training: readonly string[] | null, heldOut?: readonly string[]): Domain {
  const enough = 1000;
  return {
    ...domain,
    trainingTasks: () => domain.trainingTasks().filter((task) => !training || training.includes(task.family)),
    heldOutTasks: (count) =>
      heldOut
        ? domain
            .heldOutTasks(enough)
            .filter((task) => heldOut.includes(task.family))
            .slice(0, count)
        : domain.heldOutTasks(count),
    taskFrom(parent, instruction) {
      const task = domain.taskFrom(parent, instruction);
      return task && training && !training.includes(task.family) ? null : task;
    },
  };
}
