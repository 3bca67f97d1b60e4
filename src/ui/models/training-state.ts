/** @file The run that trains the loaded model, as the page knows it: events in, signals out. Knows neither worker nor panel. */
import { computed, signal } from '@preact/signals';
import type { Evaluation, IterationMetrics, Progress, RunEvent, RunStatus, TypedError } from '../../worker/protocol';
import { idleProgress, phaseSentence } from '../state/progress';

export const runProgress = signal<Progress>(idleProgress);
export const runMetrics = signal<readonly IterationMetrics[]>([]);
export const runEvaluations = signal<readonly Evaluation[]>([]);
export const runNotices = signal<readonly string[]>([]);

const over: ReadonlySet<Progress['phase']> = new Set(['idle', 'stopped', 'finished', 'failed']);

/** A run is under way, or waits where it stands: the model is taken. */
export const training = computed(() => !over.has(runProgress.value.phase));
export const trainingPaused = computed(() => runProgress.value.phase === 'paused');

const mostNotices = 5;

/** What should be said aloud, or null; errors are for the caller to show. */
export function receiveRun(event: RunEvent, onError: (error: TypedError) => void): string | null {
  switch (event.type) {
    case 'progress': {
      const changed = event.progress.phase !== runProgress.value.phase;
      runProgress.value = event.progress;
      return changed ? phaseSentence(event.progress) : null;
    }
    case 'iteration': {
      const { metrics } = event;
      runMetrics.value = [...runMetrics.value.filter(({ iteration }) => iteration < metrics.iteration), metrics];
      return `Iteration ${metrics.iteration} finished.`;
    }
    case 'evaluation': {
      const { evaluation } = event;
      const before = runEvaluations.value.filter(({ iteration }) => iteration < evaluation.iteration);
      runEvaluations.value = [...before, evaluation];
      return null;
    }
    case 'notice':
      runNotices.value = [...runNotices.value, event.message].slice(-mostNotices);
      return null;
    case 'error':
      onError(event.error);
      return null;
    case 'adapter':
      return null;
  }
}

/** Takes over what the worker knows. */
export function takeStatus({ progress, metrics, evaluations }: RunStatus): void {
  runProgress.value = progress;
  runMetrics.value = metrics;
  runEvaluations.value = evaluations;
}

export function forgetRun(): void {
  runProgress.value = idleProgress;
  runMetrics.value = [];
  runEvaluations.value = [];
  runNotices.value = [];
}
