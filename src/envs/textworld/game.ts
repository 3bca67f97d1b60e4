/**
 * @file A text game: a PDDL domain, a PDDL problem and a text grammar, as one `game.tw-pddl` file or three files apart.
 * Format: microsoft/TextWorld, textworld/envs/pddl; alfworld/alfworld makes its games in it.
 */
import { DreamError } from '../../data/errors';
import type { Task } from '../environment';
import { toAbstract } from '../household/abstract';
import { TextWriter } from './derive';
import { type Grammar, readGrammar } from './grammar-file';
import type { Logic } from './logic';
import { demangle } from './names';
import { readLogic } from './pddl';
import { gameError } from './s-expressions';
import type { Symbols } from './symbols';

/** The file's own fields; also `Task.data` of a game. */
export interface GameFile {
  readonly pddl_domain: string;
  readonly grammar: string;
  readonly pddl_problem: string;
  /** Commands that win the game, where the file brings them. */
  readonly walkthrough?: readonly string[];
}

/** A game ready to be played. Immutable; any number of episodes share it. */
export interface Game {
  readonly logic: Logic;
  readonly grammar: Grammar;
  /** What each object is called. */
  readonly names: readonly string[];
}

function notAGame(problem: string, cause?: unknown): DreamError {
  return new DreamError(
    'game-unreadable',
    `This is not a text game: ${problem}.`,
    'Use a game.tw-pddl file (JSON with pddl_domain, grammar and pddl_problem), or give the three files apart.',
    { cause },
  );
}

/** Reads the JSON of a `game.tw-pddl` file; its parts are not looked into yet. @throws DreamError `game-unreadable` */
export function readGameFile(text: string): GameFile {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw notAGame('the file is not JSON', cause);
  }
  return gameFileOf(parsed);
}

/** Checks the shape of anything that claims to be a game. @throws DreamError `game-unreadable` */
export function gameFileOf(data: unknown): GameFile {
  if (typeof data !== 'object' || data === null) throw notAGame('it is no JSON object');
  const fields = data as Partial<Record<keyof GameFile, unknown>>;
  const text = (key: 'pddl_domain' | 'grammar' | 'pddl_problem'): string => {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (typeof value !== 'string') throw notAGame(`its field "${key}" is missing`);
    return value;
  };
  const game = { pddl_domain: text('pddl_domain'), grammar: text('grammar'), pddl_problem: text('pddl_problem') };
  const { walkthrough } = fields;
  const commands = Array.isArray(walkthrough) && walkthrough.every((line): line is string => typeof line === 'string');
  return commands ? { ...game, walkthrough } : game;
}

/** Compiles a game. @throws DreamError `game-unreadable` naming part, line and expression */
export function compileGame(file: GameFile): Game {
  const logic = readLogic(file.pddl_domain, file.pddl_problem);
  const grammar = readGrammar(file.grammar);
  const pending: [rule: string, from: string][] = [['intro', 'the start of a game']];
  const note = (symbols: Symbols, from: string) => {
    for (const symbol of symbols)
      if (symbol.kind === 'rule' || symbol.kind === 'each') pending.push([symbol.name, from]);
  };
  for (const { name } of logic.schemas) {
    const text = grammar.actions.get(name);
    if (text === undefined) throw gameError('grammar', 1, `the action "${name}" of the domain has no text`);
    note(text.template, `the action "${name}"`);
    note(text.feedback, `the action "${name}"`);
  }
  // A rule that is used but missing would stop an episode in the middle: find it now.
  const seen = new Set<string>();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [name, from] = next;
    if (seen.has(name)) continue;
    seen.add(name);
    const alternatives = grammar.rules.get(name);
    if (alternatives === undefined)
      throw gameError('grammar', 1, `the rule "${name}", which ${from} needs, is missing`);
    for (const { symbols } of alternatives) note(symbols, `the rule "${name}"`);
  }
  return { logic, grammar, names: demangle(logic.objects) };
}

const compiled = new WeakMap<object, Game>();
/** Tasks that crossed a worker's border are copies of each other; their text still finds the game. */
const byText = new Map<string, Game>();
const CACHE_LIMIT = 32;

/** The compiled game of a task made by `gameTask`. @throws DreamError `game-unreadable` */
export function gameOf(task: Task): Game {
  const known = compiled.get(task.data as object);
  if (known !== undefined) return known;
  const file = gameFileOf(task.data);
  const key = [file.pddl_problem, file.grammar, file.pddl_domain].join('\0');
  let game = byText.get(key);
  if (game === undefined) {
    game = compileGame(file);
    if (byText.size >= CACHE_LIMIT) byText.delete(byText.keys().next().value as string);
    byText.set(key, game);
  }
  compiled.set(task.data as object, game);
  return game;
}

/** What a game says before the first command, the task included. */
export function introOf(game: Game): string {
  const writer = new TextWriter(game.logic, game.grammar, game.names, game.logic.start);
  return writer.write([{ kind: 'rule', name: 'intro' }], new Map());
}

/** A game as a task. `name` tells games apart, e.g. the file's name. @throws DreamError `game-unreadable`, `game-text` */
export function gameTask(file: GameFile, name: string): Task {
  const intro = introOf(compileGame(file));
  return {
    id: `textworld: ${name}`,
    instruction: instructionIn(intro),
    room: name,
    family: 'textworld',
    firstObservation: toAbstract(intro),
    data: file,
  };
}

/** What stands after `Your task is to`, without the full stop. Plain searches: a game's text may be long and odd. */
function instructionIn(intro: string): string {
  const phrase = 'Your task is to';
  const at = intro.lastIndexOf(phrase);
  const words =
    at < 0
      ? []
      : intro
          .slice(at + phrase.length)
          .replace(':', ' ')
          .split(/\s/)
          .filter(Boolean);
  const sentence = words.join(' ');
  return (sentence.endsWith('.') ? sentence.slice(0, -1) : sentence) || 'win the game';
}
