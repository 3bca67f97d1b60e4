/**
 * @file How fast the built-in worlds are: short episodes of recorded actions, played again and again in one thread.
 *
 * The actions are chosen beforehand (half the expert's, half at random, never one that ends the episode), so that only
 * the world is timed. A shop episode searches twice.
 */
import type { Task } from '../envs/environment';
import { Random } from '../envs/household';
import { worlds } from '../envs/registry';
import type { PlayableEnvironment, World } from '../envs/world';
import type { CommandIo } from './command';

export interface EnvironmentSpeed {
  name: string;
  /** One reset and ten steps each. */
  episodesPerSecond: number;
  /** Steps alone. */
  stepsPerSecond: number;
  /** One snapshot and the restore of it after a step. */
  snapshotMicroseconds: number;
}

const TASKS = 64;
const STEPS = 10;
/** The best of three rounds counts: the others were disturbed. */
const ROUNDS = 3;
const ROUND_MS = 500;

interface Episode {
  readonly task: Task;
  readonly actions: readonly string[];
}

/** @returns one set of figures per world, in the order of the registry */
export async function benchEnvironments(
  io: CommandIo,
  { roundMs = ROUND_MS, tasks = TASKS } = {},
): Promise<EnvironmentSpeed[]> {
  const speeds: EnvironmentSpeed[] = [];
  for (const open of Object.values(worlds)) {
    const world = await open();
    const speed = measure(world, roundMs, tasks);
    speeds.push(speed);
    const { name, episodesPerSecond, stepsPerSecond, snapshotMicroseconds } = speed;
    io.print(
      `${name}: ${episodesPerSecond.toFixed(0)} episodes/s, ${stepsPerSecond.toFixed(0)} steps/s, ` +
        `${snapshotMicroseconds.toFixed(2)} us for a snapshot and its restore`,
    );
  }
  io.result({ envs: speeds });
  return speeds;
}

function measure(world: World, roundMs: number, tasks: number): EnvironmentSpeed {
  const environment = world.create();
  const random = new Random(`bench ${world.name}`);
  const episodes = world.trainingTasks(tasks).map((task) => record(world, environment, task, random));
  let episodesPerSecond = 0;
  let stepsPerSecond = 0;
  let snapshotMicroseconds = Number.POSITIVE_INFINITY;
  // One round more, which warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    const played = playFor(roundMs, environment, episodes);
    const snapshot = snapshotFor(roundMs, environment, episodes);
    if (round === 0) continue;
    episodesPerSecond = Math.max(episodesPerSecond, played.episodesPerSecond);
    stepsPerSecond = Math.max(stepsPerSecond, played.stepsPerSecond);
    snapshotMicroseconds = Math.min(snapshotMicroseconds, snapshot);
  }
  return { name: world.name, episodesPerSecond, stepsPerSecond, snapshotMicroseconds };
}

/** Ten actions for a task that do not end it. */
function record(world: World, environment: PlayableEnvironment, task: Task, random: Random): Episode {
  environment.reset(task);
  const actions: string[] = [];
  const words = task.instruction.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 3);
  const open = () => environment.admissible().filter((action) => !action.includes('<'));
  /** False, and as before, where the action would end the episode or leave nothing to do but to type. */
  const take = (action: string): boolean => {
    const before = environment.snapshot();
    const { done, valid } = environment.step(action);
    if (valid && !done && open().length > 0) {
      actions.push(action);
      return true;
    }
    environment.restore(before);
    return false;
  };
  for (let attempt = 0; actions.length < STEPS; attempt++) {
    if (attempt > 50 * STEPS) throw new Error(`The bench found no ${STEPS} actions for ${task.id}.`);
    if (world.name === 'shop' && actions.length % (STEPS / 2) === 0) {
      const [from, to] = actions.length === 0 ? [0, 6] : [attempt % 3, 7];
      if (take(`search[${words.slice(from, to).join(' ')}]`)) continue;
    }
    const expert = random.chance(0.5) ? world.expert(environment) : null;
    if (expert !== null && !expert.startsWith('search[') && take(expert)) continue;
    const possible = open();
    if (possible.length > 0) take(random.pick(possible));
  }
  return { task, actions };
}

function playFor(
  milliseconds: number,
  environment: PlayableEnvironment,
  episodes: readonly Episode[],
): { episodesPerSecond: number; stepsPerSecond: number } {
  const start = performance.now();
  let inSteps = 0;
  let count = 0;
  let now = start;
  while (now - start < milliseconds) {
    const { task, actions } = episodes[count++ % episodes.length];
    environment.reset(task);
    const begun = performance.now();
    for (const action of actions) environment.step(action);
    now = performance.now();
    inSteps += now - begun;
  }
  return {
    episodesPerSecond: count / ((now - start) / 1000),
    stepsPerSecond: (count * STEPS) / (inSteps / 1000),
  };
}

/** Microseconds of one snapshot and one restore, a step between them. */
function snapshotFor(milliseconds: number, environment: PlayableEnvironment, episodes: readonly Episode[]): number {
  const start = performance.now();
  let spent = 0;
  let count = 0;
  for (let i = 0; performance.now() - start < milliseconds; i++) {
    const { task, actions } = episodes[i % episodes.length];
    environment.reset(task);
    for (const action of actions) {
      const before = performance.now();
      const snapshot = environment.snapshot();
      const taken = performance.now();
      environment.step(action);
      const stepped = performance.now();
      environment.restore(snapshot);
      spent += taken - before + (performance.now() - stepped);
      count++;
      environment.step(action);
    }
  }
  return (1000 * spent) / count;
}
