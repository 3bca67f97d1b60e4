/** @file The three action dialects, their errors, and the PREVIOUS ACTION text. */
import { describe, expect, test } from 'vitest';
import { type Action, actionText, badFormatText, noElementText, sameAction } from '../../../src/envs/web/actions';
import { parseAction } from '../../../src/envs/web/dialects';
import { earlyStop } from '../../../src/envs/web/early-stop';

describe('webarena', () => {
  test.each<[string, object]>([
    ['click [12]', { kind: 'click', id: 12 }],
    ['click[12]', { kind: 'click', id: 12 }],
    ['In summary, the next action I will perform is ```click [1234]```', { kind: 'click', id: 1234 }],
    ['hover [7]', { kind: 'hover', id: 7 }],
    ['type [7] [best mug]', { kind: 'type', id: 7, text: 'best mug', enter: true }],
    ['type [7] [best mug] [0]', { kind: 'type', id: 7, text: 'best mug', enter: false }],
    ['type [7] [a [b] c] [1]', { kind: 'type', id: 7, text: 'a [b] c', enter: true }],
    ['press [Control+A]', { kind: 'press', keys: 'Control+A' }],
    ['scroll [down]', { kind: 'scroll', direction: 'down' }],
    ['scroll up', { kind: 'scroll', direction: 'up' }],
    ['goto [http://shop.example/cart]', { kind: 'goto', url: 'http://shop.example/cart' }],
    ['new_tab', { kind: 'new_tab' }],
    ['tab_focus [1]', { kind: 'tab_focus', tab: 1 }],
    ['close_tab', { kind: 'close_tab' }],
    ['go_back', { kind: 'go_back' }],
    ['go_forward', { kind: 'go_forward' }],
    ['stop [N/A]', { kind: 'stop', answer: 'N/A' }],
    ['stop []', { kind: 'stop', answer: '' }],
    ['stop', { kind: 'stop', answer: '' }],
  ])('%s', (text, action) => {
    expect(parseAction(text)).toEqual(action);
    expect(parseAction(text, 'webarena')).toEqual(action);
  });

  test.each(['', 'click', 'click [a12]', 'click  [12]', 'type [7]', 'fly [1]', 'press []', 'tab_focus [x]', '``````'])(
    'not an action: "%s"',
    (text) => {
      expect(parseAction(text, 'webarena').kind).toBe('none');
    },
  );
});

test.each<[string, object]>([
  ["click('a51')", { kind: 'click', id: 51 }],
  [
    "fill('237', 'example, with \\'quotes\\'')",
    { kind: 'type', id: 237, text: "example, with 'quotes'", enter: false },
  ],
  ['fill(bid=\'7\', value="x")', { kind: 'type', id: 7, text: 'x', enter: false }],
  ["select_option('48', 'blue')", { kind: 'select', id: 48, option: 'blue' }],
  ["select_option('48', ['blue', 'green'])", { kind: 'select', id: 48, option: 'blue' }],
  ["hover('b8')", { kind: 'hover', id: 8 }],
  ["press('88', 'Enter')", { kind: 'press', keys: 'Enter' }],
  ['scroll(0, 200)', { kind: 'scroll', direction: 'down' }],
  ['scroll(-50.2, -100.5)', { kind: 'scroll', direction: 'up' }],
  ["goto('http://x.example')", { kind: 'goto', url: 'http://x.example' }],
  ['go_back()', { kind: 'go_back' }],
  ['tab_focus(2)', { kind: 'tab_focus', tab: 2 }],
  ["send_msg_to_user('The date is 3/2/22.')", { kind: 'stop', answer: 'The date is 3/2/22.' }],
  ["report_infeasible('no such page')", { kind: 'stop', answer: 'N/A' }],
  ['noop()', { kind: 'wait' }],
])('browsergym: %s', (text, action) => {
  expect(parseAction(text)).toEqual(action);
  expect(parseAction(text, 'browsergym')).toEqual(action);
});

test.each<[string, object]>([
  [
    '# Element: the "Search" box\ndo(action="Search", argument="mug", element="7")',
    { kind: 'type', id: 7, text: 'mug', enter: true },
  ],
  ['do(action="Click", element="12")', { kind: 'click', id: 12 }],
  ['do(action="Type", argument="x", element="3")', { kind: 'type', id: 3, text: 'x', enter: false }],
  ['do(action="Select Dropdown Option", argument="Price", element="3")', { kind: 'select', id: 3, option: 'Price' }],
  ['do(action="Scroll Down")', { kind: 'scroll', direction: 'down' }],
  ['do(action="Press Enter")', { kind: 'press', keys: 'Enter' }],
  ['do(action="Wait")', { kind: 'wait' }],
  ['go_backward()', { kind: 'go_back' }],
  ['exit(message="N/A")', { kind: 'stop', answer: 'N/A' }],
  ['exit()', { kind: 'stop', answer: '' }],
])('webrl: %s', (text, action) => {
  expect(parseAction(text)).toEqual(action);
  expect(parseAction(text, 'webrl')).toEqual(action);
});

test.each([
  'do(action="Fly", element="1")',
  'do(action="Click")',
  'click(',
  "click('x')",
  "fly('1')",
  'do(action="Click',
])('not a call: %s', (text) => {
  expect(parseAction(text).kind).toBe('none');
});

test('previous-action texts', () => {
  expect(actionText({ kind: 'click', id: 5 }, "link 'Cart'")).toBe("click [5] where [5] is link 'Cart'");
  expect(actionText({ kind: 'type', id: 5, text: 'mug', enter: true }, "searchbox 'Search'")).toBe(
    "type [5] [mug] where [5] is searchbox 'Search'",
  );
  expect(noElementText('click', 9)).toBe(
    'Attempt to perfom "click" on element "[9]" but no matching element found. Please check the observation more carefully.',
  );
  expect(badFormatText('oops')).toMatch(
    /^The previous prediction you issued was "oops"\. However, the format was incorrect\./,
  );
});

test('early stop: step limit, failures, repetition in a row, typing overall', () => {
  const click = (id: number): Action => ({ kind: 'click', id });
  const type: Action = { kind: 'type', id: 1, text: 'x', enter: true };
  const bad = { kind: 'none', reason: '' } as const;
  expect(earlyStop([])).toBeNull();
  expect(earlyStop([bad, bad, click(1), bad])).toBeNull();
  expect(earlyStop([bad, bad, bad])).toBe('Failed to parse actions for 3 times');
  expect(earlyStop([click(1), click(2), click(1), click(1)])).toBeNull();
  expect(earlyStop([click(1), click(1), click(1)])).toBe('Same action for 3 times');
  expect(earlyStop([type, click(1), type, click(2), type])).toBe('Same typing action for 3 times');
  expect(earlyStop(Array.from({ length: 30 }, (_, id) => click(id)))).toBe('Reach max steps 30');
  expect(sameAction(click(1), type)).toBe(false);
});
