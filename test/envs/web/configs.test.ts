/** @file WebArena task files: our own small one always, the real Lite file where it is at hand. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { evaluateNow, loadWebArenaConfigs, type Profile, WebWorld, webTask } from '../../../src/envs/web';

const fixture = readFileSync(new URL('./webarena-tasks.fixture.json', import.meta.url), 'utf8');

test('a task file is read, counted, and what is no task is reported', () => {
  const report = loadWebArenaConfigs(fixture);
  expect(report.tasks.map((task) => task.task_id)).toEqual([0, 1, 2, 3]);
  expect(report.byEvaluator).toEqual({ string_match: 2, url_match: 1, 'url_match+program_html': 1 });
  expect(report.bySite).toEqual({ shopping: 1, map: 1, reddit: 1, multi: 1 });
  expect(report.byScoring).toEqual({ offline: 2, judge: 1, 'live-site': 1 });
  expect(report.dropped).toEqual([
    { where: 'entry 4', why: 'no intent' },
    { where: 'entry 5', why: 'not an object' },
  ]);
});

test.each(['nonsense', '[]', '{}', '[{"__proto__": {"a": 1}}]', 'null'])('not a task file: %s', (text) => {
  expect(() => loadWebArenaConfigs(text)).toThrowError(expect.objectContaining({ code: 'web-configs-unreadable' }));
});

test('a task of several tabs can be played and scored on the built-in sites', () => {
  const [, , , config] = loadWebArenaConfigs(fixture).tasks;
  const world = new WebWorld();
  world.reset(webTask(config, 'own/3', 'own'));
  expect(world.rawObservation()).toMatch(/^Tab 0 \(current\): .* \| Tab 1: All posts - Lantern Forum\n\n/);
  world.step('tab_focus [1]');
  expect(world.previousAction).toBe('page_focus [1]');
  world.step('goto [http://forum.example/f/hiking]');
  expect(world.step('stop []')).toMatchObject({ reward: 1, done: true });
});

test('a task of a site that is not built in is refused with advice', () => {
  const [config] = loadWebArenaConfigs(fixture).tasks;
  const elsewhere = { ...config, start_url: 'http://192.0.2.1:7770/' };
  expect(() => webTask(elsewhere, 'x', 'x')).toThrowError(expect.objectContaining({ code: 'task-needs-live-site' }));
});

const sample = new URL('../../../../shared/samples/webarena_lite_165.raw.json', import.meta.url);

describe.runIf(existsSync(sample))('the real WebArena-Lite file', () => {
  const report = existsSync(sample) ? loadWebArenaConfigs(readFileSync(sample, 'utf8')) : null;

  test('all 165 tasks load', () => {
    expect(report?.tasks.length).toBe(165);
    expect(report?.dropped).toEqual([]);
    expect(report?.byEvaluator).toEqual({
      string_match: 78,
      program_html: 48,
      'url_match+program_html': 19,
      url_match: 18,
      'string_match+url_match': 2,
    });
    expect(report?.bySite).toEqual({ shopping: 45, shopping_admin: 35, gitlab: 30, map: 26, reddit: 19, multi: 10 });
    // 43 answers and 18 addresses and one of both need neither judge nor live site.
    expect(report?.byScoring).toEqual({ offline: 62, judge: 36, 'live-site': 67 });
  });

  test('every task is scored without an exception, in both profiles, and none passes for silence', () => {
    const outcome = { answer: '', url: 'http://nowhere.example/', page: () => null, helper: () => null };
    for (const profile of ['webarena', 'lite'] satisfies Profile[])
      for (const task of report?.tasks ?? []) expect(evaluateNow(task, outcome, profile).score).not.toBe(1);
  });

  test("each deterministic answer passes when the task's own phrases are said", () => {
    for (const task of report?.tasks ?? []) {
      const { must_include: phrases, exact_match: exact } = task.eval.reference_answers;
      if (task.eval.eval_types.join() !== 'string_match' || 'fuzzy_match' in task.eval.reference_answers) continue;
      const said =
        typeof exact === 'string'
          ? exact
          : [phrases ?? []]
              .flat()
              .map((phrase) => phrase.split(' |OR| ')[0])
              .join(' , ');
      const outcome = { answer: said, url: '', page: () => null, helper: () => null };
      expect(evaluateNow(task, outcome, 'lite').score, task.intent).toBe(1);
    }
  });
});
