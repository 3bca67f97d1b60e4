import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  Belief,
  experienceAnswer,
  experiencePrompt,
  experienceQuestion,
  experienceThought,
  feasibleAsKnown,
  generatorPrompt,
  householdDialect,
  isNovel,
  knownObjects,
  parseExperienceAnswer,
  parseGeneratorAnswer,
  parsePolicyAnswer,
  policyAnswer,
  policyObservation,
  policyPrompt,
  policyThought,
  policyTurn,
  Transcript,
  withoutReward,
} from '../../src/dream/transcripts';
import { type Goal, generateTask } from '../../src/envs/household';
import { householdTokenizer } from '../../src/models/household-vocabulary';

const tokenizer = householdTokenizer('small');
const { special } = tokenizer;
const first = 'room shelf 1 sinkbasin 1 cabinet 1';
const instruction = 'put a clean cup in shelf';
const goal: Goal = { family: 'pick_clean_then_place_in_recep', object: 'cup', receptacle: 'shelf' };
/** Ids of a text in which specials are written out. */
const ids = (text: string): number[] =>
  text.split(/(<[^>]+>|<\/t>|> |\n)/).flatMap((piece) => {
    const token = piece === '> ' ? '>' : piece;
    return token in special ? [special[token as keyof typeof special]] : [...tokenizer.encode(piece)];
  });

describe('policy stream', () => {
  it('reads like the documented example', () => {
    const belief = new Belief(first);
    belief.observe('at sinkbasin 1 see cup 1');
    const answer = policyAnswer(tokenizer, policyThought(belief, goal, 'cup 1'), 'take cup 1 from sinkbasin 1');
    const stream = [
      ...policyPrompt(tokenizer, first, instruction),
      ...policyTurn(tokenizer),
      ...answer,
      ...policyObservation(tokenizer, answer, 'take cup 1 sinkbasin 1'),
    ];
    expect(tokenizer.decode(stream)).toBe(
      `<pol> ${first}\ntask ${instruction}\n> <t> hold nothing object cup 1 </t> take cup 1 from sinkbasin 1\ntake cup 1 sinkbasin 1\n`,
    );
    expect(parsePolicyAnswer(tokenizer, answer)).toEqual({
      ok: true,
      thought: 'hold nothing object cup 1',
      action: 'take cup 1 from sinkbasin 1',
    });
  });

  it('thinks of what is held and what comes next', () => {
    const belief = new Belief(first);
    const think = (target: string | null = null) => policyThought(belief, goal, target);
    expect(think()).toBe('hold nothing object nothing');
    belief.observe('take cup 1 sinkbasin 1');
    expect(think()).toBe('hold cup 1 clean no place sinkbasin');
    belief.observe('clean cup 1 sinkbasin 1');
    expect(think()).toBe('hold cup 1 clean yes place shelf');
    belief.observe('put cup 1 shelf 1');
    const two: Goal = { family: 'pick_two_obj_and_place', object: 'cup', receptacle: 'shelf' };
    belief.observe('take cup 2 cabinet 1');
    expect(policyThought(belief, two, null)).toBe('hold cup 2 place shelf 1');
    const lamp: Goal = { family: 'look_at_obj_in_light', object: 'cup', toggle: 'desklamp' };
    expect(policyThought(belief, lamp, null)).toBe('hold cup 2 light nothing');
    belief.observe('at cabinet 1 open see desklamp 1');
    expect(policyThought(belief, lamp, null)).toBe('hold cup 2 light cabinet 1');
    expect(policyThought(belief, { ...goal, object: 'mug' }, null)).toBe('hold cup 2 object no');
  });

  it.each([
    ['look', 'unfinished'],
    ['hold nothing look\n', 'no-reasoning-end'],
    ['hold nothing</t>\n', 'empty'],
    ['hold <t> nothing</t>look\n', 'stray-control-token'],
    ['hold nothing</t>look<r1>\n', 'stray-control-token'],
  ])('tells what is wrong with %j', (text, why) => {
    expect(parsePolicyAnswer(tokenizer, ids(text))).toEqual({ ok: false, why });
  });

  it('closes the line of a turn that was cut', () => {
    expect(policyObservation(tokenizer, ids('hold nothing'), 'nothing happens')).toEqual(ids('\nnothing happens\n'));
  });
});

describe('experience stream', () => {
  const belief = () => {
    const known = new Belief(first);
    for (const seen of [
      'at sinkbasin 1 see cup 1',
      'take cup 1 sinkbasin 1',
      'clean cup 1 sinkbasin 1',
      'at shelf 1 see nothing',
    ])
      known.observe(seen);
    return known;
  };

  it('reads like the documented example', () => {
    const action = 'put cup 1 in/on shelf 1';
    const { tokens, weights } = experienceAnswer(
      tokenizer,
      experienceThought(belief(), goal, action),
      'put cup 1 shelf 1',
      1,
    );
    const text = tokenizer.decode([
      ...experiencePrompt(tokenizer, first, instruction),
      ...experienceQuestion(tokenizer, instruction, action, ['put cup 1 shelf 1']),
      ...tokens,
    ]);
    expect(text).toBe(
      `<em> ${first}\ntask ${instruction}\n> ${action}\ntask ${instruction} <ret> put cup 1 shelf 1 <t> at shelf 1 hold cup 1 fits valid object cup cup yes place shelf shelf yes clean yes </t> put cup 1 shelf 1 <r1>`,
    );
    expect(weights).toHaveLength(tokens.length);
    expect(weights.at(-1)).toBe(3);
    expect(weights[tokens.indexOf(tokenizer.id('valid'))]).toBe(3);
    expect(weights[0]).toBe(1);
    expect(parseExperienceAnswer(tokenizer, tokens)).toMatchObject({
      ok: true,
      observation: 'put cup 1 shelf 1',
      reward: 1,
      valid: true,
      consistent: true,
    });
    const rejected = parseExperienceAnswer(tokenizer, withoutReward(tokenizer, tokens));
    expect(rejected).toMatchObject({ ok: true, reward: 0, consistent: false });
  });

  it('names the fact that decides', () => {
    const say = (action: string) => {
      const { state, verdict } = experienceThought(belief(), goal, action);
      return `${state} | ${verdict}`;
    };
    const state = 'at shelf 1 hold cup 1';
    expect(say('go to shelf 9')).toBe(`${state} | absent invalid`);
    expect(say('go to cabinet 1')).toBe(`${state} | new valid`);
    expect(say('go to sinkbasin 1')).toBe(`${state} | known valid`);
    expect(say('take mug 1 from shelf 1')).toBe(`${state} | mug 1 unseen invalid`);
    expect(say('take cup 1 from shelf 1')).toBe(`${state} | cup 1 held invalid`);
    expect(say('open shelf 1')).toBe(`${state} | fixed invalid`);
    expect(say('clean cup 1 with shelf 1')).toBe(`${state} | unfit invalid`);
    expect(say('look')).toBe(`${state} | valid`);
    expect(say('fly away')).toBe(`${state} | unknown invalid`);
  });

  it.each([
    ['at room hold nothing valid </t> help', 'unfinished'],
    ['at room hold nothing valid help <r0>', 'no-reasoning-end'],
    ['at room hold nothing valid </t> <r0>', 'empty'],
    ['at room <t> valid </t> help <r0>', 'stray-control-token'],
    ['at room hold nothing valid </t> at cup see <r0>', 'not-grammatical'],
    ['at room hold nothing invalid </t> nothing happens <r1>', 'inconsistent'],
  ])('tells what is wrong with %j', (text, why) => {
    expect(parseExperienceAnswer(tokenizer, ids(text))).toEqual({ ok: false, why });
  });

  it('counts an answer that disagrees with its own reasoning', () => {
    const read = (text: string) => parseExperienceAnswer(tokenizer, ids(text));
    expect(read('at room hold nothing absent invalid </t> at shelf 1 see nothing <r0>')).toMatchObject({
      ok: true,
      consistent: false,
    });
    expect(read('at room hold nothing valid object cup cup yes place shelf cabinet no </t> help <r1>')).toMatchObject({
      ok: true,
      reward: 1,
      consistent: false,
    });
  });

  it('never throws and never forges structure, whatever is sampled or said', () => {
    const anyIds = fc.array(fc.integer({ min: -3, max: tokenizer.vocabSize + 3 }), { maxLength: 40 });
    fc.assert(
      fc.property(anyIds, (tokens) => {
        parseExperienceAnswer(tokenizer, tokens);
        parsePolicyAnswer(tokenizer, tokens);
        parseGeneratorAnswer(tokenizer, tokens);
      }),
    );
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (action) => {
        const question = experienceQuestion(tokenizer, instruction, action, []);
        expect(question.filter((id) => id === special['>'])).toHaveLength(1);
        expect(question.filter((id) => id === special['\n'])).toHaveLength(1);
        expect(question.length).toBeLessThan(24);
      }),
    );
  });
});

describe('task generator stream', () => {
  const objects = new Set(['cup 1', 'cup 2', 'mug 1', 'desklamp 1']);

  it('shows what the room holds and reads a task', () => {
    const prompt = generatorPrompt(
      tokenizer,
      first,
      ['mug', 'cup', 'cup'],
      ['put a cup in shelf', 'put two cup in cabinet'],
    );
    expect(tokenizer.decode(prompt)).toBe(
      `<gen> ${first} holds cup cup mug <seed> put a cup in shelf <seed> put two cup in cabinet <to>`,
    );
    expect(parseGeneratorAnswer(tokenizer, ids('clean some mug and put it in shelf\n'))).toMatchObject({
      ok: true,
      instruction: 'clean some mug and put it in shelf',
      goal: { object: 'mug', receptacle: 'shelf' },
    });
    expect(parseGeneratorAnswer(tokenizer, ids('put a mug\n'))).toEqual({ ok: false, why: 'not-grammatical' });
    expect(parseGeneratorAnswer(tokenizer, ids('put a mug in shelf'))).toEqual({ ok: false, why: 'unfinished' });
  });

  it('collects what is known of a room', () => {
    const seen = knownObjects([
      'at shelf 1 see cup 1 mug 2',
      'open cabinet 1 see pan 1',
      'take fork 1 shelf 1',
      'carry egg 1',
    ]);
    expect([...seen].sort()).toEqual(['cup 1', 'egg 1', 'fork 1', 'mug 2', 'pan 1']);
  });

  it('judges feasibility and novelty', () => {
    const can = (text: string) => {
      const answer = parseGeneratorAnswer(tokenizer, ids(`${text}\n`));
      return answer.ok && feasibleAsKnown(answer.goal, first, objects);
    };
    expect(can('put a clean cup in shelf')).toBe(true);
    expect(can('put two cup in cabinet')).toBe(true);
    expect(can('look at mug under the desklamp')).toBe(true);
    expect(can('put two mug in cabinet')).toBe(false);
    expect(can('put a plate in shelf')).toBe(false);
    expect(can('put a cup in desk')).toBe(false);
    expect(can('put a hot cup in shelf')).toBe(false);
    expect(can('put a desklamp in shelf')).toBe(false);
    expect(isNovel(goal, ['clean some cup and put it in shelf'])).toBe(false);
    expect(isNovel(goal, ['put a cup in shelf', 'nonsense'])).toBe(true);
  });
});

describe('Transcript', () => {
  it('keeps tokens, weights, log-probabilities and own spans together', () => {
    const transcript = new Transcript().give([1, 2]).say([3, 4], [-0.5, -1]).give([5]).say([6], undefined, [2]);
    const sequence = transcript.toSequence();
    expect(sequence.tokens).toEqual([1, 2, 3, 4, 5, 6]);
    expect(sequence.weights).toEqual([0, 0, 1, 1, 0, 2]);
    expect(sequence.oldLogProbs).toEqual([0, 0, -0.5, -1, 0, 0]);
    expect(transcript.own).toEqual([
      { start: 2, end: 4 },
      { start: 5, end: 6 },
    ]);
  });
});

describe('householdDialect', () => {
  it('speaks all three roles through the interface of the loop', () => {
    const dialect = householdDialect(tokenizer);
    const task = generateTask('small', 5, 1);
    expect(tokenizer.decode(dialect.policy.opening(task, task.firstObservation))).toMatch(/^<pol> room .*\n> <t>$/s);
    expect(dialect.policy.parse(ids('hold nothing</t>look\n'))).toEqual({ thought: 'hold nothing', action: 'look' });
    expect(dialect.policy.parse(ids('look'))).toBe(null);
    const memory = {
      id: 1,
      source: 'offline' as const,
      episode: 'e',
      room: task.room,
      task: task.instruction,
      state: task.firstObservation,
      action: 'go to shelf 1',
      nextState: 'at shelf 1 see cup 1',
      reward: 0,
    };
    expect(tokenizer.decode(dialect.experience.question(task, 'go to shelf 1', [memory]))).toBe(
      `> go to shelf 1\ntask ${task.instruction} <ret> at shelf 1 see cup 1 <t>`,
    );
    expect(dialect.experience.parse(ids('at room hold nothing new valid </t> at shelf 1 see cup 1 <r0>'))).toEqual({
      reasoning: 'at room hold nothing new valid',
      valid: true,
      observation: 'at shelf 1 see cup 1',
      reward: 0,
    });
    expect(tokenizer.decode(dialect.generator.opening([task, task], [memory]))).toContain('holds cup <seed>');
  });
});
