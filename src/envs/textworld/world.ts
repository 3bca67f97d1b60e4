/**
 * @file Plays a real `game.tw-pddl` game by its own rules and texts: what ALFWorld's Python engine does, in the tab.
 *
 * A command is exactly one of the currently valid ones or it changes nothing and is answered `Nothing happens.`
 * Observations are abstract where the game speaks ALFWorld's sentences, and the game's own text elsewhere.
 */
import { DreamError } from '../../data/errors';
import type { StepResult, Task } from '../environment';
import { toAbstract } from '../household/abstract';
import type { PlayableEnvironment, Snapshot } from '../world';
import { type Bindings, TextWriter } from './derive';
import { type Game, gameFileOf, gameOf, introOf } from './game';
import { type Effect, lowerBound, type Schema, type State } from './logic';
import { Matcher, tooLarge } from './matcher';

const NOTHING_HAPPENS = 'Nothing happens.';
/** ALFWorld's games offer some dozens of commands, and an action changes a handful of facts. */
const MAX_MOVES = 20_000;
const MAX_CHANGES = 5_000;

/** A point in an episode. Plain data: the facts that hold, and those that have ended. */
export interface GameSnapshot extends Snapshot {
  readonly facts: State;
  readonly done: boolean;
  /** Commands that were carried out, for the walkthrough. */
  readonly played: readonly string[];
}

/** An action with objects for its parameters. */
interface Move {
  readonly schema: Schema;
  readonly objects: readonly number[];
}

export class TextWorldGame implements PlayableEnvironment<GameSnapshot> {
  private current: { task: Task; game: Game } | null = null;
  private facts: State = [];
  private done = false;
  private played: readonly string[] = [];
  private walkthrough: readonly string[] = [];
  private valid: { facts: State; moves: ReadonlyMap<string, Move> } | null = null;

  /** @throws DreamError `game-unreadable` when the task holds no game */
  reset(task: Task): string {
    const game = gameOf(task);
    this.current = { task, game };
    this.walkthrough = gameFileOf(task.data).walkthrough ?? [];
    this.facts = game.logic.start;
    this.done = false;
    this.played = [];
    this.valid = null;
    return task.firstObservation;
  }

  private entered(): { task: Task; game: Game } {
    if (this.current === null) {
      throw new DreamError('world-not-reset', 'The game was used before it was given a task.', 'Call reset first.');
    }
    return this.current;
  }

  private get game(): Game {
    return this.entered().game;
  }

  rawFirstObservation(): string {
    return introOf(this.game);
  }

  admissible(): string[] {
    return [...this.moves().keys()].sort();
  }

  /** True when the game's goal holds now. */
  goalSatisfied(): boolean {
    const { logic } = this.game;
    return new Matcher(logic, this.facts).holds(logic.goal, Matcher.binding(logic.goalSlotCount));
  }

  /** @throws DreamError `game-too-large`, `game-text` when the game's own rules or texts have no end */
  step(action: string): StepResult {
    const game = this.game;
    const move = this.done ? undefined : this.moves().get(action);
    if (move === undefined) {
      const observation = toAbstract(NOTHING_HAPPENS);
      return { observation, raw: NOTHING_HAPPENS, reward: 0, done: this.done, valid: false, imagined: false };
    }
    this.facts = apply(game, this.facts, move);
    this.played = [...this.played, action];
    const writer = new TextWriter(game.logic, game.grammar, game.names, this.facts);
    const raw = writer.write(game.grammar.actions.get(move.schema.name)!.feedback, bindingsOf(move));
    this.done = this.goalSatisfied();
    const reward = this.done ? 1 : 0;
    return { observation: toAbstract(raw), raw, reward, done: this.done, valid: true, imagined: false };
  }

  /** The game's own walkthrough, as long as it has been followed; null elsewhere. */
  hint(): string | null {
    const followed = this.played.every((command, i) => command === this.walkthrough[i]);
    return followed ? (this.walkthrough[this.played.length] ?? null) : null;
  }

  snapshot(): GameSnapshot {
    const { task } = this.entered();
    return { task, facts: this.facts, done: this.done, played: this.played };
  }

  restore(snapshot: GameSnapshot): void {
    if (this.current?.task !== snapshot.task) this.reset(snapshot.task);
    this.facts = snapshot.facts;
    this.done = snapshot.done;
    this.played = snapshot.played;
  }

  /** Every command that works now, with what it does; the first of several that read the same counts. */
  private moves(): ReadonlyMap<string, Move> {
    const { facts } = this;
    if (this.valid?.facts === facts) return this.valid.moves;
    const game = this.game;
    const moves = new Map<string, Move>();
    // One of each for all rules: what they may do in a step is bounded together.
    const matcher = new Matcher(game.logic, facts);
    const writer = new TextWriter(game.logic, game.grammar, game.names, facts);
    for (const schema of game.logic.schemas) {
      const { template } = game.grammar.actions.get(schema.name)!;
      const binding = Matcher.binding(schema.slotCount);
      matcher.each(schema.parameters, schema.condition, binding, () => {
        const move: Move = { schema, objects: schema.parameters.map(({ index }) => binding[index]) };
        const command = writer.write(template, bindingsOf(move));
        if (!moves.has(command)) moves.set(command, move);
        if (moves.size > MAX_MOVES) throw tooLarge(`it offers more than ${MAX_MOVES} commands at once`);
        return false;
      });
    }
    this.valid = { facts, moves };
    return moves;
  }
}

function bindingsOf({ schema, objects }: Move): Bindings {
  return new Map(schema.names.map((name, i) => [name, objects[i]]));
}

/** The facts after a move: conditions are judged before it, and what is both ended and begun holds. */
function apply(game: Game, facts: State, { schema, objects }: Move): State {
  const { logic } = game;
  const matcher = new Matcher(logic, facts);
  const binding = Matcher.binding(schema.slotCount);
  for (const [i, object] of objects.entries()) binding[schema.parameters[i].index] = object;
  const ended: [predicate: number, code: number][] = [];
  const begun: [predicate: number, code: number][] = [];
  const change = ({ adds, predicate, terms }: Effect) => {
    let code = 0;
    for (const term of terms) code = code * logic.objects.length + (term < 0 ? ~term : binding[term]);
    (adds ? begun : ended).push([predicate, code]);
    if (begun.length + ended.length > MAX_CHANGES)
      throw tooLarge(`the action "${schema.name}" changes more than ${MAX_CHANGES} facts`);
    return false;
  };
  for (const effect of schema.effects) matcher.each(effect.slots, effect.when, binding, () => change(effect));

  const next = [...facts];
  for (const [predicate, code] of ended) {
    next[2 * predicate] = without(next[2 * predicate], code);
    next[2 * predicate + 1] = including(next[2 * predicate + 1], code);
  }
  for (const [predicate, code] of begun) {
    next[2 * predicate] = including(next[2 * predicate], code);
    next[2 * predicate + 1] = without(next[2 * predicate + 1], code);
  }
  return next;
}

function without(table: readonly number[], code: number): readonly number[] {
  const at = lowerBound(table, code);
  return table[at] === code ? table.toSpliced(at, 1) : table;
}

function including(table: readonly number[], code: number): readonly number[] {
  const at = lowerBound(table, code);
  return table[at] === code ? table : table.toSpliced(at, 0, code);
}
