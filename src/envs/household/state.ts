/**
 * @file The mutable part of the world: a few hundred bytes in one buffer, so that a snapshot is one copy.
 */
import type { Room } from './rooms';

/** Nowhere (in the middle of the room), or nothing (empty hands). */
export const NONE = -1;

export class HouseholdState {
  /** Everything below is a view on these bytes. */
  readonly bytes: Int8Array;
  /** Receptacle index of each object; -1 while it is held. */
  readonly objectAt: Int8Array;
  /** Flags of objects, 0 or 1. */
  readonly clean: Int8Array;
  readonly hot: Int8Array;
  readonly cool: Int8Array;
  readonly sliced: Int8Array;
  /** 1 once a lamp has been used; ALFWorld's isToggled never goes back. */
  readonly toggled: Int8Array;
  /** The switch itself: flips at every use. No sentence shows it. */
  readonly on: Int8Array;
  /** Flags of receptacles, 0 or 1. */
  readonly opened: Int8Array;
  /** 1 once the agent has seen what is in the receptacle. Only the agent moves things, so it knows from then on. */
  readonly checked: Int8Array;

  constructor(room: Room) {
    const objects = room.objectNames.length;
    const receptacles = room.receptacleNames.length;
    this.bytes = new Int8Array(3 + 7 * objects + 2 * receptacles);
    let offset = 3;
    const view = (length: number) => {
      offset += length;
      return this.bytes.subarray(offset - length, offset);
    };
    this.objectAt = view(objects);
    this.clean = view(objects);
    this.hot = view(objects);
    this.cool = view(objects);
    this.sliced = view(objects);
    this.toggled = view(objects);
    this.on = view(objects);
    this.opened = view(receptacles);
    this.checked = view(receptacles);
    this.location = NONE;
    this.holding = NONE;
    this.objectAt.set(room.startAt);
  }

  /** Receptacle the agent stands at, or -1 in the middle of the room. */
  get location(): number {
    return this.bytes[0];
  }
  set location(receptacle: number) {
    this.bytes[0] = receptacle;
  }

  /** Object in the agent's hand, or -1. */
  get holding(): number {
    return this.bytes[1];
  }
  set holding(object: number) {
    this.bytes[1] = object;
  }

  get done(): boolean {
    return this.bytes[2] === 1;
  }
  set done(value: boolean) {
    this.bytes[2] = value ? 1 : 0;
  }
}
