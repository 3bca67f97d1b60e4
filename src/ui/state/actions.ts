/** @file What the buttons, the keys and the scripts do: one function each, so that they cannot drift apart. */
import { signal } from '@preact/signals';
import {
  chosenIteration,
  chosenRollout,
  follow,
  iterationOnStage,
  playing,
  stage,
  visibleTurns,
} from '../rollouts/selection';
import { showRecorded } from './playback';
import { machine } from './preflight';
import { settings } from './settings';
import * as trainer from './trainer';

/** Counts deletions, so that the list of runs is read again. */
export const storageChanges = signal(0);

/** The question that stands open on the page. */
export const asking = signal<null | 'reset' | 'help' | 'delete-everything'>(null);

/** Failures are on the page as cards already; nothing more is to be done with them here. */
function quietly(work: Promise<unknown>): void {
  work.catch(() => {});
}

/** The primary button: start, pause or go on. */
export function run(): void {
  if (trainer.busy.value) return;
  if (trainer.running.value) quietly(trainer.pause());
  else if (trainer.paused.value) quietly(trainer.resume());
  else startRun();
}

export function startRun(): void {
  if (machine.value.state === 'blocked') {
    document.querySelector('.card')?.scrollIntoView({ block: 'center' });
    return;
  }
  follow();
  quietly(trainer.start(settings.value));
}

export function stepOnce(): void {
  if (trainer.busy.value || trainer.running.value || machine.value.state === 'blocked') return;
  follow();
  quietly(trainer.step(settings.value));
}

export function stopRun(): void {
  if (trainer.active.value) quietly(trainer.stop());
}

/** Stops what is going and begins again with the settings of the form. */
export function restart(): void {
  quietly(
    (async () => {
      if (trainer.active.value) await trainer.stop();
      await trainer.start(settings.value);
    })(),
  );
}

export function askReset(): void {
  asking.value = 'reset';
}

export function resetNow(): void {
  asking.value = null;
  follow();
  quietly(trainer.reset().then(showRecorded));
}

export function deleteEverythingNow(): void {
  asking.value = null;
  follow();
  quietly(
    trainer.deleteEverything().then(() => {
      storageChanges.value++;
      showRecorded();
    }),
  );
}

export function resumeLast(): void {
  follow();
  quietly(trainer.resume());
}

/** Previous or next rollout, by button or arrow key: a choice by hand ends the automatic play. */
export function moveRollout(by: number): void {
  chosenIteration.value = iterationOnStage.value;
  playing.value = false;
  stage(chosenRollout.value + by);
  visibleTurns.value = Number.POSITIVE_INFINITY;
}
