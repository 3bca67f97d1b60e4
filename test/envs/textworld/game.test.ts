/** @file Games as files: what is read, what is refused and with which words, and that no file can hang or break the reader. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DreamError } from '../../../src/data/errors';
import { generateRoom, generateTask, type HouseholdData, Random } from '../../../src/envs/household';
import {
  compileGame,
  demangle,
  type GameFile,
  gameTask,
  lacksTask,
  readGameFile,
  sentenceOfTrajectory,
  TextWorldGame,
  withTask,
  worldOfGames,
} from '../../../src/envs/textworld';
import { householdGame } from './household-game';

const kitchen = generateTask('small', 1, 1);
const { goal } = kitchen.data as HouseholdData;
const game = householdGame(generateRoom('small', 1), goal, 'put', kitchen.instruction);

/** The smallest game: one door, one goal. Parts can be replaced. */
function door(parts: { domain?: string; problem?: string; grammar?: string } = {}): GameFile {
  return {
    pddl_domain:
      parts.domain ??
      `(define (domain doors)
         (:types door key - thing)
         (:constants exit - door)
         (:action open :parameters (?d - door) :precondition (not (open ?d)) :effect (open ?d))
         (:action wait :parameters () :effect (and)))`,
    pddl_problem:
      parts.problem ?? '(define (problem p) (:domain doors) (:objects front - door) (:init) (:goal (open exit)))',
    grammar:
      parts.grammar ??
      `grammar :: """{"intro": [{"rhs": "A hall with [{d.indefinite + ' ' + d.id | open(d:door)}] open. Your task is to: leave."}]}""";
       action open { template :: "open {d}"; feedback :: "You open {d.name}: [{e.name | open(e:door)}]."; }
       action wait { template :: "wait"; feedback :: "Time passes."; }`,
  };
}

const problemOf = (file: GameFile): string => {
  try {
    compileGame(file);
  } catch (error) {
    if (error instanceof DreamError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return '';
};

describe('a game file', () => {
  it('is JSON with three texts, and perhaps a walkthrough', () => {
    const file = readGameFile(JSON.stringify({ ...game, walkthrough: ['look'], solvable: true, more: { a: 1 } }));
    expect(file).toEqual({ ...game, walkthrough: ['look'] });
    for (const text of [
      '',
      '[]',
      'null',
      '7',
      '{"pddl_domain": "x"}',
      `${'['.repeat(100_000)}`,
      '{"__proto__": {"pddl_domain": ""}}',
    ])
      expect(() => readGameFile(text)).toThrow(expect.objectContaining({ code: 'game-unreadable' }));
  });

  it('becomes a task that plays, with or without a copy in between', () => {
    const task = gameTask(door(), 'door');
    expect(task).toMatchObject({ instruction: 'leave', room: 'door', family: 'textworld' });
    expect(task.firstObservation).toBe('A hall with nothing open. Your task is to: leave.');
    const world = new TextWorldGame();
    for (const copy of [task, structuredClone(task), JSON.parse(JSON.stringify(task))]) {
      expect(world.reset(copy)).toBe(task.firstObservation);
      expect(world.admissible()).toEqual(['open exit', 'open front', 'wait']);
      expect(world.step('open front')).toMatchObject({
        raw: 'You open front: nothing.',
        reward: 0,
        done: false,
      });
      expect(world.step('open exit')).toMatchObject({ raw: 'You open exit: front.', reward: 1, done: true });
    }
  });

  it('may negate, compare, quantify and nest', () => {
    const world = new TextWorldGame();
    const domain = `(define (domain d) (:types box) (:action pack
      :parameters (?a ?b - box)
      :precondition (and (not (= ?a ?b)) (imply (heavy ?a) (heavy ?b))
        (forall (?c - box) (or (= ?c ?a) (not (in ?c ?b)))) (not (exists (?c - (either box object)) (in ?a ?c))))
      :effect (and (in ?a ?b) (forall (?c - box) (when (and (in ?c ?a) (not (= ?c ?b))) (and (not (in ?c ?a)) (in ?c ?b)))))))`;
    const problem = `(define (problem p) (:domain d) (:objects a b c - box) (:init (heavy a) (= (cost) 3) (not (heavy b)))
      (:goal (and (in a c) (in b c))))`;
    const grammar = `grammar :: """{"intro": [{"rhs": "Boxes."}]}""";
      action pack { template :: "pack {a} in {b}"; feedback :: "In it: [{x.name | in(x:box, b:box)}]. Out: [{x.name | not_in(x:box, a:box)}]."; }`;
    world.reset(gameTask({ pddl_domain: domain, pddl_problem: problem, grammar }, 'boxes'));
    // a is heavy, and no other box is: it fits in none.
    expect(world.admissible()).toEqual(['pack b in a', 'pack b in c', 'pack c in a', 'pack c in b']);
    const first = world.snapshot();
    expect(world.step('pack b in a').raw).toBe('In it: nothing. Out: nothing.');
    // A box that holds something goes as a whole, and what it held lies in the other one then.
    expect(world.admissible()).toEqual(['pack c in b']);
    world.restore(first);
    world.step('pack b in c');
    expect(world.step('pack c in a')).toMatchObject({ raw: 'In it: b. Out: b.', reward: 0 });
  });
});

describe('malformed games', () => {
  it.each<[parts: Parameters<typeof door>[0], message: string]>([
    [{ domain: '' }, 'The domain of the game has an error in line 1: it is empty'],
    [
      { domain: '(define (domain d)\n (:action a :parameters (' },
      'domain of the game has an error in line 2: a parenthesis is never closed',
    ],
    [{ domain: '(define (domain d)))' }, 'stands after the last parenthesis'],
    [{ domain: ')' }, 'has no opening one'],
    [{ domain: 'define' }, '"define" stands outside the parentheses'],
    [{ domain: `${'('.repeat(101)}` }, 'more than 100 parentheses are open'],
    [{ domain: '(define (problem d))' }, 'does not begin with "(define (domain'],
    [{ domain: '(define (domain d)\n\n(:derived (x) (y)))' }, 'line 3: sections ":derived" are not supported'],
    [
      { domain: '(define (domain d) (:action a :parameters (?x - window)) (:constants exit - x))' },
      'the type "window" is not declared',
    ],
    [{ domain: '(define (domain d) (:action a :parameters (x)))' }, 'the variable "x" does not begin with "?"'],
    [{ domain: '(define (domain d) (:action a :precondition (p ?y)))' }, 'the variable "?y" is not declared in (p ?y)'],
    [
      { domain: '(define (domain d) (:action a :precondition (< 1 2)))' },
      'conditions on numbers are not supported in (< 1 2)',
    ],
    [{ domain: '(define (domain d) (:action a :effect (or (p) (q))))' }, '"or" cannot stand here in (or (p) (q))'],
    [{ domain: '(define (domain d) (:action a :duration 3))' }, '":duration" of the action "a" is not supported'],
    [{ domain: '(define (domain d) (:action a) (:action a))' }, 'the action "a" is defined twice'],
    [
      { domain: '(define (domain d) (:action a :precondition (p)) (:action b :effect (not (p nobody))))' },
      '"nobody" is not a declared object',
    ],
    [{ problem: '(define (problem p) (:objects a - door) (:init)\n(lit a))' }, 'sections "lit" are not supported'],
    [{ problem: '(define (problem p) (:init) )' }, 'The problem of the game has an error in line 1: it has no goal'],
    [
      { problem: '(define (problem p) (:init\n(open\n nowhere)) (:goal (open exit)))' },
      'line 3: "nowhere" in (open nowhere) is not a declared object',
    ],
    [
      { problem: '(define (problem p) (:init (open exit exit)) (:goal (open exit)))' },
      '"open" takes 2 arguments, not 1',
    ],
    [{ problem: '(define (problem p) (:objects a a) (:init) (:goal ()))' }, 'the object "a" is declared twice'],
    [{ grammar: '' }, 'the action "open" of the domain has no text'],
    [{ grammar: 'grammar :: """{"intro": 1}""";' }, 'the rule "intro" is no list'],
    [{ grammar: '\ngrammar :: """{"intro": [{"rhs": "x"}""";' }, 'line 2: the rules that begin here are not JSON'],
    [{ grammar: 'grammar "x";' }, 'line 1: ""x"" stands for "::"'],
    [{ grammar: 'action open {\n template "x"; }' }, 'line 2'],
    [{ grammar: 'action open { }' }, 'lacks its template or its feedback'],
    [{ grammar: '%' }, '"%" is not expected'],
    [
      { grammar: door().grammar.replace('Time passes.', '#nothing here#') },
      'the rule "nothing here", which the action "wait" needs, is missing',
    ],
    [
      { grammar: door().grammar.replace('Time passes.', '{d.constructor}') },
      '"d.constructor": an object has name, id, type',
    ],
    [{ grammar: door().grammar.replace('Time passes.', "{__import__('os')}") }, 'is not a value'],
    [{ grammar: door().grammar.replace('Time passes.', '{d.name | open(}') }, '"open(" is not a fact'],
    [{ grammar: door().grammar.replace('Time passes.', 'a # b') }, '"#" is never closed'],
  ])('%j', (parts, message) => {
    const problem = problemOf(door(parts));
    expect(problem).toContain('game-unreadable: ');
    expect(problem).toContain(message);
  });

  it('end with a typed error where only playing shows it', () => {
    const play = (file: GameFile) => {
      const world = new TextWorldGame();
      world.reset(gameTask(file, 'door'));
      world.step('wait');
    };
    const wait = (text: string, rules = '{}') =>
      door({ grammar: `${door().grammar.replace('Time passes.', text)}\ngrammar :: """${rules}""";` });
    expect(() => play(wait('#a#', '{"a": [{"rhs": "#b#"}], "b": [{"rhs": "#a#"}]}'))).toThrow(
      'name each other without end',
    );
    // Doubles at every level: two to the power of forty words.
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [`r${i}`, [{ rhs: i === 39 ? 'x' : `#r${i + 1}##r${i + 1}#` }]]),
    );
    expect(() => play(wait('#r0#', JSON.stringify(doubling)))).toThrow('grow without end');
    expect(() => play(wait('{d.name}'))).toThrow('"d", which is not known there');
    expect(() => play(wait('#a#', '{"a": [{"condition": "open(d:door)", "rhs": "x"}]}'))).toThrow(
      'no line of its rule "a"',
    );
    const many = Array.from({ length: 300 }, (_, i) => `d${i}`).join(' ');
    const pairs = door({
      domain: `(define (domain d) (:types door) (:constants exit - door)
        (:action open :parameters (?d ?e ?f ?g - door) :effect (open ?d)
          :precondition (or (and (= ?d ?e) (not (= ?d ?e)) (= ?f ?g)))) (:action wait :parameters ()))`,
      problem: `(define (problem p) (:objects ${many} - door) (:init (open d1)) (:goal (open exit)))`,
    });
    expect(() => play(pairs)).toThrow(expect.objectContaining({ code: 'game-too-large' }));
    // The same command a million times over, and a text that a careless search would read again from every blank.
    const idle = door({
      domain: `(define (domain d) (:types door) (:constants exit - door) (:action open :parameters (?d - door))
        ${Array.from({ length: 40 }, (_, i) => `(:action w${i} :parameters (?d ?e - door))`).join(' ')})`,
      problem: `(define (problem p) (:objects ${many} - door) (:init) (:goal (open exit)))`,
      grammar: `${door().grammar}${Array.from({ length: 40 }, (_, i) => `action w${i} { template :: "x"; feedback :: "y"; }`).join('\n')}`,
    });
    expect(() => play(idle)).toThrow(expect.objectContaining({ code: expect.stringMatching(/^game-/) }));
    const blank = `Your task is to: ${' '.repeat(150_000)}x`;
    const slow = door({ grammar: door().grammar.replace('Your task is to: leave.', blank) });
    expect(gameTask(slow, 'door').instruction).toBe('x');
    const world = new TextWorldGame();
    expect(() => world.step('look')).toThrow('given a task');
    expect(() => world.reset({ ...gameTask(door(), 'door'), data: null })).toThrow('no JSON object');
  });

  const parts = ['pddl_domain', 'grammar', 'pddl_problem'] as const;
  type Part = (typeof parts)[number];

  /** Plays a few commands of a damaged game; false when it was refused with a typed error, which is all that may happen. */
  function survives(file: GameFile, seed: number): boolean {
    try {
      const world = new TextWorldGame();
      world.reset(gameTask(file, 'damaged'));
      const random = new Random(seed);
      for (let i = 0; i < 5; i++) {
        const possible = world.admissible();
        world.step(possible.length > 0 && i < 4 ? random.pick(possible) : 'nonsense');
      }
      return true;
    } catch (error) {
      if (!(error instanceof DreamError)) throw error;
      expect(error.code).toMatch(/^game-/);
      return false;
    }
  }

  it('never do worse than a typed error when bytes are cut or put in', () => {
    const scrap = '( ) " """ # { } [ ] | :: ; ?x - and not \\ \0 \u{1d11e} \n'.split(' ');
    const damage = fc.record({
      part: fc.constantFrom(...parts),
      at: fc.noBias(fc.nat(999_999)),
      cut: fc.nat(12),
      put: fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom(...scrap)),
    });
    const small = door();
    fc.assert(
      fc.property(fc.boolean(), fc.array(damage, { minLength: 1, maxLength: 2 }), (big, damages) => {
        const file: Record<Part, string> = big ? { ...game } : { ...small };
        for (const { part, at, cut, put } of damages) {
          const from = Math.floor((at / 1e6) * file[part].length);
          file[part] = file[part].slice(0, from) + put + file[part].slice(from + cut);
        }
        survives(file, 1);
      }),
      { numRuns: 200, seed: 7 },
    );
  });

  it('never do worse than a typed error when words change places', () => {
    const swap = fc.record({
      part: fc.constantFrom(...parts),
      to: fc.noBias(fc.nat(999_999)),
      from: fc.noBias(fc.nat(999_999)),
    });
    let played = 0;
    fc.assert(
      fc.property(fc.array(swap, { minLength: 1, maxLength: 3 }), (swaps) => {
        const file: Record<Part, string> = { ...game };
        for (const { part, to, from } of swaps) {
          const words = file[part].split(/([\s(){}[\]]+)/);
          const word = (place: number) => 2 * Math.floor(((place / 1e6) * words.length) / 2);
          words[word(to)] = words[word(from)];
          file[part] = words.join('');
        }
        if (survives(file, swaps.length)) played++;
      }),
      { numRuns: 80, seed: 7 },
    );
    // Enough of them are still games, of a kind: playing was tried too, not only reading.
    expect(played).toBeGreaterThan(10);
  });
});

it('names are numbered from the end, in the order of the ids', () => {
  const ids = [
    'cabinet_bar__minus_01',
    'cabinet_bar__plus_02',
    'sink_bar_1',
    'sink_bar_1_bar_sinkbasin',
    'agent_plus_1',
    'loc_bar_4_bar_1',
  ].sort();
  expect(Object.fromEntries(demangle(ids).map((name, i) => [ids[i], name]))).toEqual({
    agent_plus_1: 'agent+1',
    cabinet_bar__minus_01: 'cabinet 2',
    cabinet_bar__plus_02: 'cabinet 1',
    loc_bar_4_bar_1: 'loc 1',
    sink_bar_1: 'sink 1',
    sink_bar_1_bar_sinkbasin: 'sinkbasin 1',
  });
});

it('a trajectory says what a game leaves open', () => {
  const open = { ...game, grammar: game.grammar.replace(kitchen.instruction, 'UNKNOWN GOAL') };
  expect([lacksTask(game), lacksTask(open)]).toEqual([false, true]);
  expect(withTask(open, `${kitchen.instruction}.`)).toEqual(game);
  const sentence = (task_type: unknown, params: unknown) => sentenceOfTrajectory({ task_type, pddl_params: params });
  const params = { object_target: 'Mug', parent_target: '', toggle_target: 'DeskLamp' };
  expect(sentence('look_at_obj_in_light', params)).toBe('look at mug under the desklamp');
  expect(sentence('pick_two_obj_and_place', { ...params, parent_target: 'Desk' })).toBe('put two mug in desk');
  expect(sentence('pick_heat_then_place_in_recep', params)).toBe(null);
  for (const wrong of [
    null,
    7,
    [],
    {},
    { task_type: 'constructor', pddl_params: {} },
    { task_type: 'pick_and_place_simple' },
  ])
    expect(sentenceOfTrajectory(wrong)).toBe(null);
});

it("games of one's own are a world: some to learn from, some to be judged by", () => {
  const games = Array.from({ length: 6 }, (_, i) => ({
    name: `g${i}`,
    file: { ...door(), walkthrough: ['open exit'] },
  }));
  const world = worldOfGames(games);
  expect(world.trainingTasks(9).map(({ room }) => room)).toEqual(['g0', 'g1', 'g2', 'g3', 'g5']);
  expect(world.heldOutTasks(9).map(({ room }) => room)).toEqual(['g4']);
  const environment = world.create();
  environment.reset(world.trainingTasks(1)[0]);
  const start = environment.snapshot();
  expect(environment.step(world.expert(environment)!)).toMatchObject({ reward: 1, done: true });
  expect(world.expert(environment)).toBe(null);
  environment.restore(start);
  expect(environment.rawFirstObservation()).toBe('A hall with nothing open. Your task is to: leave.');
  expect(environment.step('open front')).toMatchObject({ reward: 0, done: false });
  expect(() => worldOfGames([{ name: 'bad', file: door({ problem: '' }) }])).toThrow('it is empty');
});
