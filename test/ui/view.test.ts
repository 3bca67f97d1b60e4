import { beforeEach, expect, test } from 'vitest';
import { checkRecord } from '../../src/data/importers/run-record';
import { checkConfig } from '../../src/dream/presets';
import { roomAfter } from '../../src/ui/rollouts/room';
import {
  chosenIteration,
  isFooled,
  iterationOnStage,
  matches,
  matching,
  outcome,
  query,
} from '../../src/ui/rollouts/selection';
import { whereIs } from '../../src/ui/state/progress';
import { commandOf, type KeyPress } from '../../src/ui/state/shortcuts';
import { receive } from '../../src/ui/state/trainer';
import {
  emptyView,
  mergeEvaluations,
  practice,
  shown,
  story,
  view,
  viewOfRecord,
  visibleIterations,
  visibleMetrics,
} from '../../src/ui/state/view';
import type { RunPhase } from '../../src/worker/protocol';
import { fixtureRun } from './fixture';

const record = fixtureRun(12, 3);

beforeEach(() => {
  view.value = emptyView;
  shown.value = Number.POSITIVE_INFINITY;
  chosenIteration.value = null;
  outcome.value = 'all';
  query.value = '';
});

test('the fixture is a run file like any other', () => {
  expect(checkRecord(JSON.parse(JSON.stringify(record)), checkConfig).metrics).toHaveLength(12);
});

test('a replay shows nothing beyond its iteration', () => {
  view.value = viewOfRecord(record, 'recorded');
  shown.value = 5;
  expect(visibleMetrics.value.at(-1)?.iteration).toBe(5);
  expect(visibleIterations.value).toEqual([1, 2, 3, 4, 5]);
  expect(story.value.after?.iteration).toBe(5);
  expect(story.value.dreamedTransitions).toBe(record.metrics[4].dreamedTransitions);
  expect(story.value.realTransitions).toBe(0);
  shown.value = 0;
  expect(story.value.before?.iteration).toBe(0);
  expect(story.value.after).toBeNull();
});

test('a live run grows by events, and an iteration told twice counts once', () => {
  view.value = { ...emptyView, kind: 'live' };
  receive({ type: 'evaluation', evaluation: record.evaluations[0] });
  for (const i of [0, 1, 2, 1])
    receive({ type: 'iteration', metrics: record.metrics[i], rollouts: record.rollouts[i].trajectories });
  expect(view.value.metrics.map((m) => m.iteration)).toEqual([1, 2]);
  expect(view.value.evaluations.map((e) => e.iteration)).toEqual([0]);
  expect(view.value.rollouts.get(2)).toHaveLength(8);
});

test('evaluations of both places are merged in order', () => {
  expect(mergeEvaluations(record.evaluations.slice(0, 1), record.metrics).map((e) => e.iteration)).toEqual([0, 5, 10]);
});

test('the stage follows the newest iteration until someone chooses', () => {
  view.value = viewOfRecord(record, 'imported');
  expect(iterationOnStage.value).toBe(12);
  chosenIteration.value = 4;
  expect(iterationOnStage.value).toBe(4);
  shown.value = 2;
  expect(iterationOnStage.value).toBe(2);
});

test('filters: success, failure, fooled, text', () => {
  view.value = viewOfRecord(record, 'imported');
  const all = record.rollouts.at(-1)!.trajectories;
  for (const filter of ['success', 'failure', 'fooled'] as const) {
    outcome.value = filter;
    expect(matching.value).toEqual(all.filter((rollout) => matches(rollout, filter, '')));
  }
  const success = { ...all[0], success: true };
  expect(isFooled({ ...success, replay: { success: false, firstMismatch: 2 } })).toBe(true);
  expect(isFooled({ ...success, replay: undefined })).toBe(false);
  expect(matches(success, 'all', 'SINKBASIN')).toBe(true);
  expect(matches(success, 'all', 'dragon')).toBe(false);
});

test('the room follows the words of the rollout', () => {
  const rollout = record.rollouts.flatMap(({ trajectories }) => trajectories).find(({ success }) => success)!;
  const object = rollout.task.instruction.split(' ')[3];
  expect(roomAfter(rollout, 0)).toMatchObject({ at: null, carrying: null });
  expect(roomAfter(rollout, 2)).toMatchObject({ at: 'shelf 1', carrying: `${object} 1` });
  expect(roomAfter(rollout, rollout.turns.length).carrying).toBeNull();
  expect(roomAfter({ ...rollout, firstObservation: '' }, 99).places).toEqual([]);
});

test('keys command the page, but not while someone types or uses a control', () => {
  const press = (key: string, rest: Partial<KeyPress> = {}) =>
    commandOf({
      key,
      modified: false,
      repeated: false,
      tag: 'BODY',
      role: null,
      editable: false,
      dialogOpen: false,
      ...rest,
    });
  expect(press(' ')).toBe('run');
  expect(press('.')).toBe('step');
  expect(press('r')).toBe('reset');
  expect(press('?')).toBe('help');
  expect(press('ArrowRight')).toBe('next');
  expect(press(' ', { tag: 'BUTTON' })).toBeNull();
  expect(press(' ', { tag: 'SECTION' })).toBeNull();
  expect(press('.', { tag: 'BUTTON' })).toBe('step');
  expect(press('r', { tag: 'INPUT' })).toBeNull();
  expect(press('r', { editable: true })).toBeNull();
  expect(press('r', { modified: true })).toBeNull();
  expect(press(' ', { repeated: true })).toBeNull();
  expect(press(' ', { dialogOpen: true })).toBeNull();
  expect(press('ArrowLeft', { role: 'tab', tag: 'BUTTON' })).toBeNull();
  expect(press('x')).toBeNull();
});

test('progress names the iteration under way and never runs backwards within one', () => {
  const at = (phase: RunPhase, iteration: number, fraction = 0) =>
    whereIs({ phase, iteration, iterations: 4, fraction, secondsLeft: null, detail: '' });
  expect(at('evaluating', 0, 0.9)).toEqual({ current: 0, share: 0 });
  expect(at('rolling-out', 0)).toEqual({ current: 1, share: 0 });
  const steps = [
    at('rolling-out', 1),
    at('rolling-out', 1, 1),
    at('learning', 1, 0.5),
    at('evaluating', 1, 0.5),
    at('saving', 2),
  ];
  const shares = steps.map(({ share }) => share);
  expect(shares).toEqual([...shares].sort((a, b) => a - b));
  expect(at('learning', 3)).toMatchObject({ current: 4 });
  expect(at('finished', 4)).toEqual({ current: 4, share: 1 });
  expect(at('paused', 2)).toEqual({ current: 2, share: 0.5 });
});

test('the page claims of a run’s practice only what its settings make true', () => {
  const { config } = viewOfRecord(fixtureRun(1), 'imported');
  if (!config) throw new Error('the fixture has settings');
  const of = (changes: Partial<typeof config>) => {
    view.value = { ...emptyView, kind: 'live', config: { ...config, ...changes } };
    return practice.value;
  };
  expect(of({})).toBe('dreamed');
  expect(of({ realIterations: 2 })).toBe('mixed');
  expect(of({ refreshEvery: 3 })).toBe('mixed');
  expect(of({ rollouts: 'real', realIterations: 2 })).toBe('real');
  view.value = emptyView;
  expect(practice.value).toBe('dreamed');
});
