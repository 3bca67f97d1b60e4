/**
 * @file A game that a person plays: one world, one task, what was done and what came of it, and the way back.
 *
 * Worlds are synchronous and answer within a millisecond, so they run here, on the page's own thread; only fetching one takes
 * time.
 */
import { batch, computed, signal } from '@preact/signals';
import { asDreamError, type DreamError } from '../../data/errors';
import type { Task } from '../../envs/environment';
import { openWorld, worlds } from '../../envs/registry';
import type { PlayableEnvironment, Snapshot, World } from '../../envs/world';

export interface Move {
  action: string;
  /** The world's own words. */
  answer: string;
  valid: boolean;
  reward: number;
  done: boolean;
  before: Snapshot;
}

/** Tasks of each kind that are offered. */
const offered = 40;

export const worldNames = Object.keys(worlds);
export const world = signal<World | null>(null);
export const tasks = signal<{ training: readonly Task[]; heldOut: readonly Task[] }>({ training: [], heldOut: [] });
export const task = signal<Task | null>(null);
export const beginning = signal('');
export const moves = signal<readonly Move[]>([]);
export const hint = signal<string | null>(null);
export const fetching = signal<string | null>(null);
export const problem = signal<DreamError | null>(null);
export const environment = signal<PlayableEnvironment | null>(null);

export const over = computed(() => moves.value.at(-1)?.done === true);
export const reward = computed(() => moves.value.at(-1)?.reward ?? 0);
/** What the world would accept now. Reading `moves` makes it new after every step. */
export const possible = computed<readonly string[]>(() => {
  moves.value;
  task.value;
  return environment.value && !over.value ? environment.value.admissible() : [];
});

/** Fetches a world and begins its first task; the last one asked for wins. */
export async function choose(name: string): Promise<void> {
  fetching.value = name;
  problem.value = null;
  try {
    const chosen = await openWorld(name);
    if (fetching.value !== name) return;
    batch(() => {
      world.value = chosen;
      tasks.value = { training: chosen.trainingTasks(offered), heldOut: chosen.heldOutTasks(offered) };
      environment.value = chosen.create();
      begin(tasks.value.training[0]);
    });
  } catch (error) {
    if (fetching.value === name) problem.value = asDreamError(error);
  } finally {
    if (fetching.value === name) fetching.value = null;
  }
}

export function begin(chosen: Task): void {
  const playing = environment.peek();
  if (!playing) return;
  batch(() => {
    try {
      playing.reset(chosen);
      task.value = chosen;
      beginning.value = playing.rawFirstObservation();
      moves.value = [];
      hint.value = null;
      problem.value = null;
    } catch (error) {
      problem.value = asDreamError(error);
    }
  });
}

/** The next task of the same list, and round again. */
export function beginNext(): void {
  const { training, heldOut } = tasks.peek();
  const list = heldOut.some((each) => each.id === task.peek()?.id) ? heldOut : training;
  const at = list.findIndex((each) => each.id === task.peek()?.id);
  begin(list[(at + 1) % list.length]);
}

export function act(words: string): void {
  const playing = environment.peek();
  const action = words.trim();
  if (!playing || action === '' || over.peek()) return;
  const before = playing.snapshot();
  try {
    const { observation, raw, valid, reward: paid, done } = playing.step(action);
    batch(() => {
      moves.value = [...moves.peek(), { action, answer: raw ?? observation, valid, reward: paid, done, before }];
      hint.value = null;
      problem.value = null;
    });
  } catch (error) {
    playing.restore(before);
    problem.value = asDreamError(error);
  }
}

export function undo(): void {
  const last = moves.peek().at(-1);
  if (!last || !environment.peek()) return;
  environment.peek()?.restore(last.before);
  batch(() => {
    moves.value = moves.peek().slice(0, -1);
    hint.value = null;
  });
}

export function askExpert(): void {
  const playing = environment.peek();
  if (!playing) return;
  hint.value = world.peek()?.expert(playing) ?? 'The expert knows nothing to do here.';
}

/** `search[<query>]` as the words around what is to be filled in; null for an action that is whole. */
export function gapsOf(action: string): { pieces: string[]; names: string[] } | null {
  const parts = action.split(/<([^<>]*)>/);
  if (parts.length === 1) return null;
  return { pieces: parts.filter((_, i) => i % 2 === 0), names: parts.filter((_, i) => i % 2 === 1) };
}

export const filled = ({ pieces }: { pieces: readonly string[] }, texts: readonly string[]): string =>
  pieces.map((piece, i) => piece + (texts[i] ?? '')).join('');
