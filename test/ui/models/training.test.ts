/** @file Training from the panel, without a page: what is asked of the worker, what its events change, what it refuses meanwhile. */
import { beforeEach, describe, expect, it } from 'vitest';
import { DreamError } from '../../../src/data/errors';
import * as connection from '../../../src/ui/models/connection';
import { target } from '../../../src/ui/models/experiencing';
import * as training from '../../../src/ui/models/training';
import * as state from '../../../src/ui/models/training-state';
import type { TrainingRequest } from '../../../src/worker/models/protocol';
import type { IterationMetrics, Progress, RunEvent } from '../../../src/worker/protocol';
import { type FakeModels, fakeModels, someLoaded } from './fake-models';

function use(answers: Parameters<typeof fakeModels>[0] = {}): FakeModels {
  const fake = fakeModels({ lastTraining: () => Promise.resolve(null), ...answers });
  connection.connectBy(() => fake.remote);
  return fake;
}

const progress = (changes: Partial<Progress>): RunEvent => ({
  type: 'progress',
  progress: { phase: 'learning', iteration: 0, iterations: 5, fraction: 0, secondsLeft: null, detail: '', ...changes },
});
const iteration = (number: number): RunEvent => ({
  type: 'iteration',
  metrics: { iteration: number, loss: 0.5 } as IterationMetrics,
  rollouts: [],
});

beforeEach(() => {
  state.forgetRun();
  connection.loaded.value = someLoaded;
  connection.problem.value = null;
  target.value = 'loaded';
  training.recall.value = 'words';
});

describe('the run of the loaded model', () => {
  it('is asked for with what the form says, and told by events', async () => {
    const { calls, emit } = use();
    training.settings.value = { ...training.settings.value, iterations: 3 };
    await training.start();
    const asked = calls.find(({ method }) => method === 'startTraining')?.args[0] as TrainingRequest;
    expect(asked).toMatchObject({ rank: 8, alpha: 16, dream: { kind: 'loaded' }, recall: { kind: 'words' } });
    expect(asked.settings.iterations).toBe(3);
    expect(asked.text.constrain).toBe('admissible');

    emit({ type: 'run', event: progress({ detail: 'imitating' }) });
    expect(connection.working.value).toBe(true);
    expect(state.runProgress.value.detail).toBe('imitating');
    emit({ type: 'loaded', loaded: { ...someLoaded, gpuBytes: 9 } });
    expect(connection.loaded.value?.gpuBytes).toBe(9);
    emit({ type: 'run', event: iteration(1) });
    emit({ type: 'run', event: iteration(2) });
    // The device was lost and the second is done again.
    emit({ type: 'run', event: iteration(2) });
    expect(state.runMetrics.value.map((m) => m.iteration)).toEqual([1, 2]);
    emit({ type: 'run', event: progress({ phase: 'finished' }) });
    expect(connection.working.value).toBe(false);
  });

  it('is paused, stepped and stopped; who dreams is told anew when it goes on', async () => {
    const { calls, emit } = use({
      training: () => ({ progress: state.runProgress.value, metrics: [], evaluations: [] }),
    });
    await training.start();
    emit({ type: 'run', event: progress({ phase: 'paused' }) });
    expect(state.trainingPaused.value).toBe(true);
    target.value = 'endpoint';
    training.recall.value = 'encoder';
    await training.step();
    await training.resume();
    await training.stop();
    const methods = calls
      .map(({ method }) => method)
      .filter((method) => /Training$/.test(method) && method !== 'lastTraining');
    expect(methods).toEqual(['startTraining', 'stepTraining', 'resumeTraining', 'stopTraining']);
    const resumed = calls.find(({ method }) => method === 'resumeTraining')?.args[0];
    expect(resumed).toMatchObject({ dream: { kind: 'endpoint' }, recall: { kind: 'encoder', id: expect.any(String) } });
  });

  it('what goes wrong is told at its place, whether refused or on the way', async () => {
    const { emit } = use({
      startTraining: () => {
        throw new DreamError('context-too-short', 'The first turn alone needs 900 tokens.', 'Open it with 2048.');
      },
    });
    await training.start();
    expect(connection.problem.value).toMatchObject({ place: 'train', card: { text: expect.stringContaining('900') } });
    connection.problem.value = null;
    emit({ type: 'run', event: { type: 'error', error: { code: 'endpoint-down', message: 'no', advice: 'wait' } } });
    expect(connection.problem.value).toMatchObject({ place: 'train' });
  });

  it('an unfinished one of an earlier visit is offered', async () => {
    const last = { runId: 'a', iteration: 2, config: training.settings.value, savedAt: '' };
    use({ lastTraining: () => Promise.resolve(last) });
    await training.lookForLastTraining();
    expect(training.lastTraining.value).toEqual(last);
  });
});
