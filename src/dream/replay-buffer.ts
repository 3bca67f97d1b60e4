/**
 * @file The replay buffer: what the experience model may remember. Seeded offline, fed by every new rollout.
 *
 * Capacity counts transitions. When it is full, the oldest *imagined* transition goes first, then the oldest real one,
 * and offline data only when nothing else is left: a dream must not crowd out what is known to be true. A transition that
 * says nothing new (same room, state, action and next state) is not stored twice.
 */
import { featureDimension, transitionFeatures } from './features';
import type { BufferChanges, Transition } from './run-store';

export type NewTransition = Omit<Transition, 'id'>;

/** Who is evicted first. */
const evictionOrder = ['imagined', 'real', 'offline'] as const satisfies readonly Transition['source'][];

const contentKey = (t: NewTransition) => `${t.room}\n${t.state}\n${t.action}\n${t.nextState}\n${t.reward}`;
const placeKey = (room: string, action: string) => `${room}\n${action}`;

export class ReplayBuffer {
  private readonly bySource: Record<Transition['source'], Map<number, Transition>> = {
    offline: new Map(),
    imagined: new Map(),
    real: new Map(),
  };
  /** Ids that share room and action, oldest first: retrieval looks nowhere else. */
  private readonly byPlace = new Map<string, Set<number>>();
  private readonly byRoom = new Map<string, Set<number>>();
  private readonly contents = new Set<string>();
  private readonly vectors = new Map<number, Float32Array>();
  private added: Transition[] = [];
  private removed: number[] = [];
  private nextId = 0;

  constructor(
    readonly capacity: number,
    readonly dimension = featureDimension,
  ) {}

  /** Puts a saved buffer back. Nothing counts as a change. */
  static restore(capacity: number, saved: { transitions: readonly Transition[]; nextId: number }): ReplayBuffer {
    const buffer = new ReplayBuffer(capacity);
    for (const transition of saved.transitions) buffer.insert(transition);
    buffer.nextId = saved.nextId;
    return buffer;
  }

  get size(): number {
    return this.bySource.offline.size + this.bySource.imagined.size + this.bySource.real.size;
  }

  count(source: Transition['source']): number {
    return this.bySource[source].size;
  }

  /** Returns how many were new. */
  add(transitions: readonly NewTransition[]): number {
    let stored = 0;
    for (const transition of transitions) {
      if (this.contents.has(contentKey(transition))) continue;
      const entry: Transition = { ...transition, id: this.nextId++ };
      this.insert(entry);
      this.added.push(entry);
      stored++;
      while (this.size > this.capacity) this.evictOne();
    }
    return stored;
  }

  /** Memories of this very action in this very room, oldest first, never from `exceptEpisode`. */
  recall(room: string, action: string, exceptEpisode: string): Transition[] {
    const ids = this.byPlace.get(placeKey(room, action));
    if (!ids) return [];
    return [...ids].map((id) => this.get(id)!).filter((transition) => transition.episode !== exceptEpisode);
  }

  /** Everything known of a room, in id order. */
  ofRoom(room: string): Transition[] {
    return [...(this.byRoom.get(room) ?? [])].map((id) => this.get(id)!);
  }

  /** Unit feature vector of a stored transition. */
  features(id: number): Float32Array {
    let vector = this.vectors.get(id);
    if (!vector) {
      const { state, action } = this.get(id)!;
      vector = transitionFeatures(state, action, this.dimension);
      this.vectors.set(id, vector);
    }
    return vector;
  }

  get(id: number): Transition | undefined {
    return this.bySource.offline.get(id) ?? this.bySource.imagined.get(id) ?? this.bySource.real.get(id);
  }

  /** Everything, in id order. */
  transitions(): Transition[] {
    return evictionOrder.flatMap((source) => [...this.bySource[source].values()]).sort((a, b) => a.id - b.id);
  }

  /** What changed since the last call; the next commit carries it. */
  takeChanges(): BufferChanges {
    const changes = { added: this.added, removed: this.removed, nextId: this.nextId };
    this.added = [];
    this.removed = [];
    return changes;
  }

  private insert(transition: Transition): void {
    this.bySource[transition.source].set(transition.id, transition);
    this.contents.add(contentKey(transition));
    addTo(this.byPlace, placeKey(transition.room, transition.action), transition.id);
    addTo(this.byRoom, transition.room, transition.id);
  }

  private evictOne(): void {
    for (const source of evictionOrder) {
      // A Map iterates in insertion order, so its first value is its oldest.
      const oldest = this.bySource[source].values().next().value;
      if (!oldest) continue;
      this.bySource[source].delete(oldest.id);
      this.contents.delete(contentKey(oldest));
      this.vectors.delete(oldest.id);
      removeFrom(this.byPlace, placeKey(oldest.room, oldest.action), oldest.id);
      removeFrom(this.byRoom, oldest.room, oldest.id);
      this.removed.push(oldest.id);
      return;
    }
  }
}

function addTo(index: Map<string, Set<number>>, key: string, id: number): void {
  const ids = index.get(key);
  if (ids) ids.add(id);
  else index.set(key, new Set([id]));
}

function removeFrom(index: Map<string, Set<number>>, key: string, id: number): void {
  const ids = index.get(key)!;
  ids.delete(id);
  if (ids.size === 0) index.delete(key);
}
