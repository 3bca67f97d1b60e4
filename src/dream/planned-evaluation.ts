/**
 * @file Success in the real world with planning: the examination of evaluation.ts, every action weighed in the dream first.
 *
 * Planning costs imagined steps, not real ones, so what it gains is held against the same policy without it on the same
 * tasks. Episodes are played in waves: each needs room for its proposals besides itself.
 */
import { wilson } from '../data/statistics';
import type { Rate } from '../worker/protocol';
import { type PlannedEpisode, type PlanningRequest, playPlanned } from './planning';
import { deriveSeed } from './random';
import { ReplayBuffer } from './replay-buffer';

/** Streams that generate together unless the caller knows better. */
const defaultStreams = 128;
/** Memories of a dream without a run's own buffer: as many as a run begins with. */
const offlineMemories = 20_000;

export interface PlannedEvaluation {
  rate: Rate;
  /** One character per task: `1` success, `0` failure. */
  outcomes: string;
  /** Share of steps at which the plan overruled the policy's first proposal. */
  changed: number;
  realSteps: number;
  imaginedSteps: number;
}

/** @param streams most streams of the policy at once. Throws as `playPlanned` does. */
export async function evaluatePlanned(
  request: PlanningRequest,
  streams: number = defaultStreams,
): Promise<PlannedEvaluation> {
  const { tasks, candidates } = request;
  const atOnce = Math.max(1, Math.floor(streams / (1 + candidates)));
  const episodes: PlannedEpisode[] = [];
  let realSteps = 0;
  let imaginedSteps = 0;
  let changed = 0;
  for (let first = 0; first < tasks.length; first += atOnce) {
    const wave = tasks.slice(first, first + atOnce);
    const report = await playPlanned({
      ...request,
      tasks: wave,
      seed: first === 0 ? request.seed : deriveSeed(request.seed, 'wave', first),
      onTurn: (fraction) => request.onTurn?.((first + fraction * wave.length) / tasks.length),
    });
    episodes.push(...report.episodes);
    realSteps += report.realSteps;
    imaginedSteps += report.imaginedSteps;
    changed += report.changed * report.realSteps;
  }
  const successes = episodes.filter(({ success }) => success).length;
  return {
    rate: { ...wilson(successes, episodes.length), episodes: episodes.length },
    outcomes: episodes.map(({ success }) => (success ? '1' : '0')).join(''),
    changed: realSteps === 0 ? 0 : changed / realSteps,
    realSteps,
    imaginedSteps,
  };
}

/** The memories that a dream has before any run. */
export function offlineBuffer(domain: PlanningRequest['domain']): ReplayBuffer {
  const buffer = new ReplayBuffer(offlineMemories);
  buffer.add(domain.offlineTransitions(offlineMemories));
  return buffer;
}
