import { describe, expect, it } from 'vitest';
import { readSelection } from '../../../src/dream/text-household/selection';

describe('a choice in words', () => {
  it.each([
    [' 2\nREASONING: It needs two rooms.', 1, 'It needs two rooms.'],
    ['SELECTION: 3\nREASONING: harder', 2, 'harder'],
    ['**SELECTION:** #1\n**REASONING:** fine', 0, '** fine'],
    ['variant 2', 1, ''],
    ['Task 1.', 0, ''],
    ['"3"', 2, ''],
  ])('reads %j', (text, index, reasoning) => {
    expect(readSelection(text, 3)).toEqual({ index, reasoning });
  });

  it.each(['', 'the second one', '0', '4', '-1', '12345', 'SELECTION: none', 'REASONING: 2', '\u0000'])(
    'refuses %j',
    (text) => {
      expect(readSelection(text, 3)).toBeNull();
    },
  );

  it('bounds what it keeps of hostile text', () => {
    const reasoning = readSelection(`1\nREASONING: ${'x'.repeat(1e5)}`, 3)!.reasoning;
    expect(reasoning.length).toBeLessThanOrEqual(400);
  });
});
