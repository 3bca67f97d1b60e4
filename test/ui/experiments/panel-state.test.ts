/** The experiments panel's state against a worker that does as it is told. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { DreamError } from '../../../src/data/errors';
import { builtIns } from '../../../src/ui/experiments/built-in';
import { newestOf } from '../../../src/ui/experiments/recorded';
import * as state from '../../../src/ui/experiments/state';
import { fakeExperiments, small, someResult } from './fake-experiments';

const file = (name: string, content: unknown) =>
  new File([typeof content === 'string' ? content : JSON.stringify(content)], name, { type: 'application/json' });

/** A fresh worker, and the panel as it is when it is opened. */
async function opened(fake = fakeExperiments()) {
  state.connectBy(() => fake.remote);
  state.chosen.value = builtIns[0];
  state.ownFile.value = null;
  state.quick.value = true;
  state.wanted.value = null;
  await state.look();
  return fake;
}

beforeEach(() => {
  state.problem.value = null;
  state.receive({ type: 'ended', how: 'stopped' });
});

describe('what is chosen', () => {
  it('begins with the paper’s table, quick', async () => {
    await opened();
    expect(builtIns[0].id).toBe('paper-table');
    expect(state.problem.value).toBeNull();
    expect(state.summary.value).toMatchObject({ name: 'paper-table-quick', seeds: [1], finished: 0 });
    expect(state.allRuns.value).toBe(state.summary.value?.rows.length);
  });

  it('every experiment of the page can be read, whole and quick', async () => {
    await opened();
    for (const experiment of builtIns) {
      expect(await state.choose(experiment), experiment.id).toBe(true);
      expect(await state.chooseQuick(false), experiment.id).toBe(true);
    }
  });

  it('a file of the reader’s is taken whole, and stays in the list', async () => {
    await opened();
    await state.openFile(file('mine.json', small));
    expect(state.problem.value).toBeNull();
    expect([state.chosen.value.title, state.quick.value, state.allRuns.value]).toEqual(['mine.json', false, 2]);
    await state.choose(builtIns[0]);
    expect(state.ownFile.value?.title).toBe('mine.json');
  });

  it.each([
    ['is not JSON', '{"format":'],
    ['is not an experiment file', { cat: 1 }],
    ['is not an experiment file', null],
    ['two rows called', { ...small, rows: [...small.rows, ...small.rows] }],
    ['at seeds', { ...small, seeds: 'many' }],
  ])('a file that %s is refused by name, and what was chosen stays', async (words, content) => {
    await opened();
    const before = state.summary.value;
    await state.openFile(file('cat.json', content));
    expect(state.problem.value?.code).toBe('bad-experiment');
    expect(state.problem.value?.message).toContain(words);
    expect(state.problem.value?.message).toContain('cat.json');
    expect(state.chosen.value).toBe(builtIns[0]);
    expect(state.summary.value).toBe(before);
    expect(state.ownFile.value).toBeNull();
  });
});

describe('results that come with the page', () => {
  it('are shown, with the whole experiment’s methods, until this browser has some of its own', async () => {
    await opened();
    const { name, seeds } = state.recorded.value!.summary;
    expect([state.source.value, name, seeds.length, state.summary.value?.name]).toEqual([
      'recorded',
      'paper-table',
      3,
      'paper-table-quick',
    ]);
    expect(state.shown.value.rows.find((row) => row.name === 'DreamGym (GRPO)')?.seeds[0].realTransitions).toBe(0);
    await opened(fakeExperiments([someResult('SFT', 1, 0.5)]));
    expect([state.source.value, state.shown.value.rows.length]).toEqual(['here', 1]);
    state.wanted.value = 'recorded';
    expect(state.shown.value.rows.length).toBeGreaterThan(5);
  });

  it('give way to what is being run, and stand for no file of the reader’s', async () => {
    await opened();
    await state.start();
    expect(state.source.value).toBe('here');
    await opened();
    await state.openFile(file('mine.json', small));
    expect([state.recorded.value, state.source.value]).toEqual([null, 'here']);
  });

  it('are the newest of the whole, or of the quick version where there is no other', () => {
    const quick = 'r/transfer-quick-lavapipe-2026-12-01.json';
    const whole = ['r/transfer-lavapipe-2026-11-29.json', 'r/transfer-lavapipe-2026-11-30.json'];
    expect(newestOf('transfer', [quick, ...whole, 'r/paper-table-lavapipe-2027-01-01.json'])).toBe(whole[1]);
    expect(newestOf('transfer', [quick])).toBe(quick);
    expect(newestOf('planning', [quick, ...whole])).toBeUndefined();
  });
});

describe('a running experiment', () => {
  it('tells how far it is, run by run', async () => {
    const fake = await opened();
    await state.openFile(file('mine.json', small));
    await state.start();
    expect(state.running.value).toBe(true);
    const run = { run: '01-warm-start-seed1', row: 'Warm start', seed: 1 };
    fake.emit({ type: 'progress', ...run, fraction: 0.5, detail: 'examined', secondsLeft: null });
    expect(state.share.value).toBe(0.25);
    fake.emit({ type: 'results', rows: [], finished: 1, runs: 2 });
    expect(state.share.value).toBe(0.5);
    fake.emit({ type: 'ended', how: 'finished' });
    expect([state.running.value, state.progress.value]).toEqual([false, null]);
  });

  it('that is refused, or ends with an error, runs no longer and says why', async () => {
    const busy = new DreamError('busy', 'One thing at a time.', 'Wait.');
    const fake = await opened(fakeExperiments([], { start: () => Promise.reject(busy) }));
    await state.start();
    expect([state.running.value, state.problem.value?.code]).toEqual([false, 'busy']);
    state.running.value = true;
    state.stopping.value = true;
    fake.emit({ type: 'error', error: { code: 'gpu-lost', message: 'Gone.', advice: '' } });
    expect([state.running.value, state.stopping.value, state.problem.value?.code]).toEqual([false, false, 'gpu-lost']);
  });

  it('whose worker dies can be started again, by a new worker', async () => {
    const fake = await opened();
    await state.start();
    fake.crash();
    await vi.waitFor(() => expect(state.problem.value?.code).toBe('worker-crashed'));
    expect(state.running.value).toBe(false);
    expect(fake.calls).toContain('terminate');
    const second = fakeExperiments();
    state.connectBy(() => second.remote);
    await state.start();
    expect(second.calls).toEqual(['subscribe', 'start']);
    expect(state.problem.value).toBeNull();
  });

  it('forgets on request', async () => {
    await opened(fakeExperiments([someResult('Warm start', 1, 0.3), someResult('SFT', 1, 0.5)]));
    expect(state.finishedRuns.value).toBe(2);
    expect(state.rows.value.map(({ name, mean }) => [name, mean])).toEqual([
      ['Warm start', 0.3],
      ['SFT', 0.5],
    ]);
    await state.forget();
    expect([state.finishedRuns.value, state.rows.value]).toEqual([0, []]);
  });
});
