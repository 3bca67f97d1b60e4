/** @file A worker for the experiments panel's tests: describes like the real one, runs nothing, says what it is told to. */
import { DreamError } from '../../../src/data/errors';
import { parseExperiment, plannedRuns, quickened } from '../../../src/dream/experiment/definition';
import { type RunResult, tabulate } from '../../../src/dream/experiment/results';
import type { ExperimentsRemote } from '../../../src/ui/experiments/state';
import type { ExperimentEvent, ExperimentsApi } from '../../../src/worker/experiments/protocol';

export const small = {
  format: 'dreamgym-experiment',
  version: 1,
  name: 'small',
  seeds: [1, 2],
  evaluation: { tasks: 10 },
  rows: [{ name: 'Warm start', stages: [] }],
};

export function someResult(row: string, seed: number, realSuccess: number): RunResult {
  const tenths = Math.round(realSuccess * 10);
  return {
    row,
    seed,
    realSuccess,
    atRolloutTemperature: realSuccess,
    outcomes: '1'.repeat(tenths) + '0'.repeat(10 - tenths),
    realTransitions: 0,
    dreamedTransitions: 0,
    measurementSteps: 0,
    rewardError: null,
    fidelity: null,
    curve: [],
    updates: 0,
    facts: {},
    seconds: 1,
    weightsHash: '',
    adapter: 'none',
    date: '2026-11-29',
  };
}

export interface FakeExperiments {
  remote: ExperimentsRemote;
  calls: string[];
  emit(event: ExperimentEvent): void;
  crash(): void;
}

/** @param results what is finished of any experiment. */
export function fakeExperiments(results: RunResult[] = [], answers: Partial<ExperimentsApi> = {}): FakeExperiments {
  const calls: string[] = [];
  let listener: (event: ExperimentEvent) => void = () => {};
  let crash: (error: DreamError) => void = () => {};
  const crashed = new Promise<DreamError>((resolve) => {
    crash = resolve;
  });
  const read = (definition: unknown, quick: boolean, name?: string) => {
    const given = parseExperiment(definition, name);
    const experiment = quick ? quickened(given) : given;
    const names = experiment.rows.map((row) => row.name);
    const known = results.filter(({ row, seed }) => names.includes(row) && experiment.seeds.includes(seed));
    return { experiment, known };
  };
  const api: ExperimentsApi = {
    subscribe: (given) => {
      listener = given;
    },
    describe: async (definition, quick, name) => {
      const { experiment, known } = read(definition, quick, name);
      return {
        name: experiment.name,
        about: experiment.about ?? '',
        baseline: experiment.baseline ?? null,
        settings: experiment.settings,
        rows: experiment.rows.map(({ name: row, stages }) => ({ name: row, stages, finished: 0 })),
        seeds: experiment.seeds,
        runs: plannedRuns(experiment).length,
        finished: known.length,
        hasQuick: experiment.quick !== undefined,
      };
    },
    results: async (definition, quick) => {
      const { experiment, known } = read(definition, quick);
      return { rows: tabulate(experiment.rows, known, experiment.baseline), results: known };
    },
    start: async () => {},
    stop: async () => {},
    forget: async () => {
      results.length = 0;
    },
    ...answers,
  };
  const remote = new Proxy(api, {
    get(target, key: string) {
      if (key === 'then') return undefined;
      if (key === 'crashed') return crashed;
      if (key === 'terminate') return () => calls.push('terminate');
      return (...args: unknown[]) => {
        calls.push(key);
        return Reflect.get(target, key)(...args);
      };
    },
  }) as unknown as ExperimentsRemote;
  return {
    remote,
    calls,
    emit: (event) => listener(event),
    crash: () => crash(new DreamError('worker-crashed', 'It died.', 'Start it again.')),
  };
}
