/**
 * @file An experiment in the worker: run after run, each resumable, with the table growing as they finish.
 */
import { asDreamError } from '../../data/errors';
import type { RunControl } from '../../dream/control';
import {
  type ExperimentDefinition,
  type PlannedRun,
  parseExperiment,
  plannedRuns,
  quickened,
} from '../../dream/experiment/definition';
import { type Row, type RunResult, tabulate } from '../../dream/experiment/results';
import { type ExperimentParts, type RunKeeper, runOne } from '../../dream/experiment/run';
import { busy } from '../models/service-errors';
import type { ExperimentEvent, ExperimentSummary, ExperimentsApi } from './protocol';

/** Where runs are kept: IndexedDB in the page, memory in tests. */
export interface ExperimentKeep {
  results(experiment: string, runs: readonly PlannedRun[]): Promise<RunResult[]>;
  keeper(experiment: string, run: PlannedRun): Promise<RunKeeper>;
  keep(experiment: string, run: PlannedRun, result: RunResult): Promise<void>;
  forget(experiment: string, run: PlannedRun): Promise<void>;
}

export interface ExperimentSurroundings {
  keep: ExperimentKeep;
  /** Opened when the first run begins, closed when the last has ended. */
  open(): Promise<{ parts: ExperimentParts; close(): void }>;
  /** Keeps other tabs from the same experiment, where the surroundings have tabs. Throws when one has it. */
  lock?(experiment: string): Promise<() => void>;
}

class Stopped extends Error {}

export class ExperimentService implements ExperimentsApi {
  private listeners: ((event: ExperimentEvent) => void)[] = [];
  private control: RunControl | null = null;
  private stopping = false;
  private running: Promise<void> | null = null;

  constructor(private readonly around: ExperimentSurroundings) {}

  subscribe(listener: (event: ExperimentEvent) => void): void {
    this.listeners.push(listener);
  }

  async describe(definition: unknown, quick: boolean, name?: string): Promise<ExperimentSummary> {
    const { experiment, runs } = read(definition, quick, name);
    const results = await this.around.keep.results(experiment.name, runs);
    return {
      name: experiment.name,
      about: experiment.about ?? '',
      baseline: experiment.baseline ?? null,
      settings: experiment.settings,
      rows: experiment.rows.map(({ name, paper, stages, planning }) => ({
        name,
        ...(paper === undefined ? {} : { paper }),
        stages,
        ...(planning === undefined ? {} : { planning }),
        finished: results.filter((r) => r.row === name).length,
      })),
      seeds: experiment.seeds,
      runs: runs.length,
      finished: results.length,
      hasQuick: read(definition, false).experiment.quick !== undefined,
    };
  }

  async results(definition: unknown, quick: boolean): Promise<{ rows: Row[]; results: RunResult[] }> {
    const { experiment, runs } = read(definition, quick);
    const results = await this.around.keep.results(experiment.name, runs);
    return { rows: tabulate(experiment.rows, results, experiment.baseline), results };
  }

  async start(definition: unknown, quick: boolean): Promise<void> {
    const { experiment, runs } = read(definition, quick);
    if (this.running) throw busy('an experiment is running');
    this.stopping = false;
    this.running = this.run(experiment, runs).finally(() => {
      this.running = null;
      this.control = null;
    });
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.control?.stop();
    await this.running;
  }

  async forget(definition: unknown, quick: boolean): Promise<void> {
    const { experiment, runs } = read(definition, quick);
    if (this.running) throw busy('an experiment is running');
    for (const run of runs) await this.around.keep.forget(experiment.name, run);
  }

  private async run(experiment: ExperimentDefinition, runs: readonly PlannedRun[]): Promise<void> {
    let opened: { parts: ExperimentParts; close(): void } | null = null;
    let release = () => {};
    try {
      release = (await this.around.lock?.(experiment.name)) ?? release;
      await this.tell(experiment, runs);
      for (const run of runs) {
        if (this.stopping) break;
        const [known] = await this.around.keep.results(experiment.name, [run]);
        if (known) continue;
        opened ??= await this.around.open();
        await this.runOne(opened.parts, experiment, run);
        await this.tell(experiment, runs);
      }
      this.emit({ type: 'ended', how: this.stopping ? 'stopped' : 'finished' });
    } catch (error) {
      if (error instanceof Stopped) return this.emit({ type: 'ended', how: 'stopped' });
      const { code, message, advice } = asDreamError(error);
      this.emit({ type: 'error', error: { code, message, advice } });
    } finally {
      opened?.close();
      release();
    }
  }

  private async runOne(parts: ExperimentParts, experiment: ExperimentDefinition, run: PlannedRun): Promise<void> {
    const { keep } = this.around;
    const start = performance.now();
    const keeper = await keep.keeper(experiment.name, run);
    const result = await runOne(parts, experiment, run, keeper, {
      onProgress: (stage, stages, part, detail) => {
        const fraction = (stage + part) / (stages + 1);
        const spent = (performance.now() - start) / 1000;
        const secondsLeft = fraction > 0.05 ? (spent * (1 - fraction)) / fraction : null;
        const { id, row, seed } = run;
        this.emit({ type: 'progress', run: id, row, seed, fraction, detail, secondsLeft });
      },
      onControl: (control) => {
        this.control = control;
        if (this.stopping) control?.stop();
      },
      check: () => {
        if (this.stopping) throw new Stopped();
      },
    });
    if (result) await keep.keep(experiment.name, run, result);
  }

  private async tell(experiment: ExperimentDefinition, runs: readonly PlannedRun[]): Promise<void> {
    const results = await this.around.keep.results(experiment.name, runs);
    const rows = tabulate(experiment.rows, results, experiment.baseline);
    this.emit({ type: 'results', rows, finished: results.length, runs: runs.length });
  }

  private emit(event: ExperimentEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}

function read(
  definition: unknown,
  quick: boolean,
  name?: string,
): { experiment: ExperimentDefinition; runs: PlannedRun[] } {
  const given = parseExperiment(definition, name);
  const experiment = quick ? quickened(given) : given;
  return { experiment, runs: plannedRuns(experiment) };
}
