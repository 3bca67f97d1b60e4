import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanText, parseTextAnswer } from '../../../src/dream/text-models/answer';

const good = { reasoning: 'the box is shut', valid: true, observation: 'opened', reward: 0, done: false };
const read = (text: string, finished = true) => {
  const parsed = parseTextAnswer(text, finished);
  return parsed.ok ? parsed.answer : parsed.why;
};

describe('reading an experience model', () => {
  it.each([
    ['bare', JSON.stringify(good)],
    ['fenced', `Sure!\n\`\`\`json\n${JSON.stringify(good, null, 2)}\n\`\`\`\nAnything else?`],
    ['after braces that are none', `The set {a, b} matters.\n${JSON.stringify(good)}`],
    [
      'followed by another turn',
      `${JSON.stringify(good)}\n${JSON.stringify({ ...good, observation: 'pressed', reward: 1 })}`,
    ],
    ['under other names', '{"thought":"the box is shut","Next State":"opened","Success":false,"valid_action":true}'],
    ['flags as words', JSON.stringify({ ...good, reward: '0', done: 'False', valid: 'yes' })],
    ['labelled', 'Reasoning: the box is shut\nValid: true\nNext state: opened\nReward: 0\nDone: False'],
    [
      'labelled, in bold',
      '**Reasoning:** the box is shut\n- **Valid**: true\n**Next State:** opened\n**Reward:** 0\n\nAction: press red',
    ],
  ])('%s', (_, text) => expect(read(text)).toEqual(good));

  it('takes a thought between tags as the reasoning', () => {
    expect(read('<think>the box is shut</think>{"observation":"opened","reward":0}')).toMatchObject({
      reasoning: 'the box is shut',
      observation: 'opened',
    });
  });

  it.each([
    ['', 'empty'],
    ['<think>let me see, {"observation":"opened","reward":0}', 'unfinished'],
    ['I cannot help with that.', 'no-format'],
    ['{"reward":1}', 'no-observation'],
    ['{"observation":"  ","reward":1}', 'no-observation'],
    ['{"observation":["opened"],"reward":0}', 'no-observation'],
    ['{"observation":"opened"}', 'no-reward'],
    ['{"observation":"opened","reward":0.5}', 'bad-flag'],
    ['{"observation":"opened","reward":null}', 'bad-flag'],
    ['{"observation":"opened","reward":"high"}', 'bad-flag'],
    ['{"observation":"opened","reward":1,"done":false}', 'inconsistent'],
    ['{"observation":"nothing","reward":1,"valid":false}', 'inconsistent'],
    // Two names for one field that disagree.
    ['{"observation":"opened","next_state":"shut","reward":1}', 'no-format'],
  ])('refuses %j', (text, why) => expect(read(text)).toBe(why));

  it('refuses what is too long', () => {
    expect(read(`{"observation":"${'x'.repeat(5000)}","reward":0}`)).toBe('too-long');
    expect(read('x'.repeat(50_000))).toBe('too-long');
  });

  it('believes a closed object of a cut answer, but no cut line', () => {
    expect(read(`${JSON.stringify(good)} and`, false)).toEqual(good);
    expect(read('Observation: opened\nReward: 1', false)).toBe('unfinished');
    expect(read('{"observation":"opened","reward":', false)).toBe('unfinished');
  });

  it('never throws, and what it accepts keeps the rules', () => {
    const noise = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.json({ maxDepth: 3 }),
      fc
        .array(
          fc.constantFrom(
            '{',
            '}',
            '"',
            '\\',
            ':',
            ',',
            '\n',
            'reward',
            'observation: a',
            'Reward: 1',
            '1',
            'true',
            '<think>',
            '</think>',
            '"observation":"a"',
            '"reward":1',
            '"done":0',
            '"valid":false',
          ),
          { maxLength: 40 },
        )
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(noise, fc.boolean(), (text, finished) => {
        const parsed = parseTextAnswer(text, finished);
        if (!parsed.ok) return;
        const { observation, reward, done, valid, reasoning } = parsed.answer;
        expect([0, 1]).toContain(reward);
        expect(observation).not.toBe('');
        expect(observation).toBe(cleanText(observation));
        expect(cleanText(reasoning)).toBe(reasoning);
        if (reward === 1) expect([done, valid ?? true]).toEqual([true, true]);
      }),
      { numRuns: 2000 },
    );
  });

  it('reads back whatever was written in its form', () => {
    const line = fc
      .string({ minLength: 1, maxLength: 60 })
      .map(cleanText)
      .filter((text) => text !== '' && !text.includes('</think>'));
    const answer = fc.record({
      reasoning: line,
      valid: fc.boolean(),
      observation: line,
      reward: fc.constant(0),
      done: fc.boolean(),
    });
    fc.assert(
      fc.property(answer, (said) => {
        expect(read(JSON.stringify(said))).toEqual(said);
      }),
    );
  });

  it('is quick with a text made to be slow', () => {
    const start = performance.now();
    for (const text of [
      '{'.repeat(40_000),
      '{"a":'.repeat(8_000),
      '*'.repeat(39_000),
      'a: '.repeat(13_000),
      `${' '.repeat(39_000)}:`,
    ])
      read(text);
    expect(performance.now() - start).toBeLessThan(2000);
  });

  it('keeps markup as the text it is and drops what cannot be seen', () => {
    expect(cleanText('a\u202Eb\u0000c\u200B  <img src=x onerror=alert(1)>\r\n\r\n d\t e')).toBe(
      'abc <img src=x onerror=alert(1)>\nd e',
    );
  });
});
