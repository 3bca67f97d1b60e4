/**
 * @file What can be known of a room from the text so far: where things are, what is held, what was done to what.
 *
 * The world is exact and its text complete, so this bookkeeping decides the validity of every action and the goal from
 * history alone. Three things rest on it: the reasoning the models are trained on, the check of a dreamed success
 * against its own transcript, and the consistency counts of a dream. It reads the abstract text and nothing else: never
 * the hidden state, which no model could know.
 */
import { type Command, type PutGrammar, parseCommand } from '../../envs/household/commands';
import { type Goal, treatmentOf } from '../../envs/household/goals';
import { canContain, OBJECT_TYPES, RECEPTACLE_TYPES, STATIONS } from '../../envs/household/vocabulary';

export type Treatment = keyof typeof STATIONS;
type Door = 'open' | 'closed' | 'fixed';

/** How a task names the state that a treatment brings about. */
export const GOAL_WORDS: Readonly<Record<Treatment, string>> = { clean: 'clean', heat: 'hot', cool: 'cool' };

/** Whether an action would work, and the one fact (in the models' words) that decides it. */
export interface Judgement {
  command: Command | null;
  /** `new`, `absent`, `cup 1 in shelf 1`, `fits`, ...; empty for actions that always work. */
  clause: string;
  valid: boolean;
}

/** The goal looked at piece by piece, in the models' words. */
export interface GoalCheck {
  text: string;
  reached: boolean;
}

export function typeOf(entity: string): string {
  return entity.slice(0, entity.lastIndexOf(' '));
}

export class Belief {
  /** Receptacles of the room, in the order the room names them. */
  readonly receptacles: ReadonlySet<string>;
  /** Receptacle the agent stands at; null in the middle of the room. */
  at: string | null = null;
  /** Object in hand. */
  hold: string | null = null;
  /** Last known place of every object ever seen and not in hand. Insertion order = order of sight. */
  readonly places = new Map<string, string>();
  private readonly doors = new Map<string, Door>();
  private readonly treated = new Map<string, Set<Treatment>>();
  private readonly lit = new Set<string>();
  private readonly visited = new Set<string>();

  constructor(
    firstObservation: string,
    readonly putGrammar: PutGrammar = 'put',
  ) {
    this.receptacles = new Set(entitiesIn(firstObservation.split(' '), 1));
  }

  /** Takes in the world's answer. Unknown sentences change nothing. */
  observe(observation: string): void {
    const words = observation.split(' ');
    const first = `${words[1]} ${words[2]}`;
    const second = `${words[3]} ${words[4]}`;
    switch (words[0]) {
      case 'at':
        this.at = first;
        if (words[3] === 'closed') this.doors.set(first, 'closed');
        else {
          const isOpen = words[3] === 'open';
          if (openable(first)) this.doors.set(first, isOpen ? 'open' : 'fixed');
          this.see(first, entitiesIn(words, isOpen ? 5 : 4));
        }
        break;
      case 'open':
        this.doors.set(first, 'open');
        this.see(first, entitiesIn(words, 4));
        break;
      case 'close':
        this.doors.set(first, 'closed');
        break;
      case 'take':
        this.hold = first;
        this.places.delete(first);
        break;
      case 'put':
        this.hold = null;
        this.places.set(first, second);
        break;
      case 'clean':
      case 'heat':
      case 'cool':
        this.treat(first, words[0]);
        break;
      case 'use':
        this.lit.add(first);
        break;
      case 'carry':
        this.hold = words[1] === 'nothing' ? null : first;
        break;
    }
  }

  /** Objects last known to be in or on a receptacle. */
  contentsOf(receptacle: string): string[] {
    const found: string[] = [];
    for (const [object, place] of this.places) if (place === receptacle) found.push(object);
    return found;
  }

  isTreated(object: string, treatment: Treatment): boolean {
    return this.treated.get(object)?.has(treatment) ?? false;
  }

  /** True when the agent has seen what is in or on it. */
  hasSeen(receptacle: string): boolean {
    return this.visited.has(receptacle);
  }

  isClosed(receptacle: string): boolean {
    return this.doors.get(receptacle) === 'closed';
  }

  /** Would this action work now? Everything the agent stands at has been seen, so the text always decides it. */
  judge(action: string): Judgement {
    const command = parseCommand(action);
    if (command === null) return { command, clause: 'unknown', valid: false };
    const { verb, first, second } = command;
    const judged = (clause: string, valid: boolean): Judgement => ({ command, clause, valid });
    const place = placeOf(command);
    if (place !== '' && !this.receptacles.has(place)) return judged('absent', false);
    const here = place !== '' && place === this.at;
    switch (verb) {
      case 'go':
        return judged(this.sightOf(first), true);
      case 'open':
      case 'close': {
        const door = this.doors.get(first) ?? (openable(first) ? 'unseen' : 'fixed');
        return judged(door, here && door === (verb === 'open' ? 'closed' : 'open'));
      }
      case 'take':
        return judged(
          this.whereIs(first),
          here && this.isInReach(first) && this.hold === null && OBJECT_TYPES.get(typeOf(first))?.pickupable === true,
        );
      case 'put':
      case 'move': {
        if (verb !== this.putGrammar) return judged('unknown', false);
        if (here && this.isClosed(place)) return judged('closed', false);
        const fits = canContain(typeOf(second), typeOf(first));
        return judged(fits ? 'fits' : 'unfit', fits && here && this.hold === first);
      }
      case 'clean':
      case 'heat':
      case 'cool': {
        const kind = OBJECT_TYPES.get(typeOf(first));
        const able = { clean: kind?.cleanable, heat: kind?.heatable, cool: kind?.coolable }[verb] === true;
        const fits = able && typeOf(second) === STATIONS[verb];
        return judged(fits ? 'fits' : 'unfit', fits && here && this.hold === first);
      }
      case 'use':
        return judged(
          this.whereIs(first),
          this.isInReach(first) && OBJECT_TYPES.get(typeOf(first))?.toggleable === true,
        );
      case 'slice': {
        const able = OBJECT_TYPES.get(typeOf(first))?.sliceable === true;
        const knife = this.hold === second && OBJECT_TYPES.get(typeOf(second))?.knife === true;
        return judged(this.whereIs(first), able && knife && this.places.get(first) === this.at);
      }
      case 'examine':
        return place !== ''
          ? judged(this.sightOf(place), here)
          : judged(this.whereIs(first), this.hold === first || this.isInReach(first));
      default:
        return judged('', true);
    }
  }

  /**
   * The goal after a valid command, asked only where that command can achieve it (`put`, `use`, and in lamp tasks `take`
   * and carrying something to another place). Call it before `observe`. Stops at the first piece that fails.
   */
  check(goal: Goal, command: Command): GoalCheck | null {
    return goal.family === 'look_at_obj_in_light' ? this.checkLight(goal, command) : this.checkPlaced(goal, command);
  }

  private checkPlaced(goal: Goal, { verb, first, second }: Command): GoalCheck | null {
    if (verb !== 'put' && verb !== 'move') return null;
    const pieces = [compare('object', goal.object, typeOf(first))];
    if (pieces[0].yes) pieces.push(compare('place', goal.receptacle!, typeOf(second)));
    if (pieces.every(({ yes }) => yes)) {
      const treatment = treatmentOf(goal.family);
      if (treatment !== null) pieces.push(verdict(GOAL_WORDS[treatment], this.isTreated(first, treatment)));
      if (goal.family === 'pick_two_obj_and_place') {
        const other = this.contentsOf(second).find((name) => name !== first && typeOf(name) === goal.object);
        pieces.push(verdict(`other ${other ?? 'nothing'}`, other !== undefined));
      }
    }
    return join(pieces);
  }

  private checkLight(goal: Goal, { verb, first }: Command): GoalCheck | null {
    const held = verb === 'take' ? first : this.hold;
    if (verb !== 'use' && verb !== 'take' && (verb !== 'go' || held === null)) return null;
    const pieces = [compare('object', goal.object, held === null ? 'nothing' : typeOf(held))];
    if (pieces[0].yes) {
      const place = verb === 'go' ? first : this.at;
      const lamps = [...this.lit, ...(verb === 'use' ? [first] : [])];
      const lit = lamps.some((lamp) => typeOf(lamp) === goal.toggle && this.places.get(lamp) === place);
      pieces.push(verdict('light', lit));
    }
    return join(pieces);
  }

  /** In an accessible receptacle at the agent's place. */
  isInReach(object: string): boolean {
    const place = this.places.get(object);
    return place !== undefined && place === this.at && !this.isClosed(place);
  }

  /** What looking at a receptacle will show: its `closed` front, contents already `known`, or something `new`. */
  private sightOf(receptacle: string): string {
    if (this.isClosed(receptacle)) return 'closed';
    return this.visited.has(receptacle) ? 'known' : 'new';
  }

  private whereIs(object: string): string {
    if (this.hold === object) return `${object} held`;
    const place = this.places.get(object);
    if (place === undefined) return `${object} unseen`;
    return `${object} in ${place}${this.isClosed(place) ? ' closed' : ''}`;
  }

  private see(receptacle: string, objects: readonly string[]): void {
    this.visited.add(receptacle);
    // What was believed here and is not seen any more is no longer believed (a dream may contradict itself).
    for (const object of this.contentsOf(receptacle)) if (!objects.includes(object)) this.places.delete(object);
    for (const object of objects) this.places.set(object, receptacle);
  }

  private treat(object: string, treatment: Treatment): void {
    const done = this.treated.get(object) ?? new Set<Treatment>();
    done.add(treatment);
    // Heat drives out cold and the other way round.
    if (treatment === 'heat') done.delete('cool');
    if (treatment === 'cool') done.delete('heat');
    this.treated.set(object, done);
  }
}

interface Piece {
  text: string;
  yes: boolean;
}

/** `object cup mug no`: what is wanted, what is there, whether they are the same. */
function compare(name: string, wanted: string, found: string): Piece {
  return verdict(`${name} ${wanted} ${found}`, wanted === found);
}

function verdict(text: string, yes: boolean): Piece {
  return { text: `${text} ${yes ? 'yes' : 'no'}`, yes };
}

function join(pieces: readonly Piece[]): GoalCheck {
  return { text: pieces.map(({ text }) => text).join(' '), reached: pieces.every(({ yes }) => yes) };
}

function openable(receptacle: string): boolean {
  return RECEPTACLE_TYPES.get(typeOf(receptacle))?.openable === true;
}

/** The receptacle a command names, or ''. */
function placeOf({ verb, first, second }: Command): string {
  if (verb === 'go' || verb === 'open' || verb === 'close') return first;
  if (verb === 'examine') return RECEPTACLE_TYPES.has(typeOf(first)) ? first : '';
  return verb === 'slice' ? '' : second;
}

/** Pairs of words from index `from` on: `['cup', '1', 'mug', '2']` -> `cup 1`, `mug 2`; `nothing` gives none. */
function entitiesIn(words: readonly string[], from: number): string[] {
  const found: string[] = [];
  for (let i = from; i + 1 < words.length; i += 2) found.push(`${words[i]} ${words[i + 1]}`);
  return found;
}
