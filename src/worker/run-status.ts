/** @file What `status()` answers: the sum of all events so far, so that a page may join or return at any time. */
import type { Progress, RunEvent, RunStatus } from './protocol';

export const idle: Progress = {
  phase: 'idle',
  iteration: 0,
  iterations: 0,
  fraction: 0,
  secondsLeft: null,
  detail: '',
};

export function emptyStatus(): RunStatus {
  return { runId: null, config: null, progress: idle, metrics: [], evaluations: [], adapter: null, error: null };
}

/** Takes one event into the status. */
export function account(status: RunStatus, event: RunEvent): void {
  switch (event.type) {
    case 'progress':
      status.progress = event.progress;
      break;
    case 'adapter':
      status.adapter = event.adapter;
      break;
    case 'error':
      status.error = event.error;
      break;
    case 'iteration':
      status.metrics = continued(status.metrics, event.metrics);
      break;
    case 'evaluation':
      status.evaluations = continued(status.evaluations, event.evaluation);
      break;
  }
}

/** Appends; an iteration that comes again replaces itself and what followed it. */
function continued<T extends { iteration: number }>(list: readonly T[], entry: T): T[] {
  return [...list.filter(({ iteration }) => iteration < entry.iteration), entry];
}
