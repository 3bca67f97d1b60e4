/**
 * @file The one run the page shows, whatever it came from: recorded, live or imported.
 *
 * Panels read these signals and nothing else. A recorded run is shown up to `shown` iterations, so that it can be
 * replayed; a live run is always shown whole.
 */
import { computed, signal } from '@preact/signals';
import type { Trajectory } from '../../data/trajectory';
import type { Evaluation, IterationMetrics, PoolTask, RunConfig, RunRecord, RunStatus } from '../../worker/protocol';

export type ViewKind = 'none' | 'recorded' | 'live' | 'imported';

export interface RunView {
  kind: ViewKind;
  runId: string | null;
  created: string | null;
  adapter: string | null;
  config: RunConfig | null;
  metrics: IterationMetrics[];
  evaluations: Evaluation[];
  rollouts: ReadonlyMap<number, readonly Trajectory[]>;
  tasks: PoolTask[];
}

export const emptyView: RunView = {
  kind: 'none',
  runId: null,
  created: null,
  adapter: null,
  config: null,
  metrics: [],
  evaluations: [],
  rollouts: new Map(),
  tasks: [],
};

export const view = signal<RunView>(emptyView);

/** How many iterations of a replayed run are visible; Infinity shows everything. */
export const shown = signal(Number.POSITIVE_INFINITY);

/** The recorded run, kept for comparison while a live one grows. */
export const recorded = signal<RunView | null>(null);

export const visibleMetrics = computed(() => view.value.metrics.filter((m) => m.iteration <= shown.value));
export const visibleEvaluations = computed(() => view.value.evaluations.filter((e) => e.iteration <= shown.value));
export const visibleIterations = computed(() =>
  [...view.value.rollouts.keys()].filter((iteration) => iteration <= shown.value).sort((a, b) => a - b),
);
export const lastIteration = computed(() => view.value.metrics.at(-1)?.iteration ?? 0);

/** Where the agent of this run practises; what the page claims of it follows from that. */
export const practice = computed<'dreamed' | 'mixed' | 'real'>(() => {
  const { config } = view.value;
  if (config?.rollouts === 'real') return 'real';
  // Runs of before these settings existed are told without them.
  return (config?.realIterations ?? 0) > 0 || (config?.refreshEvery ?? 0) > 0 ? 'mixed' : 'dreamed';
});

export interface Story {
  /** First and newest real-world check. */
  before: Evaluation | null;
  after: Evaluation | null;
  dreamedTransitions: number;
  realTransitions: number;
  dreamed: boolean;
}

/** The three numbers the page is about. The trainer reports its counts as totals of the run so far. */
export const story = computed<Story>(() => {
  const evaluations = visibleEvaluations.value;
  const metrics = visibleMetrics.value;
  return {
    before: evaluations[0] ?? null,
    after: evaluations.length > 1 ? (evaluations.at(-1) ?? null) : null,
    dreamedTransitions: metrics.at(-1)?.dreamedTransitions ?? 0,
    realTransitions: metrics.at(-1)?.realTransitions ?? 0,
    dreamed: view.value.config?.rollouts !== 'real',
  };
});

/** Evaluations stand in two places (their own list and inside metrics); one of each iteration, in order. */
export function mergeEvaluations(
  evaluations: readonly Evaluation[],
  metrics: readonly IterationMetrics[],
): Evaluation[] {
  const byIteration = new Map<number, Evaluation>();
  for (const { evaluation } of metrics) if (evaluation) byIteration.set(evaluation.iteration, evaluation);
  for (const evaluation of evaluations) byIteration.set(evaluation.iteration, evaluation);
  return [...byIteration.values()].sort((a, b) => a.iteration - b.iteration);
}

export function viewOfRecord(record: RunRecord, kind: ViewKind): RunView {
  const metrics = [...record.metrics].sort((a, b) => a.iteration - b.iteration);
  return {
    kind,
    runId: record.runId,
    created: record.created,
    adapter: record.adapter,
    config: record.config,
    metrics,
    evaluations: mergeEvaluations(record.evaluations, metrics),
    rollouts: new Map(record.rollouts.map(({ iteration, trajectories }) => [iteration, trajectories])),
    tasks: record.tasks,
  };
}

/** A live run as the worker reports it after a reload or a resume; rollouts of earlier iterations are kept when known. */
export function viewOfStatus(status: RunStatus, previous: RunView): RunView {
  // A run that has just begun has no name yet.
  const same = previous.kind === 'live' && (previous.runId === status.runId || previous.runId === null);
  return {
    kind: 'live',
    runId: status.runId,
    created: same ? previous.created : null,
    adapter: status.adapter,
    config: status.config,
    metrics: status.metrics,
    evaluations: mergeEvaluations(status.evaluations, status.metrics),
    rollouts: same ? previous.rollouts : new Map(),
    tasks: same ? previous.tasks : [],
  };
}

/** A live run grown by one finished iteration. An iteration that is reported again (after a resume) replaces itself. */
export function withIteration(run: RunView, metrics: IterationMetrics, rollouts: readonly Trajectory[]): RunView {
  const list = [...run.metrics.filter((m) => m.iteration < metrics.iteration), metrics];
  return {
    ...run,
    metrics: list,
    evaluations: mergeEvaluations(run.evaluations, list),
    rollouts: new Map(run.rollouts).set(metrics.iteration, rollouts),
  };
}
