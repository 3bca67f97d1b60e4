/**
 * @file Players for offline data and baselines. Each is asked for its next command and sees the world it plays in.
 *
 * - `expert`: the shortest sensible plan (experts.ts).
 * - `clumsy`: the expert with wasteful habits. A policy warm-started on it is competent and has much to gain.
 * - `noisy`: the expert, with a random admissible command now and then.
 * - `near-miss`: the expert of another goal than the task's: same object elsewhere, same place without cleaning, …
 * - `random`: admissible commands at random.
 * - `weak`: what a half-trained model does: things that do not exist, are elsewhere, or cannot be done now.
 */
import { formatCommand, parseCommand, type Verb } from './commands';
import { type Chooser, expertAction, expertTarget } from './experts';
import { goalReached } from './goal-test';
import { FAMILIES, feasibleGoals, type Goal, goalKey } from './goals';
import type { Random } from './random';
import { NONE } from './state';
import { canContain, vocabularyOf, type WorldSize } from './vocabulary';
import type { HouseholdWorld } from './world';

export type DemonstratorKind = 'expert' | 'clumsy' | 'noisy' | 'near-miss' | 'random' | 'weak';
export const DEMONSTRATOR_KINDS: readonly DemonstratorKind[] = [
  'expert',
  'clumsy',
  'noisy',
  'near-miss',
  'random',
  'weak',
];

/** Habits of the clumsy player: after which command it does what, and how often. */
const EXAMINES_AFTER_GO = 0.75;
const CHECKS_HANDS_AFTER = 0.7;
const LOOKS_AFTER_TREATMENT = 0.7;
/** How often it searches in the order of the room's list; else it picks any place that it has not seen. */
const ORDERLY = 0.4;
/** Share of random admissible commands of the noisy player, and of spoilt commands of the weak one. */
const NOISE = 0.2;
const SPOILT = 0.5;

export class Demonstrator {
  readonly kind: DemonstratorKind;
  private readonly world: HouseholdWorld;
  private readonly random: Random;
  private goal: Goal;
  private last = '';
  private habitDone = false;

  /** The world must have been reset; make a new player for every episode. */
  constructor(kind: DemonstratorKind, world: HouseholdWorld, random: Random) {
    this.kind = kind;
    this.world = world;
    this.random = random;
    this.goal = kind === 'near-miss' ? nearMissGoal(world, random) : world.goal;
  }

  /** The goal pursued; differs from the task's for `near-miss`. */
  get pursuedGoal(): Goal {
    return this.goal;
  }

  /** The object instance now pursued (or held for the goal), e.g. `cup 1`; null while none has been seen. */
  get target(): string | null {
    return expertTarget(this.world, this.goal);
  }

  /** The next command. Call once per step, before the step. */
  next(): string {
    const action = this.choose();
    this.last = action;
    return action;
  }

  private choose(): string {
    const { world, random } = this;
    switch (this.kind) {
      case 'expert':
        return expertAction(world, random);
      case 'clumsy':
        return this.habit() ?? expertAction(world, this.choice);
      case 'noisy':
        return random.chance(NOISE) ? randomAdmissible(world, random) : expertAction(world, random);
      case 'near-miss': {
        if (goalReached(world.room, world.state, this.goal)) this.goal = nearMissGoal(world, random);
        const action = expertAction(world, random, this.goal);
        // Nothing left to do for this goal in this room: turn to another one.
        if (action === 'look') this.goal = nearMissGoal(world, random);
        return action;
      }
      case 'random':
        return randomAdmissible(world, random);
      case 'weak': {
        const plan = this.habit() ?? expertAction(world, this.choice);
        return random.chance(SPOILT) ? spoil(plan, this.last, world, random) : plan;
      }
    }
  }

  /**
   * Among equally good places the clumsy player mostly takes any, now and then the next one of the room's list: the
   * better way is in its repertoire, so that reinforcement learning can find it there.
   */
  private readonly choice: Chooser = {
    pick: (candidates) => {
      if (!this.random.chance(ORDERLY)) return this.random.pick(candidates);
      const here = this.world.state.location;
      return candidates.find((candidate) => candidate > here) ?? candidates[0];
    },
  };

  /** The useless command that habit puts after the last one; never two in a row. */
  private habit(): string | null {
    const { world, random } = this;
    const command = parseCommand(this.last);
    if (command === null || this.habitDone) {
      this.habitDone = false;
      return null;
    }
    const habit = (action: string, probability: number): string | null => {
      this.habitDone = random.chance(probability);
      return this.habitDone ? action : null;
    };
    switch (command.verb) {
      case 'go':
        return world.room.receptacleIndex.has(command.first)
          ? habit(`examine ${command.first}`, EXAMINES_AFTER_GO)
          : null;
      case 'take':
      case 'open':
        return habit('inventory', CHECKS_HANDS_AFTER);
      case 'clean':
      case 'heat':
      case 'cool':
        return habit('look', LOOKS_AFTER_TREATMENT);
      default:
        return null;
    }
  }
}

/** An admissible command, uniformly; never `help`, whose answer is always the same. */
export function randomAdmissible(world: HouseholdWorld, random: Random): string {
  return random.pick(world.admissible().filter((action) => action !== 'help'));
}

/**
 * Another goal of the same room that shares as much as possible with the task's: mostly the same object with another
 * place or treatment, or the same place for another object.
 */
function nearMissGoal(world: HouseholdWorld, random: Random): Goal {
  const { goal, room, state } = world;
  const others = [...feasibleGoals(room).values()]
    .flat()
    .filter((other) => goalKey(other) !== goalKey(goal) && !goalReached(room, state, other));
  // The plain version of the task (no washing, only one of two) is the mistake that matters most.
  if (goal.receptacle !== undefined && goal.family !== FAMILIES[0] && random.chance(0.25)) {
    const plain: Goal = { family: FAMILIES[0], object: goal.object, receptacle: goal.receptacle };
    if (!goalReached(room, state, plain) && canContain(goal.receptacle, goal.object)) return plain;
  }
  const sameObject = others.filter((other) => other.object === goal.object);
  const samePlace = others.filter((other) => other.receptacle !== undefined && other.receptacle === goal.receptacle);
  const draw = random.float();
  if (draw < 0.5 && sameObject.length > 0) return random.pick(sameObject);
  if (draw < 0.75 && samePlace.length > 0) return random.pick(samePlace);
  return others.length > 0 ? random.pick(others) : goal;
}

const entityCache = new Map<WorldSize, { receptacles: string[]; objects: string[] }>();

function entitiesOf(size: WorldSize): { receptacles: string[]; objects: string[] } {
  let entities = entityCache.get(size);
  if (entities === undefined) {
    const { receptacles, objects } = vocabularyOf(size);
    const expand = (types: { type: string; most: number }[]) =>
      types.flatMap(({ type, most }) => Array.from({ length: most }, (_, i) => `${type} ${i + 1}`));
    entities = { receptacles: expand(receptacles), objects: expand(objects) };
    entityCache.set(size, entities);
  }
  return entities;
}

/** A command of correct form that a policy might utter by mistake in place of `plan`. It may happen to be valid. */
function spoil(plan: string, last: string, world: HouseholdWorld, random: Random): string {
  const { room, state } = world;
  const entities = entitiesOf(room.size);
  const object = () => random.pick(random.chance(0.5) ? room.objectNames : entities.objects);
  const place = () => random.pick(random.chance(0.6) ? room.receptacleNames : entities.receptacles);
  const here = state.location === NONE ? place() : room.receptacleNames[state.location];
  const held = state.holding === NONE ? object() : room.objectNames[state.holding];
  const command = parseCommand(plan);
  switch (random.int(11)) {
    case 0:
      // Right types, wrong numbers: which copy is it?
      if (command === null || command.first === '') return `go to ${place()}`;
      return command.second === '' || random.chance(0.6)
        ? formatCommand(command.verb, renumber(command.first, random), command.second)
        : formatCommand(command.verb, command.first, renumber(command.second, random));
    case 1:
    case 7:
    case 8:
    case 9:
      // What half-trained models do most: they look for things in places that other rooms have.
      return `go to ${random.pick(entities.receptacles)}`;
    case 2:
      return formatCommand('take', object(), random.chance(0.7) ? here : place());
    case 3:
      return formatCommand(world.putGrammar, random.chance(0.6) ? held : object(), random.chance(0.5) ? here : place());
    case 4: {
      const verb = random.pick<Verb>(['clean', 'heat', 'cool']);
      return formatCommand(verb, random.chance(0.6) ? held : object(), random.chance(0.5) ? here : place());
    }
    case 5:
      return formatCommand(random.pick<Verb>(['open', 'close']), random.chance(0.5) ? here : place());
    case 6:
      return formatCommand(random.pick<Verb>(['use', 'examine']), random.chance(0.8) ? object() : place());
    default:
      return last === '' || random.chance(0.5) ? randomAdmissible(world, random) : last;
  }
}

function renumber(name: string, random: Random): string {
  const type = name.slice(0, name.indexOf(' '));
  return `${type} ${1 + random.int(3)}`;
}
