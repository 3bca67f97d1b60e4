/**
 * @file Which rollout is on the stage, and up to which turn.
 *
 * Until the visitor chooses something, the newest iteration is followed and its rollouts play one after another.
 */
import { computed, effect, signal } from '@preact/signals';
import type { Trajectory } from '../../data/trajectory';
import type { Speed } from '../settings/link';
import { pageVisible, prefersStillness } from '../state/playback';
import { view, visibleIterations } from '../state/view';

export type OutcomeFilter = 'all' | 'success' | 'failure' | 'fooled';

export const speed = signal<Speed>('watch');
export const outcome = signal<OutcomeFilter>('all');
export const query = signal('');
/** null follows the newest iteration, */
export const chosenIteration = signal<number | null>(null);
/** ... but a story that has begun is told to its end before the stage moves on. */
const heldIteration = signal<number | null>(null);
/** Index into `matching`. */
export const chosenRollout = signal(0);
/** Turns visible; Infinity shows all. */
export const visibleTurns = signal(0);
export const playing = signal(true);

export const iterationOnStage = computed(() => {
  const known = visibleIterations.value;
  const wanted = chosenIteration.value ?? heldIteration.value;
  if (wanted !== null && known.includes(wanted)) return wanted;
  return known.at(-1) ?? null;
});

/** A dreamed success that the real world does not confirm. */
export function isFooled(rollout: Trajectory): boolean {
  return rollout.success && rollout.replay !== undefined && !rollout.replay.success;
}

export function matches(rollout: Trajectory, filter: OutcomeFilter, text: string): boolean {
  if (filter === 'success' && !rollout.success) return false;
  if (filter === 'failure' && rollout.success) return false;
  if (filter === 'fooled' && !isFooled(rollout)) return false;
  const needle = text.trim().toLowerCase();
  if (needle === '') return true;
  const words = [
    rollout.task.instruction,
    ...rollout.turns.flatMap((t) => [t.thought, t.action, t.reasoning, t.observation]),
  ];
  return words.some((word) => word.toLowerCase().includes(needle));
}

export const matching = computed<readonly Trajectory[]>(() => {
  const iteration = iterationOnStage.value;
  const all = iteration === null ? [] : (view.value.rollouts.get(iteration) ?? []);
  return all.filter((rollout) => matches(rollout, outcome.value, query.value));
});

export const onStage = computed<Trajectory | null>(() => {
  const list = matching.value;
  return list[Math.min(chosenRollout.value, list.length - 1)] ?? null;
});

/** Shows another rollout from its first turn (or whole, when nothing should move). */
export function stage(index: number): void {
  const count = matching.value.length;
  if (count === 0) return;
  chosenRollout.value = ((index % count) + count) % count;
  visibleTurns.value = speed.value === 'watch' && playing.value ? 1 : Number.POSITIVE_INFINITY;
}

/** A choice by hand: stop following, and show the rollout whole; play starts it again. */
export function choose(index: number): void {
  chosenIteration.value = iterationOnStage.value;
  playing.value = false;
  stage(index);
}

export function chooseIteration(iteration: number): void {
  chosenIteration.value = iteration;
  playing.value = false;
  chosenRollout.value = 0;
  visibleTurns.value = Number.POSITIVE_INFINITY;
}

export function follow(): void {
  chosenIteration.value = null;
  heldIteration.value = null;
  playing.value = true;
  stage(0);
}

export function togglePlaying(): void {
  playing.value = !playing.value;
  const turns = onStage.value?.turns.length ?? 0;
  if (playing.value && visibleTurns.value >= turns) visibleTurns.value = 1;
}

const turnMs = 1500;
const restMs = 2600;
const fastMs = 900;

function nextStory(): void {
  heldIteration.value = visibleIterations.peek().at(-1) ?? null;
  stage(chosenRollout.peek() + 1);
}

/** Advances the stage: turn by turn when watching, rollout by rollout when fast. */
export function startStageClock(): () => void {
  if (prefersStillness()) {
    playing.value = false;
    visibleTurns.value = Number.POSITIVE_INFINITY;
  }
  return effect(() => {
    const rollout = onStage.value;
    if (!playing.value || !rollout || !pageVisible.value) return;
    // Also when another run came, or a replay began anew: what is held must be there.
    heldIteration.value = iterationOnStage.value;
    const fast = speed.value === 'fast';
    const ended = visibleTurns.value >= rollout.turns.length;
    const timer = setTimeout(
      () => {
        if (fast || ended) nextStory();
        else visibleTurns.value = visibleTurns.peek() + 1;
      },
      fast ? fastMs : ended ? restMs : turnMs,
    );
    return () => clearTimeout(timer);
  });
}
