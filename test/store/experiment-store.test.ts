import 'fake-indexeddb/auto';
import { expect, it } from 'vitest';
import type { PlannedRun } from '../../src/dream/experiment/definition';
import type { RunResult } from '../../src/dream/experiment/results';
import type { FinishedStage } from '../../src/dream/experiment/run';
import { ExperimentStore } from '../../src/store/experiment-store';

const run = (fingerprint: string): PlannedRun => ({ id: '01-a-seed1', row: 'A', seed: 1, stages: [], fingerprint });
const stage = (value: number): FinishedStage => ({
  policy: { step: 0, weights: new Map([['w', Float32Array.of(value, 2)]]) },
  report: { updates: 1, realTransitions: 2, dreamedTransitions: 3, facts: {} },
  curve: [],
  metrics: [],
  measurementSteps: 0,
  seconds: 1,
});

it('keeps stages until the run has its result, and nothing across definitions', async () => {
  const store = new ExperimentStore();
  const keeper = await store.keeper('e', run('first'));
  await keeper.finish(0, stage(1));
  await keeper.finish(1, { ...stage(4), experience: { step: 0, weights: new Map([['x', Float32Array.of(9)]]) } });
  // As after a reload.
  const again = await new ExperimentStore().keeper('e', run('first'));
  const found = await again.finished();
  expect(found.map(({ policy }) => [...policy.weights.get('w')!])).toEqual([
    [1, 2],
    [4, 2],
  ]);
  expect(found[1].experience!.weights.get('x')).toEqual(Float32Array.of(9));
  expect(await store.results('e', [run('first')])).toEqual([]);

  const result = { row: 'A', seed: 1, realSuccess: 0.5 } as RunResult;
  await store.keep('e', run('first'), result);
  expect(await store.results('e', [run('first')])).toEqual([result]);
  expect(await again.finished()).toEqual([]);
  expect(await store.results('another', [run('first')])).toEqual([]);

  // The same row under another definition is another run.
  expect(await store.results('e', [run('second')])).toEqual([]);
  await store.keeper('e', run('second'));
  expect(await store.results('e', [run('first')])).toEqual([]);
  await store.close();
});
