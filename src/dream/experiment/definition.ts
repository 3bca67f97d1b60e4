/**
 * @file An experiment as a file: rows (methods) x seeds, each row a sequence of stages from one common warm start.
 *
 * A comparison is only as good as what its rows share, so the file has one place for everything shared (`settings`,
 * `evaluation`) and a row holds nothing but what makes it that method. Whatever cannot be run is refused before anything
 * runs: unknown keys, settings out of range, a budget that the stages exceed.
 */
import * as v from 'valibot';
import { DreamError } from '../../data/errors';
import { FAMILIES } from '../../envs/household';
import type { RunConfig } from '../../worker/protocol';
import { numberRanges, resolveConfig } from '../presets';

const count = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));
/** A typing error must not leave a run without tasks. */
const families = v.pipe(v.array(v.picklist(FAMILIES)), v.minLength(1));
const settings = v.record(v.string(), v.union([v.number(), v.string(), v.boolean()]));

/** What all supervised stages have in common. */
const supervised = {
  /** Optimiser steps. Equal budgets make rows comparable (Early Experience, section 4: same number of updates). */
  updates: count(1, 5000),
  tokensPerUpdate: v.optional(count(64, 65_536), 3072),
  learningRate: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(0.01)), 5e-4),
};

const stage = v.variant('kind', [
  /** The DreamGym loop (or real-world RL): `settings` changes what the experiment's own leave. */
  v.strictObject({
    kind: v.literal('rl'),
    settings: v.optional(settings, {}),
    /** Train on tasks of these families only: how far does what was learned carry? */
    families: v.optional(families),
  }),
  /** Imitation of the warm start's demonstrator on further episodes. */
  v.strictObject({ kind: v.literal('sft'), ...supervised }),
  /** Direct preference optimisation: successes against failures of the warm start, in the real world. */
  v.strictObject({ kind: v.literal('dpo'), ...supervised, tasks: count(1, 480), beta: v.optional(v.number(), 0.1) }),
  /** Implicit world modelling: next observations after K alternative actions of the policy, then imitation. */
  v.strictObject({ kind: v.literal('iwm'), ...supervised, alternatives: v.optional(count(1, 16), 4) }),
  /** Self-reflection: why the demonstrated action and not the alternatives, mixed with imitation. */
  v.strictObject({ kind: v.literal('sr'), ...supervised, alternatives: v.optional(count(1, 8), 2) }),
  /** Imitation of the policy's own successful dreams (UI-Simulator's use of a simulator). */
  v.strictObject({ kind: v.literal('dream-sft'), ...supervised, tasks: count(1, 480) }),
  /** Changes the experience model, not the policy: with other data, less of it, or no reasoning. */
  v.strictObject({
    kind: v.literal('experience'),
    ...supervised,
    /** Offline transitions it may learn from. */
    transitions: v.optional(count(100, 200_000)),
    reasoning: v.optional(v.boolean(), true),
    /** Share of its data from players who fail as a policy fails; absent: as in its first training (0.57). */
    negatives: v.optional(share),
  }),
]);

const definition = v.strictObject({
  format: v.literal('dreamgym-experiment'),
  version: v.literal(1),
  name: v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]{0,60}$/)),
  about: v.optional(v.string()),
  seeds: v.pipe(v.array(count(0, 0xffff_ffff)), v.minLength(1), v.maxLength(100)),
  /** Settings of every `rl` stage. */
  settings: v.optional(settings, {}),
  evaluation: v.strictObject({
    /** Held-out tasks, the same for every row and seed. */
    tasks: count(10, 1000),
    /** The temperature of `realSuccess`. */
    temperature: v.optional(v.pipe(v.number(), v.minValue(0.05), v.maxValue(2)), 0.4),
    /** Every so many iterations of an `rl` stage there is a point of the learning curve; 0 = none. */
    every: v.optional(count(0, 1000), 0),
    /** Only tasks of these families, for training on some and testing on others. */
    families: v.optional(families),
  }),
  /** The row that the others are compared with. */
  baseline: v.optional(v.string()),
  /** What `--quick` changes: one seed, and a share of all updates and iterations. */
  quick: v.optional(v.strictObject({ seeds: v.array(count(0, 0xffff_ffff)), scale: share, tasks: count(10, 1000) })),
  /** A run that would need more real transitions than this is refused. */
  maxRealTransitions: v.optional(count(0, 10_000_000)),
  rows: v.pipe(
    v.array(
      v.strictObject({
        name: v.pipe(v.string(), v.minLength(1), v.maxLength(80)),
        /** What the paper reports for this row, for the table beside ours; never used in a computation. */
        paper: v.optional(v.string()),
        stages: v.pipe(v.array(stage), v.maxLength(8)),
        /** How it is examined: with so many proposals before every action, each imagined so many turns on. */
        planning: v.optional(
          v.strictObject({
            candidates: count(2, 16),
            lookahead: v.optional(count(0, 8), 0),
            /** Of the proposals; absent: the evaluation's. */
            temperature: v.optional(v.pipe(v.number(), v.minValue(0.05), v.maxValue(2))),
          }),
        ),
      }),
    ),
    v.minLength(1),
    v.maxLength(200),
  ),
});

export type ExperimentDefinition = v.InferOutput<typeof definition>;
export type Stage = v.InferOutput<typeof stage>;
export type SupervisedStage = Exclude<Stage, { kind: 'rl' }>;

export interface PlannedRun {
  /** Stable and usable as a folder's name: `03-dreamgym-seed1`. */
  id: string;
  row: string;
  seed: number;
  stages: readonly Stage[];
  planning?: { candidates: number; lookahead: number; temperature?: number };
  /** Changes when anything that decides the run's numbers does. */
  fingerprint: string;
}

/** Reads a definition. Throws DreamError `bad-experiment` (names the key) or `config-invalid`; nothing has run then. */
export function parseExperiment(value: unknown, name = 'the experiment'): ExperimentDefinition {
  const result = v.safeParse(definition, value);
  if (!result.success) {
    const [issue] = result.issues;
    const where = v.getDotPath(issue) ?? 'the top level';
    throw bad(`${name}, at ${where}: ${issue.message}.`);
  }
  const experiment = result.output;
  const names = experiment.rows.map((row) => row.name);
  const twice = names.find((row, i) => names.indexOf(row) !== i);
  if (twice !== undefined) throw bad(`${name} has two rows called "${twice}".`);
  if (experiment.baseline !== undefined && !names.includes(experiment.baseline))
    throw bad(`${name} compares with "${experiment.baseline}", which is no row of it.`);
  if (new Set(experiment.seeds).size < experiment.seeds.length) throw bad(`${name} names a seed twice.`);
  checkStages(experiment, name);
  // What would fail in the quick version must not wait until a run of it has begun.
  if (experiment.quick) checkStages(quickened(experiment), `the quick version of ${name}`);
  return experiment;
}

/** Every stage's settings, and what each row may take of the real world. */
function checkStages(experiment: ExperimentDefinition, name: string): void {
  for (const row of experiment.rows) {
    let real = 0;
    for (const one of row.stages) {
      if (one.kind !== 'rl') continue;
      real += realTransitions(runConfig(experiment, one, experiment.seeds[0]));
    }
    const most = experiment.maxRealTransitions ?? Number.POSITIVE_INFINITY;
    if (real > most) {
      throw bad(`${name}: "${row.name}" may need ${real} real transitions; the file allows ${most}.`);
    }
  }
}

/** The settings of an `rl` stage. Throws `config-invalid`, and `bad-experiment` for keys that are no settings. */
export function runConfig(
  { settings: shared, evaluation }: Pick<ExperimentDefinition, 'settings' | 'evaluation'>,
  { settings: own }: Extract<Stage, { kind: 'rl' }>,
  seed: number,
): RunConfig {
  const given = { ...shared, ...own };
  const known = resolveConfig({});
  for (const key of Object.keys(given)) {
    if (!Object.hasOwn(known, key)) throw bad(`"${key}" is no setting of a run.`);
    if (key === 'seed') throw bad('Seeds stand at the top of the experiment, not in its settings.');
  }
  const iterations = typeof given.iterations === 'number' ? given.iterations : known.iterations;
  return resolveConfig({
    ...(given as Partial<RunConfig>),
    seed,
    // The last point of a curve is the row's result, which is measured anyway.
    evalEvery: evaluation.every > 0 ? evaluation.every : Math.max(1, Math.min(iterations, numberRanges.evalEvery.max)),
    evalTasks: evaluation.tasks,
  });
}

/** The most transitions that a stage may take in the real world. */
function realTransitions(config: RunConfig): number {
  const { rollouts, iterations, realIterations, realBudget, tasksPerIteration, groupSize, maxSteps } = config;
  const { refreshEvery, refreshTransitions } = config;
  const most = (rollouts === 'real' ? iterations : realIterations) * tasksPerIteration * groupSize * maxSteps;
  const practised = rollouts === 'dream' && realBudget > 0 ? Math.min(most, realBudget) : most;
  // A refresh is for a dream that is still to come.
  const dreamed = rollouts === 'real' ? 0 : iterations - realIterations;
  const refreshes = refreshEvery === 0 ? 0 : Math.floor(Math.max(0, dreamed - 1) / refreshEvery);
  return practised + refreshes * refreshTransitions;
}

/** Settings that are amounts: in a quick version all of them shrink, or a part of the run would outgrow the whole. */
const lessens = new Set(['iterations', 'realIterations', 'realBudget', 'refreshEvery', 'refreshTransitions']);

/** The same comparison at a fraction of the cost: for a first look, and for tests. */
export function quickened(experiment: ExperimentDefinition): ExperimentDefinition {
  const { quick } = experiment;
  if (!quick) throw bad(`"${experiment.name}" says nothing of a quick version.`);
  const fewer = (n: number) => Math.max(1, Math.round(n * quick.scale));
  const lessened = (given: Record<string, number | string | boolean>): typeof given =>
    Object.fromEntries(
      Object.entries(given).map(([key, value]) => {
        return [key, lessens.has(key) && typeof value === 'number' && value > 0 ? fewer(value) : value];
      }),
    );
  return {
    ...experiment,
    name: `${experiment.name}-quick`,
    seeds: quick.seeds,
    settings: lessened(experiment.settings),
    evaluation: { ...experiment.evaluation, tasks: quick.tasks },
    rows: experiment.rows.map((row) => ({
      ...row,
      stages: row.stages.map((one) =>
        one.kind === 'rl'
          ? { ...one, settings: lessened(one.settings) }
          : { ...one, updates: fewer(one.updates), ...('tasks' in one ? { tasks: fewer(one.tasks) } : {}) },
      ),
    })),
  };
}

/** Rows x seeds, seed by seed: after the first seed there is a whole table, if a rough one. */
export function plannedRuns(experiment: ExperimentDefinition): PlannedRun[] {
  const { settings: shared, evaluation } = experiment;
  return experiment.seeds.flatMap((seed) =>
    experiment.rows.map(({ name, stages, planning }, i) => ({
      id: `${String(i + 1).padStart(2, '0')}-${slug(name)}-seed${seed}`,
      row: name,
      seed,
      stages,
      ...(planning ? { planning } : {}),
      // A row without a plan has the fingerprint that it had before there were plans.
      fingerprint: JSON.stringify({ seed, stages, shared, evaluation, ...(planning ? { planning } : {}) }),
    })),
  );
}

function slug(name: string): string {
  const plain = name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return plain.replace(/^-|-$/g, '').slice(0, 40) || 'row';
}

function bad(message: string): DreamError {
  return new DreamError('bad-experiment', message, 'Correct the file; nothing was run.');
}
