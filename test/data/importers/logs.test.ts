import { describe, expect, test } from 'vitest';
import { importBytes, lines } from './support';

describe('WebShop session logs', () => {
  const goal = {
    asin: 'B000000002',
    category: 'garden',
    instruction_text: 'a grey sofa, and price lower than 90.00 dollars',
  };
  const host = 'http://shop:3000';
  const page = (name: string, path: string, content?: object, more: object = {}) => ({
    page: name,
    url: `${host}/${path}`,
    goal,
    ...(content && { content }),
    ...more,
  });
  const keywords = ['grey', 'sofa'];
  const found = ['B000000001', 'B000000002'];
  const inItem = { keywords: "['grey', 'sofa']", page: '1', asin: 'B000000002' };
  const log = [
    page('index', 's1'),
    page('index', 's1'),
    page('search_results', 'search_results/s1/x/1', { keywords, search_result_asins: found, page: 1 }),
    page('search_results', 'search_results/s1/x/2', { keywords, search_result_asins: [], page: 2 }),
    page('search_results', 'search_results/s1/x/1', { keywords, search_result_asins: found, page: 1 }),
    page('item_page', 'item_page/s1/B000000002/x/1/{}', { ...inItem, options: {} }),
    page('item_sub_page', 'item_sub_page/s1/B000000002/x/1/Features/{}', { ...inItem, options: {} }),
    page('item_page', 'item_page/s1/B000000002/x/1/{}', { ...inItem, options: {} }),
    page('item_page', 'item_page/s1/B000000002/x/1/{}', { ...inItem, options: { color: 'grey' } }),
    page(
      'done',
      'done/s1/B000000002/{}',
      { asin: 'B000000002', options: { color: 'grey' }, price: 80 },
      { reward: 0.75 },
    ),
    page('index', 's2'),
    page('search_results', 'search_results/s2/x/1', { keywords, search_result_asins: found, page: 1 }),
    page('index', 's2'),
  ];

  test('actions follow from consecutive pages', async () => {
    const { report, episodes, dropped } = await importBytes(lines(...log));
    expect(report).toMatchObject({ format: 'webshop-log', episodes: 2, kept: { worlds: { shop: 2 } } });
    const [first, second] = episodes.map(({ trajectory }) => trajectory);
    expect(first.turns.map(({ action }) => action)).toEqual([
      'search[grey sofa]',
      'click[Next >]',
      'click[< Prev]',
      'click[B000000002]',
      'click[Features]',
      'click[< Prev]',
      'click[grey]',
      'click[Buy Now]',
    ]);
    expect(first).toMatchObject({ return: 0.75, success: false });
    expect(first.task.instruction).toBe(goal.instruction_text);
    expect(first.turns.at(-1)).toMatchObject({
      reward: 0.75,
      done: true,
      observation: '[page] done: bought B000000002, color grey',
    });
    expect(second.turns.map(({ action }) => action)).toEqual(['search[grey sofa]', 'click[Back to Search]']);
    expect(report.kept.unknownOutcomes).toBe(1);
    expect(dropped).toEqual([{ where: 'line 2', why: 'the same page again: nothing was done' }]);
  });
});

const shopPage = '[Back to Search] \nPage 1 (Total results: 50) \n[Next >] \n[B000000001] \nRed cup \n$9.99 ';
const itemPage =
  '[Back to Search] \n[< Prev] \nsize [small][large]\nRed cup [2 pack] \nPrice: $9.99 \nRating: N.A. \n[Description] \n[Features] \n[Reviews] \n[Buy Now] ';

describe('ReAct text', () => {
  const episode = `WebShop
Instruction:
a red cup, and price lower than 20.00 dollars
[Search]

Action: search[red cup]
Observation:
${shopPage}

Action: think[The first one fits.]
Observation: OK.

Action: click[B000000001]
Observation:
${itemPage}

Action: click[large]
Observation: You have clicked large.

Action: click[Buy Now]
Observation: Thank you for shopping with us!
Reward: 1.0
`;

  test('brackets become the shop’s abstract pages; a choice shows on the page it was made on', async () => {
    const { report, episodes } = await importBytes(`${episode}\n${episode.replace('Reward: 1.0', '')}Action:\n`, {
      size: 11,
    });
    expect(report).toMatchObject({
      format: 'react-text',
      episodes: 2,
      dropped: [],
      kept: { successes: 1, unknownOutcomes: 1 },
    });
    const { turns, task } = episodes[0].trajectory;
    expect(task.instruction).toBe('a red cup, and price lower than 20.00 dollars');
    expect(turns.map(({ action }) => action)).toEqual([
      'search[red cup]',
      'click[B000000001]',
      'click[large]',
      'click[Buy Now]',
    ]);
    expect(turns[1].thought).toBe('The first one fits.');
    expect(turns[0].observation).toBe(
      '[page] results: page 1, 50 found for red cup\n[back to search] button: new search\n[next >] button: more results\n[B000000001] product: Red cup, $9.99',
    );
    expect(turns[2].observation.split('\n')).toEqual([
      '[page] item: B000000001',
      '[back to search] button: new search',
      '[< prev] button: results',
      '[title] text: Red cup (2 pack)',
      '[price] text: $9.99',
      '[small] option: size',
      '[large] option: size, chosen',
      '[description] button: text',
      '[features] button: list',
      '[reviews] button: list',
      '[buy now] button: buy this item',
    ]);
    expect(turns[3].observation).toBe('[page] done: bought B000000001, size large');
  });

  test('questions with numbered steps', async () => {
    const { episodes } = await importBytes(
      'Question: Who?\nThought 1: Search it.\nAction 1: Search[who]\nObservation 1: Nobody.\nThought 2: So.\nAction 2: Finish[nobody]\nQuestion: Where?\nAction 1: Search[where]\nObservation 1: Here.\n',
    );
    expect(episodes.map(({ trajectory }) => trajectory.turns.length)).toEqual([2, 1]);
    expect(episodes[0].trajectory.turns[0]).toMatchObject({
      thought: 'Search it.',
      action: 'Search[who]',
      observation: 'Nobody.',
    });
  });
});

describe('logs of a tree search', () => {
  const stamp = '2023-10-10 01:48:25,478 - INFO - ';
  const start = 'WebShop \nInstruction:  \na red cup \n[Search] ';
  const log = [
    `${stamp}{}`,
    `${stamp}PROMPT: Webshop \nInstruction:  \na blue cup \n[Search]  \n\nAction: search[blue]\nObservation: \n${shopPage}\n\nAction: click[Buy Now]\n\n\n${start}\nAction: \n`,
    `${stamp}SAMPLED ACTION: ['search[red]']`,
    `${stamp}NEW NODE: Node(depth=1, value=0.00, visits=0, action=search[red], observation=\n${shopPage})`,
    `${stamp}NEW NODE: Node(depth=1, value=0.00, visits=0, action=search[red], observation=\n${shopPage})`,
    `${stamp}NEW NODE: Node(depth=1, value=0.00, visits=0, action=search[cup], observation=\n${shopPage})`,
    `${stamp}PROMPT: ${start}\n\nAction: search[red]\nObservation: \n${shopPage}\nAction: think[That one.]\nObservation: OK.\nAction: \n`,
    `${stamp}reward:1.0`,
    `${stamp}NEW NODE: Node(depth=2, value=1.00, visits=0, action=click[Buy Now], observation=Your score)`,
    `${stamp}VALUES: 1.0`,
  ].join('\n');

  test('nodes and prompts become the leaves of a tree; everything else is named', async () => {
    const { report, episodes } = await importBytes(log);
    expect(report.format).toBe('lats-log');
    expect(
      episodes.map(({ trajectory }) => [
        trajectory.task.instruction,
        trajectory.turns.map(({ action }) => action).join(' '),
        trajectory.return,
      ]),
    ).toEqual([
      ['a blue cup', 'search[blue] click[Buy Now]', 0],
      ['a red cup', 'search[cup]', 0],
      ['a red cup', 'search[red] click[Buy Now]', 1],
    ]);
    expect(episodes[2].trajectory.turns[1].thought).toBe('That one.');
    expect(report.dropped.map(({ why }) => why).sort()).toEqual([
      'a value model’s opinion',
      'repeats steps already read',
      'repeats steps already read',
      'sampled actions: those that were tried stand as nodes',
      'the state of a session',
    ]);
  });
});

describe('WebArena', () => {
  const tree = (id: number) =>
    `Tab 0 (current): My <Shop>\n\n[1] RootWebArea 'My Shop' focused: True\n\t[${id}] link 'Orders & more'\n\t\t[9] StaticText 'Orders & more'\n\t[12] textbox 'Search'\n\t[13] StaticText 'Welcome'`;
  const step = (id: number, action: string, raw: string) =>
    `<h2>New Page</h2>\n<h3 class='url'><a href=http://x/>URL: http://x/</a></h3>\n<div class='state_obv'><pre>${tree(id)}</pre><div>\n<div class='prev_action' style='x'>None</div>\n<div class='predict_action'><div class='raw_parsed_prediction' style='x'><pre>${raw}</pre></div><div class='action_object' style='x'><pre>{}</pre></div><div class='parsed_action' style='x'><pre>${action}</pre></div></div>\n`;
  const html = `<!DOCTYPE html><body><pre>sites: ['shopping']\ntask_id: 21\nintent: List the orders\n</pre>\n${step(4, "click [4] where [4] is link 'Orders & more'", "Let's see. In summary, the next action I will perform is ```click [4]```")}${step(5, 'stop [none]', 'No orders. ```stop [none]```')}</body>`;

  test('render html: markers only, nothing interpreted', async () => {
    const { report, episodes } = await importBytes(html);
    expect(report).toMatchObject({ format: 'webarena-html', episodes: 1, transitions: 1, dropped: [] });
    const { trajectory, where } = episodes[0];
    expect(where).toBe('task 21');
    expect(trajectory.task.instruction).toBe('List the orders');
    expect(trajectory.firstObservation.split('\n')).toEqual([
      'page: My <Shop> at x/',
      '[4] link: Orders & more',
      '[12] text box: Search = empty',
      '[13] text: Welcome',
    ]);
    expect(trajectory.task.room).toBe('web:x');
    expect(trajectory.turns.map(({ thought, action }) => [thought, action])).toEqual([
      ["Let's see.", 'click [4]'],
      ['No orders.', 'stop [none]'],
    ]);
  });

  test('json dump', async () => {
    const { report, episodes } = await importBytes(
      JSON.stringify({
        example_21: {
          intent: 'List the orders',
          messages: [
            { user: `URL: http://x/\n\nobservation:\n${tree(4)}`, image: 'a.png' },
            { assistant: 'So: ```click [4]```' },
            { user: `URL: http://x/\n\nobservation:\n${tree(5)}` },
            { assistant: 'Done. ```stop [none]```' },
          ],
          success: true,
        },
      }),
    );
    expect(report).toMatchObject({ format: 'webarena-json', episodes: 1, transitions: 1, kept: { successes: 1 } });
    expect(report.dropped).toEqual([{ where: 'example_21 / message 1 / image', why: 'pictures are not kept' }]);
    expect(episodes[0].trajectory.turns[0]).toMatchObject({ thought: 'So:', action: 'click [4]' });
  });

  test('tagged actions without pages', async () => {
    const { report } = await importBytes(
      "## Examples\n\nQuery: Find it\nActions:\n<think>\nThe link.\n</think>\n<action>\nclick('12')\n</action>\n\nstray\nQuery: Nothing\n",
    );
    expect(report).toMatchObject({ format: 'action-tags', episodes: 1, transitions: 0 });
    expect(report.dropped).toEqual([
      { where: 'line 1', why: 'a line outside any action' },
      { where: 'line 12', why: 'a line outside any action' },
      { where: 'line 13', why: 'a task without any action' },
    ]);
  });
});

describe('ATIF', () => {
  const trajectory = (version: string) => ({
    schema_version: version,
    session_id: 'run-1',
    agent: { name: 'a', version: '1' },
    steps: [
      { step_id: 1, source: 'user', message: 'List the files.' },
      {
        step_id: 2,
        source: 'agent',
        message: [{ type: 'text', text: 'Now.' }],
        reasoning_content: 'ls will do.',
        tool_calls: [
          { tool_call_id: 'a', function_name: 'bash', arguments: { command: 'ls' } },
          { tool_call_id: 'b', function_name: 'bash', arguments: { command: 'pwd' } },
        ],
        observation: {
          results: [
            { source_call_id: 'b', content: '/home' },
            { source_call_id: 'a', content: 'x.txt' },
          ],
        },
      },
      { step_id: 3, source: 'agent', message: 'There is x.txt.', is_copied_context: false },
      { step_id: 4, source: 'machine', message: '?' },
    ],
    extra: { reward: 1 },
  });

  test('calls get their own answers, whatever the order; a reward in extra counts', async () => {
    const { report, episodes } = await importBytes(JSON.stringify(trajectory('ATIF-v1.6'), null, 2));
    expect(report).toMatchObject({ format: 'atif', episodes: 1, kept: { successes: 1 } });
    expect(episodes[0].trajectory.turns).toMatchObject([
      { thought: 'ls will do.\nNow.', action: 'bash[ls]', observation: 'x.txt' },
      { thought: '', action: 'bash[pwd]', observation: '/home' },
      { action: 'There is x.txt.', observation: '' },
    ]);
    expect(report.dropped).toEqual([
      { where: 'the document / step 4', why: 'a step that is neither system, user nor agent' },
    ]);
  });

  test.each([
    ['ATIF-v1.8', 1, undefined],
    ['ATIF-v1.10', 1, 'a newer version of ATIF than known: its new fields are not kept'],
    ['ATIF-v2.0', 0, 'a newer major version of ATIF, which may mean other things'],
    ['ATIF', 1, 'no version of ATIF is named: read as the newest known'],
  ])('%s is compared as numbers', async (version, episodes, why) => {
    const { report } = await importBytes(lines(trajectory(version)));
    expect(report.episodes).toBe(episodes);
    expect(report.dropped.find(({ where }) => where.endsWith('schema_version'))?.why).toBe(why);
  });
});

test('Reflexion logs have no steps, and say so', async () => {
  const { report } = await importBytes(
    JSON.stringify([
      { name: 'env_0', memory: ['I should look first.'], is_success: true },
      { name: 'env_1', memory: [], is_success: false },
    ]),
  );
  expect(report).toMatchObject({ format: 'reflexion', episodes: 0, droppedTotal: 2 });
  expect(report.dropped[0]).toEqual({
    where: 'entry 1',
    why: 'reflections and an outcome only: a Reflexion log has no steps',
  });
});
