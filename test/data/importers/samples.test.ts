/** The same importers on real files of public projects (`../shared/samples`); the counts were read from the files. */
import { createReadStream, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type ImportedEpisode, importTrajectories } from '../../../src/data/importers';
import { haveSamples, samples } from './support';

async function importSample(name: string) {
  const episodes: ImportedEpisode[] = [];
  const report = await importTrajectories(createReadStream(`${samples}${name}`), {
    name,
    onEpisode: (episode) => void episodes.push(episode),
  });
  const reasons: Record<string, number> = {};
  for (const { why } of report.dropped) reasons[why] = (reasons[why] ?? 0) + 1;
  const verbs: Record<string, number> = {};
  for (const { trajectory } of episodes)
    for (const { action } of trajectory.turns) {
      const [verb] = action.split(/[ [(]/);
      verbs[verb] = (verbs[verb] ?? 0) + 1;
    }
  return { report, episodes, reasons, verbs };
}

describe.skipIf(!haveSamples)('real files', () => {
  test('ReAct: 18 demonstrations with thoughts, 18 without; every line is kept', async () => {
    const { report, episodes } = await importSample('react_alfworld_3prompts.json');
    expect(report).toMatchObject({ format: 'react-alfworld', episodes: 36, dropped: [], withoutTransition: {} });
    const demos = episodes.filter(({ raw }) => raw.id?.startsWith('react'));
    const counts: Record<string, number> = {};
    for (const { trajectory } of demos)
      for (const { action } of trajectory.turns) {
        const verb = action.split(' ')[0];
        counts[verb] = (counts[verb] ?? 0) + 1;
      }
    // environments.md counts 113 lines "> go"; three more are written ">go".
    expect(counts).toEqual({ go: 116, open: 30, take: 21, put: 18, clean: 3, heat: 3, cool: 3, use: 3, look: 1 });
    const file: Record<string, string> = JSON.parse(readFileSync(`${samples}react_alfworld_3prompts.json`, 'utf8'));
    const thinks = Object.values(file).reduce((sum, text) => sum + (text.match(/> ?think:/g)?.length ?? 0), 0);
    const kept = episodes.flatMap(({ trajectory }) => trajectory.turns.flatMap(({ thought }) => thought.split('\n')));
    expect(kept.filter((thought) => thought !== '')).toHaveLength(thinks);
  });

  test('ADaPT on ALFWorld: all 69 entries of the half that is here', async () => {
    const { report, reasons, verbs, episodes } = await importSample('adapt_alfworld_results.json');
    expect(report).toMatchObject({ format: 'adapt', episodes: 66, transitions: 770, withoutTransition: {} });
    expect(report.kept).toMatchObject({ successes: 55, failures: 11, unknownOutcomes: 0 });
    // ">" lines alone are 420 go and 61 put; 14 actions more stand behind a bare space.
    expect(verbs).toMatchObject({ go: 434, put: 61, open: 158, take: 75, clean: 12, heat: 11, cool: 10, use: 9 });
    expect(reasons).toEqual({
      'plans of the agent program: no steps in them': 66,
      'a closing thought with no action after it': 11,
      'no action in it': 3,
      'a summary, not an episode': 2,
    });
    expect(new Set(episodes.map(({ trajectory }) => trajectory.task.id)).size).toBe(66);
    const foreign = episodes.flatMap(({ trajectory }) =>
      trajectory.turns.filter(({ observation }) => /[A-Z.]/.test(observation)),
    );
    expect(foreign).toEqual([]);
  });

  test('ADaPT on WebShop: 50 histories without pages', async () => {
    const { report, verbs } = await importSample('adapt_webshop_results.json');
    expect(report).toMatchObject({ format: 'adapt', episodes: 50, transitions: 0 });
    expect(report.kept).toMatchObject({ turns: 344, thoughts: 36, worlds: { shop: 50 } });
    expect(verbs).toEqual({ search: 66, click: 277, type: 1 });
    expect(report.dropped).toEqual([{ where: 'overall', why: 'a summary, not an episode' }]);
  });

  test('LATS: 364 log entries become six episodes; each other entry is named', async () => {
    const { report, episodes, reasons } = await importSample('lats_webshop_example.log');
    expect(report).toMatchObject({ format: 'lats-log', episodes: 6 });
    expect(report.kept).toMatchObject({ successes: 2, failures: 0, unknownOutcomes: 4 });
    expect(
      episodes.filter(({ trajectory }) => trajectory.success).map(({ trajectory }) => trajectory.turns.length),
    ).toEqual([3, 3]);
    expect(reasons['the state of a session']).toBe(126);
    expect(reasons['a thought as a node of its own: kept where an action follows it']).toBe(20);
  });

  test.each([
    ['6', 14, 1 / 3],
    ['12', 5, 0.5],
    ['13', 5, 0.5],
    ['15', 5, 0.75],
    ['17', 5, 1],
  ])('WebShop session %s: %i actions', async (name, turns, reward) => {
    const { report, episodes } = await importSample(`webshop_human_20220427_1_${name}.jsonl`);
    expect(report).toMatchObject({ format: 'webshop-log', episodes: 1, transitions: turns });
    const { trajectory } = episodes[0];
    expect(trajectory.return).toBe(reward);
    expect(trajectory.turns.at(-1)).toMatchObject({ action: 'click[Buy Now]', reward, done: true });
  });

  test('workflow memories: 6 tasks, 18 actions, no pages', async () => {
    const { report } = await importSample('awm_webarena_one_shot.txt');
    expect(report).toMatchObject({
      format: 'action-tags',
      episodes: 6,
      transitions: 0,
      kept: { turns: 18, thoughts: 18 },
    });
  });

  test.each([
    ['webarena_lite_165.raw.json', /WebArena tasks/],
    ['webshop_human_goals_200.json', /list of sentences/],
    ['webshop_goal_query_map_100.json', /no episode/],
    ['webshop_items_ins_v2_1000.json', /products/],
    ['textworld_test_problem.pddl', /PDDL/],
  ])('%s holds no trajectories', async (name, message) => {
    await expect(importSample(name)).rejects.toMatchObject({
      code: 'no-trajectories',
      message: expect.stringMatching(message),
    });
  });
});
