/** @file How far a run is, in words and as a share: pure readings of the trainer's progress. */
import type { Progress, RunPhase } from '../../worker/protocol';

export const idleProgress: Progress = {
  phase: 'idle',
  iteration: 0,
  iterations: 0,
  fraction: 0,
  secondsLeft: null,
  detail: '',
};

/** Phases in which nothing is being computed. */
export const resting: ReadonlySet<RunPhase> = new Set(['idle', 'paused', 'stopped', 'finished', 'failed']);

export const phaseWords: Record<RunPhase, string> = {
  idle: 'Ready',
  loading: 'Loading the model',
  'self-test': 'Testing the graphics processor',
  evaluating: 'Checking in the real world',
  'rolling-out': 'Practising',
  learning: 'Learning',
  saving: 'Saving',
  paused: 'Paused',
  stopped: 'Stopped',
  finished: 'Finished',
  failed: 'Stopped by an error',
};

/**
 * The trainer counts *finished* iterations; a person counts the one under way. The parts of an iteration take about
 * these shares of its time (generation is most of it).
 */
const phaseSpan: Partial<Record<RunPhase, readonly [start: number, end: number]>> = {
  'rolling-out': [0, 0.7],
  learning: [0.7, 0.9],
  evaluating: [0.9, 1],
};

export function whereIs({ phase, iteration, iterations, fraction }: Progress): { current: number; share: number } {
  if (iterations === 0) return { current: 0, share: 0 };
  const [start, end] = phaseSpan[phase] ?? [0, 0];
  // What comes before the first iteration (loading, the first check) is part of none.
  const inside =
    iteration === 0 && phase !== 'rolling-out' && phase !== 'learning' ? 0 : start + (end - start) * fraction;
  const working = phase === 'rolling-out' || phase === 'learning' || (phase === 'evaluating' && iteration > 0);
  return {
    current: Math.min(iterations, working ? iteration + 1 : iteration),
    share: Math.min(1, (iteration + inside) / iterations),
  };
}

export function phaseSentence(now: Progress): string {
  const { current } = whereIs(now);
  const words = phaseWords[now.phase];
  return current > 0 ? `${words}, iteration ${current} of ${now.iterations}.` : `${words}.`;
}
