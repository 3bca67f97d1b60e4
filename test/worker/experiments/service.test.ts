import { describe, expect, it } from 'vitest';
import type { PlannedRun } from '../../../src/dream/experiment/definition';
import type { RunResult } from '../../../src/dream/experiment/results';
import type { ExperimentParts, FinishedStage, RunKeeper } from '../../../src/dream/experiment/run';
import type { StageReport, StageRunners } from '../../../src/dream/experiment/stage';
import { MemoryRunStore } from '../../../src/store/memory-run-store';
import type { ExperimentEvent } from '../../../src/worker/experiments/protocol';
import { type ExperimentKeep, ExperimentService } from '../../../src/worker/experiments/service';
import { cpuTopK } from '../../dream/cpu-top-k';
import { KnowingModel, TableModel } from '../../dream/fake-models';
import { fakeDomain } from '../../dream/fake-world';
import { cpuAdvantages } from '../../rl/cpu-advantages';

const definition = {
  format: 'dreamgym-experiment',
  version: 1,
  name: 'small',
  seeds: [1, 2],
  settings: { iterations: 2, tasksPerIteration: 2, groupSize: 4, maxSteps: 4, temperature: 1, learningRate: 0.01 },
  evaluation: { tasks: 10, every: 1 },
  baseline: 'Warm start',
  rows: [
    { name: 'Warm start', stages: [] },
    { name: 'Taught', stages: [{ kind: 'sft', updates: 3 }] },
    { name: 'Dreamed', stages: [{ kind: 'rl' }] },
  ],
};

/** Keeps in memory what a browser keeps on disk. */
class MemoryKeep implements ExperimentKeep {
  readonly stages = new Map<string, FinishedStage[]>();
  readonly loops = new Map<string, MemoryRunStore>();
  readonly done = new Map<string, RunResult>();
  async results(_: string, runs: readonly PlannedRun[]): Promise<RunResult[]> {
    return runs.flatMap((run) => this.done.get(run.id) ?? []);
  }
  async keeper(_: string, run: PlannedRun): Promise<RunKeeper> {
    const stages = this.stages.get(run.id) ?? [];
    this.stages.set(run.id, stages);
    return {
      finished: async () => [...stages],
      finish: async (index, stage) => {
        stages[index] = structuredClone(stage);
      },
      store: (index) => {
        const key = `${run.id} ${index}`;
        const store = this.loops.get(key) ?? new MemoryRunStore();
        this.loops.set(key, store);
        return store;
      },
    };
  }
  async keep(_: string, run: PlannedRun, result: RunResult): Promise<void> {
    this.done.set(run.id, result);
  }
  async forget(_: string, run: PlannedRun): Promise<void> {
    this.done.delete(run.id);
    this.stages.delete(run.id);
  }
}

async function setUp(keep = new MemoryKeep(), taught: (seed: number) => void = () => {}) {
  const policy = new TableModel();
  const experience = new KnowingModel();
  const report: StageReport = { updates: 3, realTransitions: 7, dreamedTransitions: 0, facts: { loss: 0.5 } };
  const stages = {
    sft: async ({ seed, onProgress }: Parameters<StageRunners['sft']>[0]) => {
      await onProgress(0.5, 'half');
      taught(seed);
      return report;
    },
  } as unknown as StageRunners;
  const parts: ExperimentParts = {
    policy,
    experience,
    domain: fakeDomain(),
    kernels: { advantages: cpuAdvantages, topK: cpuTopK },
    adapter: 'plain code',
    gpuBytes: () => 0,
    stages,
    dpo: async () => ({ tokenWeights: new Float32Array(0), pairStats: new Float32Array(0) }),
    warmStart: { policy: await policy.exportState(false), experience: await experience.exportState(false) },
  };
  const events: ExperimentEvent[] = [];
  const service = new ExperimentService({ keep, open: async () => ({ parts, close: () => {} }) });
  let end: (how: ExperimentEvent) => void = () => {};
  const ended = new Promise<ExperimentEvent>((resolve) => {
    end = resolve;
  });
  service.subscribe((event) => {
    events.push(event);
    if (event.type === 'ended' || event.type === 'error') end(event);
  });
  return { service, events, ended, keep };
}

describe('an experiment in the worker', () => {
  it('runs every row with every seed and tells the table as it grows', async () => {
    const { service, events, ended } = await setUp();
    await service.start(definition, false);
    expect(await ended).toEqual({ type: 'ended', how: 'finished' });
    const { rows, results } = await service.results(definition, false);
    expect(rows.map(({ name, seeds }) => [name, seeds.length])).toEqual([
      ['Warm start', 2],
      ['Taught', 2],
      ['Dreamed', 2],
    ]);
    expect(results.find((r) => r.row === 'Taught')).toMatchObject({ realTransitions: 7, facts: { loss: 0.5 } });
    const dreamed = rows[2].seeds[0];
    expect(dreamed).toMatchObject({ realTransitions: 0, adapter: 'plain code' });
    expect(dreamed.dreamedTransitions).toBeGreaterThan(0);
    expect(dreamed.curve.map((p) => p.iteration)).toEqual([0, 1, 2]);
    expect(dreamed.outcomes).toMatch(/^[01]{10}$/);
    expect(rows[1].difference).not.toBeNull();
    expect(events.filter((e) => e.type === 'results').length).toBeGreaterThan(5);
  });

  it('stopped and started again ends with the same numbers', async () => {
    const whole = await setUp();
    await whole.service.start(definition, false);
    await whole.ended;
    const keep = new MemoryKeep();
    const first = await setUp(keep);
    let seen = 0;
    first.service.subscribe((event) => {
      // In the middle of the dreamed run's iterations.
      if (event.type === 'progress' && event.row === 'Dreamed' && ++seen === 9) void first.service.stop();
    });
    await first.service.start(definition, false);
    expect(await first.ended).toEqual({ type: 'ended', how: 'stopped' });
    expect(keep.done.size).toBeLessThan(6);
    const second = await setUp(keep);
    await second.service.start(definition, false);
    await second.ended;
    const plain = (results: RunResult[]) => results.map(({ seconds: _s, date: _d, ...rest }) => rest);
    expect(plain((await second.service.results(definition, false)).results)).toEqual(
      plain((await whole.service.results(definition, false)).results),
    );
  });

  it('gives every run the same warm start, whatever ran before', async () => {
    const keep = new MemoryKeep();
    const { service, ended } = await setUp(keep);
    await service.start(definition, false);
    await ended;
    const [a, b] = [keep.done.get('01-warm-start-seed1')!, keep.done.get('01-warm-start-seed2')!];
    expect(a.weightsHash).toBe(b.weightsHash);
    expect(a.outcomes).toBe(b.outcomes);
  });

  it('tells a failure and keeps what was finished', async () => {
    const { service, ended, keep } = await setUp(new MemoryKeep(), () => {
      throw new Error('no such luck');
    });
    await service.start(definition, false);
    expect(await ended).toMatchObject({ type: 'error', error: { message: 'no such luck' } });
    expect([...keep.done.keys()]).toEqual(['01-warm-start-seed1']);
  });

  it('refuses a bad definition, and a second experiment at once', async () => {
    const { service, ended } = await setUp();
    await expect(service.describe({ ...definition, rows: [] }, false)).rejects.toMatchObject({
      code: 'bad-experiment',
    });
    await service.start(definition, false);
    await expect(service.start(definition, false)).rejects.toMatchObject({ code: 'busy' });
    await ended;
  });
});
