import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DreamError } from '../../../src/data/errors';
import { actionFromText, actionFromValues, formFromSchema, mainField } from '../../../src/envs/remote';
import { observationText } from '../../../src/envs/remote/openenv/observation-text';

/** As pydantic writes it. */
const schema = {
  $defs: { Side: { enum: ['left', 'right'], title: 'Side', type: 'string' } },
  title: 'MoveAction',
  description: 'One move.',
  type: 'object',
  additionalProperties: false,
  required: ['steps'],
  properties: {
    metadata: { additionalProperties: true, title: 'Metadata', type: 'object' },
    steps: { title: 'Steps', type: 'integer', minimum: 0, exclusiveMaximum: 10 },
    side: { $ref: '#/$defs/Side', default: 'left' },
    speed: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null, title: 'Speed' },
    note: { anyOf: [{ type: 'string', maxLength: 5 }, { type: 'null' }], default: null },
    quietly: { type: 'boolean', default: false },
    path: { type: 'array', items: { type: 'integer' } },
    mode: { const: 'walk' },
    odd: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
  },
};

const form = formFromSchema(schema);
const code = (work: () => unknown) => {
  try {
    work();
    return null;
  } catch (error) {
    if (!(error instanceof DreamError)) throw error;
    return error.code;
  }
};

describe('a form from a schema', () => {
  it('has a field of the right kind for everything pydantic writes', () => {
    expect(form.title).toBe('MoveAction');
    expect(form.fields.map(({ name, kind, required, nullable }) => [name, kind, required, nullable])).toEqual([
      ['steps', 'integer', true, false],
      ['side', 'choice', false, false],
      ['speed', 'number', false, true],
      ['note', 'text', false, true],
      ['quietly', 'boolean', false, false],
      ['path', 'json', false, false],
      ['mode', 'choice', false, false],
      ['odd', 'json', false, false],
    ]);
    expect(form.fields[0]).toMatchObject({ min: 0, max: 9, title: 'Steps' });
    expect(form.fields[1]).toMatchObject({ choices: ['left', 'right'], default: 'left', title: 'Side' });
    expect(form.fields[3]).toMatchObject({ maxLength: 5 });
  });

  it('takes what a person fills in, text of inputs included', () => {
    expect(
      actionFromValues(form, { steps: '3', side: 'right', speed: '1.5', quietly: 'true', path: '[1,2]', note: null }),
    ).toEqual({ steps: 3, side: 'right', speed: 1.5, quietly: true, path: [1, 2], note: null });
    expect(actionFromValues(form, { steps: 0, speed: '' })).toEqual({ steps: 0 });
    for (const wrong of [{}, { steps: 10 }, { steps: 1.5 }, { steps: 'x' }, { steps: '' }, { steps: 1, side: 'up' }])
      expect(code(() => actionFromValues(form, wrong))).toBe('remote-action-form');
    for (const wrong of [{ quietly: 1 }, { note: 'too long' }, { steps: null }, { unknown: 1 }, { toString: 1 }])
      expect(code(() => actionFromValues(form, { steps: 1, ...wrong }))).toBe('remote-action-form');
  });

  it('turns words into an action', () => {
    expect(actionFromText(form, ' 7 ')).toEqual({ steps: 7 });
    expect(actionFromText(form, '{"steps": 2, "side": "right"}')).toEqual({ steps: 2, side: 'right' });
    expect(code(() => actionFromText(form, 'go left'))).toBe('remote-action-form');
    expect(actionFromText(undefined, 'hello')).toEqual({ message: 'hello' });
    const message = formFromSchema({ properties: { message: { type: 'string' } }, required: ['message'] });
    expect(mainField(message)?.name).toBe('message');
    expect(actionFromText(message, 'say "hi"\n')).toEqual({ message: 'say "hi"\n' });
    // Code may look like an object of its own.
    expect(actionFromText(message, '{"a": 1}')).toEqual({ message: '{"a": 1}' });
    expect(actionFromText(message, '{"message": "x"}')).toEqual({ message: 'x' });
    const two = formFromSchema({ properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a', 'b'] });
    expect(code(() => actionFromText(two, 'x'))).toBe('remote-action-form');
    expect(actionFromText(two, '{"a":"x","b":"y"}')).toEqual({ a: 'x', b: 'y' });
    expect(actionFromText(formFromSchema({ properties: {} }), 'anything')).toEqual({});
  });

  it('does not run in circles, and has an end', () => {
    const circle = {
      $defs: { A: { $ref: '#/$defs/B' }, B: { $ref: '#/$defs/A' } },
      properties: { a: { $ref: '#/$defs/A' }, b: { $ref: '#/$defs/toString' }, c: { $ref: 'http://evil/x' } },
    };
    expect(formFromSchema(circle).fields.map(({ kind }) => kind)).toEqual(['json', 'json', 'json']);
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`f${i}`, {}]));
    expect(code(() => formFromSchema({ properties: many }))).toBe('remote-action-form');
    for (const none of [null, 'x', [], {}, { properties: [] }, { $ref: '#' }])
      expect(code(() => formFromSchema(none))).toBe('remote-action-form');
  });

  it('any JSON is a form or a typed refusal, and so is any text', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.string(), (properties, definitions, text) => {
        const made = code(() => formFromSchema({ properties, $defs: definitions, required: ['a'] }));
        expect([null, 'remote-action-form']).toContain(made);
        expect([null, 'remote-action-form']).toContain(code(() => actionFromText(form, text)));
      }),
      { numRuns: 200 },
    );
  });
});

describe('an observation in words', () => {
  it('finds the text of the environments that are around', () => {
    expect(
      observationText({ prompt: 'Guess.', messages: [{ sender_id: 0, content: 'Too low.', category: 'X' }], info: {} }),
    ).toBe('Guess.\nToo low.');
    expect(observationText({ text: '', axtree_txt: '[1] button', url: 'u', goal: 'g' })).toBe('[1] button');
    expect(observationText({ text: 'page', error: 'no such element', last_action_error: true })).toBe(
      'page\nError: no such element',
    );
    expect(observationText({ board: [1, 2] })).toBe('{"board":[1,2]}');
    expect(observationText('plain \u001b[31mred')).toBe('plain [31mred');
    expect(observationText({ text: 'x'.repeat(100_000) })).toHaveLength(50_000);
  });
});
