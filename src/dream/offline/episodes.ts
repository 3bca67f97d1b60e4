/**
 * @file Offline episodes: scripted players in the real world, deterministic from a seed.
 *
 * They are all the real experience the models ever see before the first dream. The mixture matters more than the amount
 * (recipe.md): near-misses teach what is *not* a success, weak players what a half-trained policy will ask.
 */
import type { Task } from '../../envs/environment';
import {
  Demonstrator,
  type DemonstratorKind,
  type Goal,
  generateTask,
  HouseholdWorld,
  hashKey,
  householdData,
  isHeldOut,
  Random,
  UNSEEN_ROOM_SEED,
  type WorldSize,
} from '../../envs/household';

export interface OfflineStep {
  /** Observation before the action. */
  state: string;
  action: string;
  /** Observation after it. */
  observation: string;
  reward: number;
  valid: boolean;
  /** What the player was after before it acted (policy demonstrations). */
  target: string | null;
}

export interface OfflineEpisode {
  /** Unique within (size, seed). */
  id: string;
  task: Task;
  goal: Goal;
  demonstrator: DemonstratorKind;
  steps: OfflineStep[];
  success: boolean;
}

/** Shares of the players. They need not sum to one. */
export type Mixture = Readonly<Partial<Record<DemonstratorKind, number>>>;

/**
 * For the experience model. A third of the steps come from players with the policy's wasteful habits, a quarter from one
 * that asks for impossible things, because that is who will act in the dream.
 */
export const experienceMixture: Mixture = {
  expert: 0.1,
  clumsy: 0.2,
  noisy: 0.13,
  'near-miss': 0.17,
  weak: 0.37,
  random: 0.03,
};

/** Players who fail as a policy fails: they nearly do it, forget, or ask for what is not there. */
const failing: ReadonlySet<DemonstratorKind> = new Set(['near-miss', 'weak', 'random']);

/**
 * A mixture in which the failing players have the given share, the proportions within either side as they were. What is
 * not a success is learned from them: without, the experience model says yes too often (recipe.md).
 */
export function withNegatives(share: number, mixture: Mixture = experienceMixture): Mixture {
  const kinds = Object.entries(mixture) as [DemonstratorKind, number][];
  const total = (negative: boolean) =>
    kinds.reduce((sum, [kind, part]) => sum + (failing.has(kind) === negative ? part : 0), 0);
  const scale = (kind: DemonstratorKind) =>
    failing.has(kind) ? share / Math.max(total(true), 1e-9) : (1 - share) / Math.max(total(false), 1e-9);
  return Object.fromEntries(kinds.map(([kind, part]) => [kind, part * scale(kind)]));
}

export interface EpisodeOptions {
  size: WorldSize;
  /** Rooms in the order in which they are visited, round after round. */
  rooms: readonly number[];
  seed: number;
  mixture: Mixture;
  maxSteps: number;
}

/** Plays episode number `index`. Tasks reserved for evaluation are never played in training rooms. */
export function playEpisode(options: EpisodeOptions, index: number, world = new HouseholdWorld()): OfflineEpisode {
  const { size, rooms, seed, mixture, maxSteps } = options;
  const random = new Random(hashKey('offline-episode', size, seed, index));
  const room = rooms[index % rooms.length];
  const task = drawTask(size, room, random);
  const demonstrator = drawKind(mixture, random);
  const steps: OfflineStep[] = [];
  let state = world.reset(task);
  const player = new Demonstrator(demonstrator, world, random.split('player'));
  while (steps.length < maxSteps) {
    const { target } = player;
    const action = player.next();
    const { observation, reward, valid, done } = world.step(action);
    steps.push({ state, action, observation, reward, valid, target });
    state = observation;
    if (done) break;
  }
  const id = `${size}-${seed}-${index}`;
  return { id, task, goal: householdData(task).goal, demonstrator, steps, success: steps.at(-1)?.reward === 1 };
}

/** In training rooms a task that is not held out; in unseen rooms (evaluation of the experience model) any task. */
function drawTask(size: WorldSize, room: number, random: Random): Task {
  let task = generateTask(size, room, random.uint32());
  // One goal in five is held out, so a few tries are enough; a room of held-out goals only does not exist.
  for (let i = 0; i < 50 && room < UNSEEN_ROOM_SEED && isHeldOut(task); i++)
    task = generateTask(size, room, random.uint32());
  return task;
}

function drawKind(mixture: Mixture, random: Random): DemonstratorKind {
  const kinds = Object.entries(mixture) as [DemonstratorKind, number][];
  let draw = random.float() * kinds.reduce((sum, [, share]) => sum + share, 0);
  for (const [kind, share] of kinds) {
    draw -= share;
    if (draw < 0) return kind;
  }
  return kinds[0][0];
}
