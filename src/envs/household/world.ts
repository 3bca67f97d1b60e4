/**
 * @file The household world: ALFWorld's rules (alfworld/data/alfred.pddl) over a generated room.
 *
 * A command is exactly one of the currently valid ones or it changes nothing and is answered `Nothing happens.`
 * The upstream bugs (listed places one cannot go to, doubled names) are not reproduced.
 */
import { DreamError } from '../../data/errors';
import type { StepResult, Task } from '../environment';
import type { PlayableEnvironment, Snapshot } from '../world';
import { type Command, type PutGrammar, parseCommand } from './commands';
import {
  arriveFeedback,
  examineObject,
  examineReceptacle,
  type Feedback,
  HELP_TEXT,
  introSentence,
  inventoryFeedback,
  isAccessible,
  lookFeedback,
  NOTHING_HAPPENS,
  openFeedback,
} from './feedback';
import { goalReached } from './goal-test';
import type { Goal } from './goals';
import { explainRefusal } from './refusals';
import { generateRoom, type Room } from './rooms';
import { admissibleCommands, canExamine, canPut, canSlice, canTake, canTreat, canUse } from './rules';
import { HouseholdState, NONE } from './state';
import { householdData, roomView } from './tasks';

export interface HouseholdOptions {
  /** Which of ALFWorld's two grammars places an object. Default `put`, as in all published agent data. */
  putGrammar?: PutGrammar;
  /** Say why a command was refused instead of the strict `Nothing happens.` Only `raw` changes. */
  helpfulErrors?: boolean;
}

/** A point in an episode to come back to. Immutable; can be restored into any HouseholdWorld. */
export interface HouseholdSnapshot extends Snapshot {
  readonly bytes: Int8Array;
}

export class HouseholdWorld implements PlayableEnvironment<HouseholdSnapshot> {
  readonly putGrammar: PutGrammar;
  readonly helpfulErrors: boolean;
  private currentTask: Task | null = null;
  private currentRoom!: Room;
  private currentGoal!: Goal;
  private currentState!: HouseholdState;

  constructor(options: HouseholdOptions = {}) {
    this.putGrammar = options.putGrammar ?? 'put';
    this.helpfulErrors = options.helpfulErrors ?? false;
  }

  /** @throws DreamError `task-unreadable` when the task is not a household task. */
  reset(task: Task): string {
    const { size, roomSeed, goal } = householdData(task);
    this.currentRoom = generateRoom(size, roomSeed);
    this.currentGoal = goal;
    this.currentState = new HouseholdState(this.currentRoom);
    this.currentTask = task;
    return roomView(this.currentRoom);
  }

  get task(): Task {
    if (this.currentTask === null) {
      throw new DreamError('world-not-reset', 'The world was used before it was given a task.', 'Call reset first.');
    }
    return this.currentTask;
  }

  get room(): Room {
    return this.task && this.currentRoom;
  }

  get goal(): Goal {
    return this.task && this.currentGoal;
  }

  /** The live state, for experts and annotators. Treat it as read-only. */
  get state(): HouseholdState {
    return this.task && this.currentState;
  }

  /** The text a person or a text-game agent sees first; `banner` adds the engine's own title line. */
  rawFirstObservation(banner = false): string {
    const title = banner ? '-= Welcome to TextWorld, ALFRED! =-\n\n' : '';
    return `${title}${introSentence(this.room.receptacleNames)}\n\nYour task is to: ${this.task.instruction}.`;
  }

  goalSatisfied(): boolean {
    return goalReached(this.room, this.state, this.goal);
  }

  step(action: string): StepResult {
    const state = this.state;
    if (state.done) {
      return {
        observation: NOTHING_HAPPENS.abstract,
        raw: NOTHING_HAPPENS.raw,
        reward: 0,
        done: true,
        valid: false,
        imagined: false,
      };
    }
    const command = parseCommand(action);
    const feedback = command === null ? null : this.apply(command);
    if (feedback === null) {
      const reason = this.helpfulErrors ? explainRefusal(this.currentRoom, state, command, this.putGrammar) : '';
      const raw = reason === '' ? NOTHING_HAPPENS.raw : `Nothing happens: ${reason}.`;
      return { observation: NOTHING_HAPPENS.abstract, raw, reward: 0, done: false, valid: false, imagined: false };
    }
    const won = this.goalSatisfied();
    state.done = won;
    return {
      observation: feedback.abstract,
      raw: feedback.raw,
      reward: won ? 1 : 0,
      done: won,
      valid: true,
      imagined: false,
    };
  }

  /** Carries out a command; null when it is not applicable now. */
  private apply(command: Command): Feedback | null {
    const { verb, first, second } = command;
    const room = this.currentRoom;
    const state = this.currentState;
    switch (verb) {
      case 'go': {
        const r = room.receptacleIndex.get(first) ?? NONE;
        if (r === NONE) return null;
        state.location = r;
        if (isAccessible(room, state, r)) state.checked[r] = 1;
        return arriveFeedback(room, state, r);
      }
      case 'open': {
        const r = this.here(first);
        if (r === NONE || room.openable[r] === 0 || state.opened[r] === 1) return null;
        state.opened[r] = 1;
        state.checked[r] = 1;
        return openFeedback(room, state, r);
      }
      case 'close': {
        const r = this.here(first);
        if (r === NONE || room.openable[r] === 0 || state.opened[r] === 0) return null;
        state.opened[r] = 0;
        return { raw: `You close the ${first}.`, abstract: `close ${first}` };
      }
      case 'take': {
        const r = this.here(second);
        const o = room.objectIndex.get(first) ?? NONE;
        if (r === NONE || o === NONE || !canTake(room, state, o, r)) return null;
        state.objectAt[o] = NONE;
        state.holding = o;
        return { raw: `You pick up the ${first} from the ${second}.`, abstract: `take ${first} ${second}` };
      }
      case 'put':
      case 'move': {
        if (verb !== this.putGrammar) return null;
        const r = this.here(second);
        const o = this.held(first);
        if (r === NONE || o === NONE || !canPut(room, state, o, r)) return null;
        state.objectAt[o] = r;
        state.holding = NONE;
        const raw =
          verb === 'put' ? `You put the ${first} in/on the ${second}.` : `You move the ${first} to the ${second}.`;
        return { raw, abstract: `put ${first} ${second}` };
      }
      case 'clean':
      case 'heat':
      case 'cool': {
        const r = this.here(second);
        const o = this.held(first);
        if (r === NONE || o === NONE || !canTreat(room, verb, o, r)) return null;
        if (verb === 'clean') state.clean[o] = 1;
        else {
          state.hot[o] = verb === 'heat' ? 1 : 0;
          state.cool[o] = verb === 'cool' ? 1 : 0;
        }
        return { raw: `You ${verb} the ${first} using the ${second}.`, abstract: `${verb} ${first} ${second}` };
      }
      case 'slice': {
        const knife = this.held(second);
        const o = room.objectIndex.get(first) ?? NONE;
        if (knife === NONE || o === NONE || !canSlice(room, state, o, knife)) return null;
        state.sliced[o] = 1;
        return { raw: `You sliced the ${first} with the ${second}.`, abstract: `slice ${first} ${second}` };
      }
      case 'use': {
        const o = room.objectIndex.get(first) ?? NONE;
        if (o === NONE || !canUse(room, state, o)) return null;
        state.on[o] ^= 1;
        state.toggled[o] = 1;
        // The grammar tests isToggled first, which is true from the first use on: never "turn off".
        return { raw: `You turn on the ${first}.`, abstract: `use ${first}` };
      }
      case 'examine': {
        const r = this.here(first);
        if (r !== NONE) return examineReceptacle(room, state, r);
        const o = room.objectIndex.get(first) ?? NONE;
        return o !== NONE && canExamine(room, state, o) ? examineObject(room, state, o) : null;
      }
      case 'look':
        return lookFeedback(room, state);
      case 'inventory':
        return inventoryFeedback(room, state);
      case 'help':
        return { raw: HELP_TEXT, abstract: 'help' };
    }
  }

  /** Index of the named receptacle if the agent stands at it. */
  private here(name: string): number {
    const r = this.currentState.location;
    return r !== NONE && this.currentRoom.receptacleNames[r] === name ? r : NONE;
  }

  /** Index of the named object if it is in the agent's hand. */
  private held(name: string): number {
    const o = this.currentState.holding;
    return o !== NONE && this.currentRoom.objectNames[o] === name ? o : NONE;
  }

  /** Every command that would be accepted now, sorted, without duplicates. */
  admissible(): string[] {
    return admissibleCommands(this.room, this.state, this.putGrammar);
  }

  /** Microseconds: one copy of a few hundred bytes. */
  snapshot(): HouseholdSnapshot {
    return { task: this.task, bytes: this.currentState.bytes.slice() };
  }

  restore(snapshot: HouseholdSnapshot): void {
    if (this.currentTask !== snapshot.task) this.reset(snapshot.task);
    this.currentState.bytes.set(snapshot.bytes);
  }
}
