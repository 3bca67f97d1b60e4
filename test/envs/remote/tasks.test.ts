import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DreamError } from '../../../src/data/errors';
import { exampleAction, formFromSchema, formWords, parseRemoteTasks } from '../../../src/envs/remote';

describe('parseRemoteTasks', () => {
  it('reads numbers and ranges; the last fifth is held out', () => {
    const { training, heldOut } = parseRemoteTasks('0-7, 12,20-20', 'agentgym');
    expect(training.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(heldOut.map(({ index }) => index)).toEqual([12, 20]);
    expect(parseRemoteTasks('1-2', 'openenv')).toEqual({ training: [{ seed: 1 }], heldOut: [{ seed: 2 }] });
  });

  it('reads JSON, with marks of its own', () => {
    const json = '{"tasks":[{"index":4,"instruction":"open it","success":["opens"]},{"index":5,"heldOut":true},6]}';
    const { training, heldOut } = parseRemoteTasks(json, 'agentgym');
    expect(training).toEqual([{ index: 4, instruction: 'open it', success: ['opens'] }, { index: 6 }]);
    expect(heldOut).toEqual([{ index: 5, heldOut: true }]);
    expect(parseRemoteTasks('[{"options":{"level":2}},{"seed":9}]', 'openenv').training).toEqual([
      { options: { level: 2 } },
    ]);
  });

  it.each([
    '',
    'x',
    '3-1',
    '1,1',
    '5',
    '-3',
    '0-99999999999',
    '[1',
    '[1]',
    '{"tasks":3}',
    '[{"index":1},{"seed":2}]',
    '[{"index":1.5},2]',
    '[{"index":1,"reward":1},2]',
    '[{"index":1,"__proto__":{"a":1}},2]',
    '[{"index":1,"heldOut":true},{"index":2,"heldOut":true}]',
  ])('refuses %j', (text) => {
    expect(() => parseRemoteTasks(text, 'agentgym')).toThrow(expect.objectContaining({ code: 'remote-tasks' }));
  });

  it('throws nothing but its own error', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        try {
          parseRemoteTasks(text, 'openenv');
        } catch (error) {
          expect(error).toBeInstanceOf(DreamError);
        }
      }),
    );
  });
});

describe('a form in words', () => {
  const form = formFromSchema({
    required: ['action', 'count'],
    properties: {
      action: { enum: ['left', 'right'], description: 'where\nto' },
      count: { type: 'integer', minimum: 1, maximum: 5 },
      note: { type: 'string', maxLength: 9, default: 'n' },
      more: {},
    },
  });

  it('says how to write an action, and what each field takes', () => {
    expect(formWords(form)).toEqual([
      'Write a JSON object with these fields.',
      '  action: one of left, right, required. where to',
      '  count: a whole number from 1 to 5, required',
      '  note: text of at most 9 letters, default "n"',
      '  more: any JSON',
    ]);
    expect(exampleAction(form)).toBe('{"action":"left","count":1}');
    const one = formFromSchema({ required: ['action'], properties: { action: { enum: ['left'] } } });
    expect(formWords(one)[0]).toBe('Write the action as it is.');
    expect(exampleAction(one)).toBe('left');
  });
});
